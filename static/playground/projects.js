// The projects of this browser: the list, new ones from templates, renaming, resetting and deleting.
import { visible } from "../host/visible.js";
import { $, element, notice } from "./page.js";
import { checkFiles, nameOf, ProjectError } from "./project-files.js";
import { allProjects, deletedProjects, loadProject, saveProject } from "./store.js";
import { Workspace } from "./workspace.js";

const FIRST = "minimal";

/**
 * Returns a project that is not stored yet.
 * @param {string} name
 * @param {Record<string, import("./store.js").Content>} files
 * @returns {import("./store.js").Project}
 */
export function newProject(name, files) {
  return { id: crypto.randomUUID(), name: nameOf(name), files: checkFiles(files), changed: Date.now() };
}

/** Returns the templates of this site. @returns {Promise<{ name: string, title: string, files: Record<string, string> }[]>} */
export async function templates() {
  return (await fetch(new URL("templates.json", document.baseURI))).json();
}

async function template(name) {
  const match = (await templates()).find((each) => each.name === name);
  if (!match) throw new ProjectError(`There is no template ${name}.`);
  return match;
}

/** Returns a new project with the files of a template. @param {string} name */
export async function fromTemplate(name) {
  const { files } = await template(name);
  return { ...newProject(name, files), template: name };
}

export class Projects {
  /** @param {Workspace} workspace */
  constructor(workspace) {
    this.workspace = workspace;
  }

  /** Lists all projects. */
  async list() {
    const { project, readOnly } = this.workspace;
    if (!project) return;
    $("projects").replaceChildren(
      ...(await allProjects()).map(({ id, name }) =>
        element("option", { value: id, textContent: visible(name), selected: id === project.id }),
      ),
    );
    for (const id of ["rename-project", "delete-project"]) $(id).disabled = readOnly;
    $("reset").disabled = readOnly || !project.template;
  }

  /** Opens the project that was open last, or the first template. */
  async openLast(note = "", actions = {}) {
    const all = await allProjects();
    const known = all.find(({ id }) => id === Workspace.last) ?? all[0];
    await this.workspace.open(known ?? (await fromTemplate(FIRST)), { isNew: !known, note, actions });
  }

  /** Opens the project that is chosen in the list. */
  async choose() {
    const id = $("projects").value;
    try {
      await this.workspace.open(await loadProject(id));
    } finally {
      await this.list();
    }
  }

  /** Asks for a new project's template and name; deleted projects can be had again. */
  async ask() {
    const [offered, deleted] = await Promise.all([templates(), deletedProjects()]);
    const options = offered.map(({ name, title }) => element("option", { value: name, textContent: title }));
    const again = deleted.map(({ id, name }) => element("option", { value: id, textContent: visible(name) }));
    $("template").replaceChildren(...options);
    if (again.length) $("template").append(element("optgroup", { label: "Deleted in this browser" }, ...again));
    $("new-dialog").showModal();
  }

  /** Opens the new project that was asked for. */
  async create() {
    const chosen = $("template").value;
    const deleted = (await deletedProjects()).find(({ id }) => id === chosen);
    if (deleted) return this.#undelete(deleted);
    const project = await fromTemplate(chosen);
    await this.workspace.open({ ...project, name: nameOf($("name").value || project.name) }, { isNew: true });
  }

  /** Asks for the project's new name. */
  async rename() {
    const name = prompt("Name of the project", this.workspace.project.name);
    if (name === null || this.workspace.readOnly) return;
    await this.workspace.rename(name);
  }

  /** Replaces the project's files by those of its template; this can be undone. */
  async reset() {
    const { project } = this.workspace;
    const before = { ...project.files };
    const { files } = await template(project.template);
    await this.workspace.replace(files, "Before the reset to the template");
    const undo = async () => {
      if (this.workspace.project === project) await this.workspace.replace(before, "The template, before an undo");
    };
    notice("The project is its template again.", { Undo: undo });
  }

  /** Deletes the project that is open; this can be undone. */
  async delete() {
    const { project, readOnly } = this.workspace;
    if (readOnly) return;
    const deleted = { ...project, deleted: Date.now() };
    await saveProject(deleted);
    this.workspace.abandon();
    await this.openLast(`The project ${visible(project.name)} is deleted. New has it for 30 days.`, {
      Undo: () => this.#undelete(deleted),
    });
  }

  /** @param {import("./store.js").Project} deleted */
  async #undelete({ deleted: _, ...project }) {
    await saveProject(project);
    await this.workspace.open(project);
  }
}
