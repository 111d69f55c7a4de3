// The playground: which part is wired to which. A project in the editor, and a run of it beside.
import { visible } from "../host/visible.js";
import { CodeHelp } from "./code-help.js";
import { Editor } from "./editor.js";
import { Files } from "./files.js";
import { donor } from "./first.js";
import { formatFile } from "./formatting.js";
import { showHistory } from "./history.js";
import { Importing } from "./importing.js";
import { InspectorPanel } from "./inspector-panel.js";
import { $, enable, guarded, inTurn, notice, on } from "./page.js";
import { Projects } from "./projects.js";
import { ServerPanel } from "./server-panel.js";
import { copyLink, download, openLink, share } from "./sharing.js";
import { spare } from "./spare.js";
import { Workspace } from "./workspace.js";

const workspace = new Workspace({
  closing: () => server.end(),
  opened,
  replaced: (path) => files.open(path ?? files.current),
  renamed: named,
  saving: () => help.update(workspace.project.files),
});
const editor = new Editor($("editor"), {
  changed: (path, text) => workspace.changed(path, text),
  run: guarded(() => server.run()),
  format: guarded(format),
});
const help = new CodeHelp(editor);
const files = new Files(workspace, editor);
const projects = new Projects(workspace);
const importing = new Importing(workspace);
const inspector = new InspectorPanel();
const server = new ServerPanel(workspace, files, editor, { donor, spare }, inspector);

let model = null; // what asks a model, once it was opened

function format() {
  return formatFile(editor, workspace.project.files["pyproject.toml"]);
}

function opened() {
  help.open(workspace.project.files);
  files.open();
  help.resume();
  server.clear();
  model?.clear();
  enable("run", "share", "download", "bundle", "history"); // others depend on what the project allows
}

function named() {
  document.title = `${visible(workspace.project.name)} – mcpframe playground`;
  return projects.list();
}

function dropped(event) {
  event.preventDefault();
  event.stopPropagation();
  const entries = importing.entriesOf(event.dataTransfer);
  guarded(() => inTurn(() => importing.dropped(entries)))();
}

/** Shows what asks a model, which is fetched now. */
async function openModel() {
  const { ModelPanel } = await import("./model/panel.js");
  model ??= new ModelPanel($("model"), () => server.server);
}

/** Makes a bundle, by what is fetched now. */
async function bundle() {
  const { downloadBundle } = await import("./making.js");
  await workspace.flush();
  files.warnOfHidden();
  await downloadBundle(workspace.project, donor);
}

function wire() {
  on("run", () => server.run());
  on("stop", () => server.stop());
  on("format", format);
  on("share", () => share(workspace.project));
  on("copy", copyLink);
  on("download", () => download(workspace.project));
  on("bundle", bundle);
  on("projects", () => inTurn(() => projects.choose()), "change");
  on("new", () => projects.ask());
  on("create", () => inTurn(() => projects.create()));
  on("import", () => importing.ask());
  on("import-files", () => inTurn(() => importing.chosen($("import-files"))), "change");
  on("import-folder", () => inTurn(() => importing.chosen($("import-folder"))), "change");
  on("import-open", () => inTurn(() => importing.address()));
  on("rename-project", () => projects.rename());
  on("history", () => showHistory(workspace));
  on("reset", () => projects.reset());
  on("delete-project", () => inTurn(() => projects.delete()));
  on("project-menu-list", () => $("project-menu").removeAttribute("open"));
  on("model", openModel, "toggle");
  if ($("model").open) guarded(openModel)(); // opened before this module was there
  on("add-file", () => files.add());
  on("rename-file", () => files.rename());
  on("delete-file", () => files.delete());
  enable("projects", "new", "import");
  addEventListener("pagehide", () => workspace.leave());
  addEventListener("beforeunload", (event) => workspace.unsaved && event.preventDefault());
  document.addEventListener("visibilitychange", () => (document.hidden ? workspace.flush() : projects.list()));
  // Before the editor, which would insert a dropped file as text.
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault(), true);
  addEventListener("drop", (event) => hasFiles(event) && dropped(event), true);
  addEventListener(
    "hashchange",
    guarded(() => {
      const { hash } = location;
      return inTurn(() => openLink(workspace, importing, hash));
    }),
  );
}

async function begin() {
  wire();
  let problem = "";
  try {
    if (await openLink(workspace, importing, location.hash)) return;
  } catch (error) {
    problem = error.message;
  }
  await projects.openLast(problem);
  navigator.storage?.persist?.().catch(() => {});
}

inTurn(begin).catch((error) => notice(`The playground does not start: ${error.message}`));
