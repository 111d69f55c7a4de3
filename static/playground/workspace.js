// The project that is open: its lock, its texts, and saving them while they change.
import { $, notice } from "./page.js";
import { checkFiles } from "./project-files.js";
import { lockProject, saveProject } from "./store.js";

const AUTOSAVE = 400; // milliseconds after the last change
const LAST = "mcpframe-playground-last";

export class Workspace {
  /** @type {import("./store.js").Project} */
  project = null;
  readOnly = false;
  #release = null;
  #saving = 0;

  /**
   * @param {object} on
   * @param {() => void} on.closing is called before another project takes the place of the one that is open
   * @param {() => unknown} on.opened is called when a project has been opened
   */
  constructor(on) {
    this.on = on;
  }

  /** The id of the project that was open last. */
  static get last() {
    return localStorage.getItem(LAST);
  }

  /** Opens a project; a new one is stored. @param {import("./store.js").Project} project */
  async open(project, { isNew = false, note = "" } = {}) {
    await this.flush();
    this.on.closing();
    this.#release?.();
    this.project = project;
    this.#release = await lockProject(project.id);
    this.readOnly = this.#release === null;
    if (isNew && !this.readOnly) await saveProject(project);
    notice(this.readOnly ? "Another tab edits this project: it is read-only here." : note);
    history.replaceState(null, "", location.pathname);
    localStorage.setItem(LAST, project.id);
    await this.on.opened();
  }

  /** Writes the text of a file, which may be new. */
  changed(path, text) {
    this.project.files[path] = text;
    this.#save();
  }

  /** Removes a file. */
  remove(path) {
    const { [path]: _, ...rest } = this.project.files;
    this.project.files = rest;
    this.#save();
  }

  #save() {
    clearTimeout(this.#saving);
    this.#saving = setTimeout(() => this.flush(), AUTOSAVE);
    $("saved").textContent = "…";
  }

  /** Forgets what is not saved: the project is deleted. */
  abandon() {
    clearTimeout(this.#saving);
    this.#saving = 0;
  }

  /** Saves what has changed. */
  async flush() {
    if (!this.#saving) return;
    this.abandon();
    if (this.readOnly) return;
    try {
      checkFiles(this.project.files);
      this.project.changed = Date.now();
      await saveProject(this.project);
      $("saved").textContent = "Saved in this browser";
    } catch (error) {
      $("saved").textContent = "Not saved";
      notice(error.message);
    }
  }
}
