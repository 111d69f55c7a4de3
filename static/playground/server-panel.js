// The run beside the editor: start and stop, the forms of the tools, the console, and errors at their lines.
import { visible } from "../host/visible.js";
import { homeOf } from "./home.js";
import { $, element, refusedInFrame } from "./page.js";
import { checkFiles, ProjectError } from "./project-files.js";
import { Run } from "./running.js";
import { serverPage } from "./server-page.js";
import { toolForm } from "./tool-form.js";

const MOST_ENTRIES = 1_000; // of the console
const LONGEST_ENTRY = 20_000; // characters
const IN_SERVER = /File "\/mcpframe\/server\/([^"]+)", line (\d+)/g;

export class ServerPanel {
  #kept = new Map(); // the texts of forms
  /** @type {Run} */
  #running = null;
  #installing = null; // what fetches packages, once a project has needed some
  #latest = null; // the last run: its page shows why it has ended, until the next one

  /**
   * @param {import("./workspace.js").Workspace} workspace
   * @param {import("./files.js").Files} files
   * @param {import("./editor.js").Editor} editor
   * @param {{ donor: import("./donor.js").Donor, spare: import("./run-frame.js").Spare }} frames what runs are made of
   * @param {object} on
   * @param {(project: import("./lending.js").Lent) => void} on.started is called when a run has tools
   * @param {() => void} on.ended is called when a run has ended
   */
  constructor(workspace, files, editor, { donor, spare }, on) {
    this.workspace = workspace;
    this.files = files;
    this.editor = editor;
    this.donor = donor;
    this.spare = spare;
    this.on = on;
  }

  /** Shows and runs nothing of the project before. */
  clear() {
    this.end();
    this.#kept.clear();
    this.#status("Not running");
    $("tools").replaceChildren();
    $("console").replaceChildren();
  }

  /** Runs the project, in place of the run before. */
  async run() {
    if (refusedInFrame()) return;
    this.end();
    this.#status("Starting …", "busy");
    const kept = this.#keep();
    this.editor.mark();
    $("tools").replaceChildren();
    $("console").replaceChildren();
    this.files.warnOfHidden();
    const mine = new Run({
      log: (level, text) => mine === this.#running && this.#write(text, level),
      problem: (title, detail) => mine === this.#latest && this.#problem(title, detail),
      closed: () => mine === this.#running && this.#failed("The server's page has ended."),
      changed: () => mine === this.#running && this.#listTools(mine),
    });
    this.#running = this.#latest = mine;
    this.#enable();
    try {
      const { id, name, files: current } = this.workspace.project;
      const files = { ...checkFiles(current) };
      let wheels = [];
      const wheelsFor = async (needed, lent) => (wheels = await this.#packages(needed, lent, mine));
      const [page, home] = await Promise.all([serverPage(this.donor, files, { wheelsFor }), homeOf(id)]);
      if (mine !== this.#running) return;
      await mine.start(this.spare.take(page, home), page.later);
      if (mine !== this.#running) return;
      await this.#listTools(mine);
      this.#status("Running", "good");
      this.spare.prepareWhenIdle();
      this.on.started({ name, files, wheels });
      await kept;
    } catch (error) {
      if (mine === this.#running) this.#failed(error.message);
    }
  }

  /** Saves the project, and keeps a version of it, while it starts. */
  async #keep() {
    await this.workspace.flush();
    await this.workspace.keep("Run");
  }

  /** The server that runs, for what calls its tools besides the forms. @throws {ProjectError} none does */
  get server() {
    if (!this.#running?.connected) throw new ProjectError("Run the server first.");
    return this.#running;
  }

  /** Stops the calls that run; the server goes on if it can, and ends if nothing runs. */
  async stop() {
    const mine = this.#running;
    if (!mine.calls) {
      this.end();
      return this.#status("Stopped");
    }
    this.#status("Stopping …", "busy");
    const goesOn = await mine.stop();
    if (mine !== this.#running) return;
    if (!goesOn) this.end();
    this.#status(goesOn ? "Running" : "Stopped", goesOn ? "good" : "");
  }

  /** Ends the run. */
  end() {
    this.#latest?.end();
    this.#running = this.#latest = null;
    this.on.ended();
    this.#enable();
  }

  /** Returns wheels for requirements, whose part of the playground is fetched now. */
  async #packages(needed, lent, mine) {
    const { Packages } = await import("./packages.js");
    this.#installing ??= new Packages($("packages"), this.donor.base);
    const say = (text) => mine === this.#running && this.#status(text, "busy");
    const wheels = await this.#installing.fetch(needed, lent, mine.signal, say);
    say("Starting …");
    return wheels;
  }

  async #listTools(mine) {
    const tools = await mine.tools();
    const forms = tools.map((tool) => toolForm(tool, this.#kept, (args) => mine.call(tool.name, args)));
    $("tools").replaceChildren(
      ...(forms.length ? forms : [element("p", { textContent: "This server has no tools." })]),
    );
  }

  /** Shows an error of the server's page, at its line if it has one. */
  #problem(title, detail) {
    const { files } = this.workspace.project;
    this.#write(detail ? `${title}\n${detail}` : title, "error");
    const places = [...detail.matchAll(IN_SERVER)].filter(([, path]) => Object.hasOwn(files, path));
    const [, path, line] = places.at(-1) ?? [];
    if (!path) return;
    this.files.show(path);
    this.editor.mark(Number(line), detail.trim().split("\n").at(-1));
  }

  #failed(reason) {
    this.#running = null;
    this.on.ended();
    this.#enable();
    this.#status("Stopped", "bad");
    $("tools").replaceChildren();
    this.#write(reason, "error");
  }

  #enable() {
    $("stop").disabled = !this.#running;
  }

  #status(text, kind = "") {
    $("status").textContent = text;
    $("status").dataset.kind = kind;
  }

  #write(text, level) {
    const list = $("console");
    list.append(element("pre", { textContent: visible(text.slice(0, LONGEST_ENTRY)), className: level }));
    while (list.children.length > MOST_ENTRIES) list.firstChild.remove();
    list.scrollTop = list.scrollHeight;
  }
}
