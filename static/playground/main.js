// The playground: a project in the editor, and a run of it beside. A link's project is shown, and runs only on a click.
import { visible } from "../host/visible.js";
import { Editor } from "./editor.js";
import { LONG_LINK, LONGEST_LINK, linkOf, nameOf, readLink } from "./link.js";
import { checkFiles, checkPath, hiddenLines, ProjectError } from "./project-files.js";
import { Run } from "./running.js";
import { Donor, serverPage } from "./server-page.js";
import { allProjects, deleteProject, lockProject, saveProject } from "./store.js";
import { element, toolForm } from "./tool-form.js";
import { zipOf } from "./zip.js";

const AUTOSAVE = 400; // milliseconds after the last change
const MOST_ENTRIES = 1_000; // of the console
const LONGEST_ENTRY = 20_000; // characters
const IN_SERVER = /File "\/mcpframe\/server\/([^"]+)", line (\d+)/g;
const FIRST = "minimal";
const MAIN = "server.py";

const $ = (id) => /** @type {any} */ (document.getElementById(id));
const donor = new Donor(document.baseURI);
const editor = new Editor($("editor"), { changed, run });
const kept = new Map(); // the texts of forms
/** @type {import("./store.js").Project} */
let project = null;
let current = "";
let release = null;
let readOnly = false;
let saving = 0;
/** @type {Run} */
let running = null;
let latest = null; // the last run: its page shows why it has ended, until the next one
let calls = 0;

// ---- projects

async function open(opened, { isNew = false, note = "" } = {}) {
  await flush();
  end();
  release?.();
  project = opened;
  release = await lockProject(project.id);
  readOnly = release === null;
  if (isNew && !readOnly) await saveProject(project);
  kept.clear();
  editor.open(project.files, readOnly);
  show(inOrder(Object.keys(project.files))[0]);
  notice(readOnly ? "Another tab edits this project: it is read-only here." : note);
  status("Not running");
  $("tools").replaceChildren();
  $("console").replaceChildren();
  warnOfHidden();
  document.title = `${project.name} – mcpframe playground`;
  history.replaceState(null, "", location.pathname);
  localStorage.setItem("mcpframe-playground-last", project.id);
  await listProjects();
}

async function listProjects() {
  const all = await allProjects();
  $("projects").replaceChildren(
    ...all.map(({ id, name }) =>
      element("option", { value: id, textContent: visible(name), selected: id === project.id }),
    ),
  );
}

function newProject(name, files) {
  return { id: crypto.randomUUID(), name: nameOf(name), files: checkFiles(files), changed: Date.now() };
}

async function templates() {
  return (await fetch(new URL("templates.json", document.baseURI))).json();
}

async function fromTemplate(name) {
  const found = (await templates()).find((each) => each.name === name);
  if (!found) throw new ProjectError(`There is no template ${name}.`);
  return newProject(found.name, found.files);
}

function changed(path, text) {
  project.files[path] = text;
  clearTimeout(saving);
  saving = setTimeout(flush, AUTOSAVE);
  $("saved").textContent = "…";
}

async function flush() {
  if (!saving) return;
  clearTimeout(saving);
  saving = 0;
  if (readOnly) return;
  try {
    checkFiles(project.files);
    project.changed = Date.now();
    await saveProject(project);
    $("saved").textContent = "Saved in this browser";
  } catch (error) {
    $("saved").textContent = "Not saved";
    notice(error.message);
  }
}

// ---- files

function show(path) {
  current = path;
  editor.show(path, project.files[path]);
  listFiles();
}

/** Returns paths, the server's module first. */
const inOrder = (paths) => paths.sort((one, other) => Number(other === MAIN) - Number(one === MAIN));

function listFiles() {
  $("files").replaceChildren(
    ...inOrder(Object.keys(project.files)).map((path) => {
      const tab = element("button", {
        type: "button",
        role: "tab",
        textContent: visible(path),
        ariaSelected: String(path === current),
      });
      tab.addEventListener("click", () => show(path));
      return tab;
    }),
  );
  $("files").querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest", inline: "nearest" });
  $("delete-file").disabled = readOnly || Object.keys(project.files).length === 1;
}

function warnOfHidden() {
  const found = Object.entries(project.files).flatMap(([path, text]) => {
    const lines = hiddenLines(text);
    return lines.length ? [`${visible(path)}, line ${lines.slice(0, 5).join(", ")}`] : [];
  });
  $("hidden-warning").hidden = !found.length;
  $("hidden-warning").textContent = found.length
    ? `There are characters that cannot be seen, or change the order of others: ${found.join("; ")}. They are marked in red.`
    : "";
}

// ---- running

async function run() {
  if (top !== self)
    return notice("This page is in another page's frame, where the playground runs nothing: open it in a tab.");
  end();
  await flush();
  editor.mark();
  $("tools").replaceChildren();
  $("console").replaceChildren();
  warnOfHidden();
  status("Starting …", "busy");
  const mine = new Run($("place"), {
    log: (level, text) => mine === running && write(text, level),
    problem: (title, detail) => mine === latest && problem(title, detail),
    closed: () => mine === running && failed("The server's page has ended."),
    changed: () => mine === running && listTools(mine),
  });
  running = latest = mine;
  enable();
  try {
    const page = await serverPage(await donor.fetch(), checkFiles(project.files));
    if (mine !== running) return;
    await mine.start(page);
    if (mine !== running) return;
    await listTools(mine);
    status("Running", "good");
  } catch (error) {
    if (mine === running) failed(error.message);
  }
}

