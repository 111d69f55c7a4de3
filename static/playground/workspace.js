// The project that is open: its lock, its texts, saving them while they change, and keeping versions of them.
import { visible } from "../host/visible.js";
import { $, notice } from "./page.js";
import { checkFiles, nameOf, ProjectError } from "./project-files.js";
import { keepVersion, loadProject, lockProject, saveAtOnce, saveProject, unlocked } from "./store.js";

const AUTOSAVE = 400; // milliseconds after the last change
const LAST = "mcpframe-playground-last";

export class Workspace {
  /** @type {import("./store.js").Project} */
  project = null;
  readOnly = false;
  #release = null;
  #watching = new AbortController();
  #saving = 0;
  #failed = false; // the last save: what is shown is nowhere else

  /**
   * @param {object} on
   * @param {() => void} on.closing is called before another project takes the place of the one that is open
   * @param {() => void} on.opened is called when a project has taken its place
   * @param {() => unknown} on.renamed is called when a project is open, or has another name
   * @param {(path?: string) => unknown} on.replaced is called when all files of the project that is open have been replaced, with the one to show
   * @param {() => void} on.saving is called before changes are saved
   */
  constructor(on) {
    this.on = on;
  }

  /** The id of the project that was open last. */
  static get last() {
    return localStorage.getItem(LAST);
  }

  /** Whether leaving the page would lose texts. */
  get unsaved() {
    return this.#failed;
  }

  /**
   * Opens a project. A new one is stored; another one is read from the database.
   * @param {import("./store.js").Project} project
   * @throws {ProjectError} it has been deleted in another tab
   */
  async open(project, { isNew = false, note = "", actions = {} } = {}) {
    await this.flush();
    if (this.#failed && !confirm(`${visible(this.project.name)} is not saved. Open another project, and lose it?`))
      return;
    if (project.id === this.project?.id) {
      await this.#release?.();
      this.#release = null;
    }
    const release = await lockProject(project.id);
    const stored = isNew ? project : await loadProject(project.id);
    if (!stored || stored.deleted) {
      await release?.();
      throw new ProjectError("Another tab has deleted this project.");
    }
    this.on.closing();
    this.#watching.abort();
    this.#release?.();
    this.abandon();
    this.project = stored;
    this.#release = release;
    this.readOnly = release === null;
    history.replaceState(null, "", location.pathname);
    localStorage.setItem(LAST, project.id);
    this.on.opened(); // at once: what is typed belongs to the project that is shown
    if (isNew) await this.#store();
    await this.on.renamed();
    if (this.readOnly) this.#watch();
    else if (!this.#failed) notice(note, actions); // else the notice says why it is not saved
  }

  /** Offers to edit the project here once the other tab no longer does. */
  #watch() {
    const { project } = this;
    notice("Another tab edits this project: it is read-only here.");
    this.#watching = new AbortController();
    const offer = () =>
      notice("The other tab no longer edits this project.", { "Edit here": () => this.open(project) });
    unlocked(project.id, this.#watching.signal).then(offer, () => {}); // rejected if another project is opened
  }

  /** Writes the content of a file, which may be new. @param {string} path @param {import("./store.js").Content} content */
  changed(path, content) {
    this.project.files[path] = content;
    this.#save();
  }

  /** Gives a file another path, at the same place. */
  move(path, to) {
    const entries = Object.entries(this.project.files);
    this.project.files = checkFiles(
      Object.fromEntries(entries.map(([each, text]) => [each === path ? to : each, text])),
    );
    this.#save();
  }

  /** Removes a file. */
  async remove(path) {
    await this.keep("Before a file was deleted");
    const { [path]: _, ...rest } = this.project.files;
    this.project.files = rest;
    this.#save();
  }

  /**
   * Replaces all files; the present ones are kept as a version first.
   * @param {Record<string, import("./store.js").Content>} files
   * @param {string} reason of that version
   * @param {string} [shown] the file to show; by default the one that is shown
   */
  async replace(files, reason, shown) {
    const checked = checkFiles(files);
    await this.keep(reason);
    this.project.files = checked;
    this.#save();
    await this.on.replaced(shown);
  }

  /** Names the project. @param {string} name */
  async rename(name) {
    this.project.name = nameOf(name);
    this.#save();
    await this.flush();
    await this.on.renamed();
  }

  /** Keeps a version of the project. @param {string} reason */
  async keep(reason) {
    if (this.readOnly) return;
    try {
      await keepVersion(this.project, reason);
    } catch (error) {
      notice(`This version was not kept in the history. ${error.message}`);
    }
  }

  #save() {
    clearTimeout(this.#saving);
    this.#saving = setTimeout(() => this.flush(), AUTOSAVE);
    $("saved").textContent = "…";
  }

  /** Forgets what is not saved. */
  abandon() {
    clearTimeout(this.#saving);
    this.#saving = 0;
    this.#failed = false;
  }

  /** Saves what has changed, or has not been saved before. */
  async flush() {
    if (!this.#saving && !this.#failed) return;
    clearTimeout(this.#saving);
    this.#saving = 0;
    if (this.readOnly) return;
    this.on.saving();
    await this.#store();
  }

  /** Saves what has changed as the page is left. */
  leave() {
    if (!this.#saving || this.readOnly) return;
    clearTimeout(this.#saving);
    this.project.changed = Date.now();
    saveAtOnce(this.project);
  }

  async #store() {
    const { project } = this;
    try {
      checkFiles(project.files);
      project.changed = Date.now();
      await saveProject(project);
      if (project !== this.project) return;
      this.#failed = false;
      $("saved").textContent = "Saved in this browser";
    } catch (error) {
      if (project !== this.project) return;
      this.#failed = true;
      $("saved").textContent = "Not saved";
      notice(error.message);
    }
  }
}