async function listTools(mine) {
  const tools = await mine.tools();
  const forms = tools.map((tool) =>
    toolForm(tool, kept, async (args) => {
      calls += 1;
      enable();
      try {
        return await mine.call(tool.name, args);
      } finally {
        calls -= 1;
        enable();
      }
    }),
  );
  $("tools").replaceChildren(...(forms.length ? forms : [element("p", { textContent: "This server has no tools." })]));
}

/** Shows an error of the server's page, at its line if it has one. */
function problem(title, detail) {
  write(detail ? `${title}\n${detail}` : title, "error");
  const places = [...detail.matchAll(IN_SERVER)].filter(([, path]) => Object.hasOwn(project.files, path));
  const [, path, line] = places.at(-1) ?? [];
  if (!path) return;
  show(path);
  editor.mark(Number(line), detail.trim().split("\n").at(-1));
}

function failed(reason) {
  running = null;
  calls = 0;
  enable();
  status("Stopped", "bad");
  $("tools").replaceChildren();
  write(reason, "error");
}

async function stop() {
  const mine = running;
  if (!calls) {
    end();
    return status("Stopped");
  }
  status("Stopping …", "busy");
  const goesOn = await mine.stop();
  if (mine !== running) return;
  if (!goesOn) end();
  status(goesOn ? "Running" : "Stopped", goesOn ? "good" : "");
}

function end() {
  latest?.end();
  running = latest = null;
  calls = 0;
  enable();
}

function enable() {
  $("stop").disabled = !running;
}

function status(text, kind = "") {
  $("status").textContent = text;
  $("status").dataset.kind = kind;
}

function write(text, level) {
  const list = $("console");
  list.append(element("pre", { textContent: visible(text.slice(0, LONGEST_ENTRY)), className: level }));
  while (list.children.length > MOST_ENTRIES) list.firstChild.remove();
  list.scrollTop = list.scrollHeight;
}

function notice(text) {
  $("notice").textContent = text;
  $("notice").hidden = !text;
}

// ---- sharing

async function share() {
  const fragment = await linkOf({ name: project.name, files: checkFiles(project.files) });
  const link = `${location.origin}${location.pathname}${fragment}`;
  if (link.length > LONGEST_LINK)
    return notice("The project is too large for a link: download it, and share the file.");
  $("link").value = link;
  $("link-note").textContent =
    link.length > LONG_LINK
      ? `${link.length} characters: some programs cut such a link; the file is safer.`
      : `${link.length} characters. The project is in the link, and on no server.`;
  $("share-dialog").showModal();
  $("link").select();
}

function download() {
  const url = URL.createObjectURL(zipOf(checkFiles(project.files)));
  element("a", { href: url, download: `${project.name}.zip` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

// ---- the page

function guarded(act) {
  return async (...args) => {
    try {
      await act(...args);
    } catch (error) {
      notice(error.message);
      if (!(error instanceof ProjectError)) throw error;
    }
  };
}

function wire() {
  const on = (id, act, event = "click") => $(id).addEventListener(event, guarded(act));
  on("run", run);
  on("stop", stop);
  on("share", share);
  on("download", download);
  on("copy", async () => {
    await navigator.clipboard.writeText($("link").value);
    $("link-note").textContent = "Copied.";
  });
  on("projects", async () => open((await allProjects()).find(({ id }) => id === $("projects").value)), "change");
  on("new", async () => {
    $("template").replaceChildren(
      ...(await templates()).map(({ name, title }) => element("option", { value: name, textContent: title })),
    );
    $("new-dialog").showModal();
  });
  on("create", async () => {
    const made = await fromTemplate($("template").value);
    await open({ ...made, name: nameOf($("name").value || made.name) }, { isNew: true });
  });
  on("delete-project", async () => {
    if (readOnly || !confirm(`Delete the project ${visible(project.name)} from this browser? This cannot be undone.`))
      return;
    clearTimeout(saving);
    saving = 0;
    await deleteProject(project.id);
    const [next] = await allProjects();
    await open(next ?? (await fromTemplate(FIRST)), { isNew: !next });
  });
  on("add-file", () => {
    const path = prompt("Path of the new file, such as helpers.py");
    if (path === null || readOnly) return;
    checkPath(path);
    if (!Object.hasOwn(project.files, path)) {
      checkFiles({ ...project.files, [path]: "" });
      changed(path, "");
    }
    show(path);
  });
  on("delete-file", () => {
    if (!confirm(`Delete ${visible(current)}? This cannot be undone.`)) return;
    const { [current]: _, ...rest } = project.files;
    project.files = rest;
    editor.drop(current);
    changed(Object.keys(rest)[0], Object.values(rest)[0]);
    show(Object.keys(rest)[0]);
  });
  addEventListener("hashchange", guarded(openLink));
  addEventListener("pagehide", () => flush());
  document.addEventListener("visibilitychange", () => document.hidden && flush());
}

/** Opens the project of the address as a new one; returns whether it names one. */
async function openLink() {
  const found = await readLink(location.hash);
  if (!found) return false;
  const opened = "template" in found ? await fromTemplate(found.template) : newProject(found.name, found.files);
  const note =
    "template" in found ? "" : "This project is from a link. Read it before you run it: its code is somebody else's.";
  await open(opened, { isNew: true, note });
  return true;
}

async function begin() {
  wire();
  let problem = "";
  try {
    if (await openLink()) return;
  } catch (error) {
    problem = error.message;
  }
  const all = await allProjects();
  const last = localStorage.getItem("mcpframe-playground-last");
  const known = all.find(({ id }) => id === last) ?? all[0];
  await open(known ?? (await fromTemplate(FIRST)), { isNew: !known, note: problem });
  navigator.storage?.persist?.().catch(() => {});
}

begin().catch((error) => notice(`The playground does not start: ${error.message}`));
