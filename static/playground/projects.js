// The projects of this browser: the list, new ones from templates, and deleting.
import { visible } from "../host/visible.js";
import { nameOf } from "./link.js";
import { $, element } from "./page.js";
import { checkFiles, ProjectError } from "./project-files.js";
import { allProjects, deleteProject } from "./store.js";
import { Workspace } from "./workspace.js";

const FIRST = "minimal";

/** Returns a project that is not stored yet. @param {string} name @param {Record<string, string>} files */
export function newProject(name, files) {
  return { id: crypto.randomUUID(), name: nameOf(name), files: checkFiles(files), changed: Date.now() };
}

async function templates() {
  return (await fetch(new URL("templates.json", document.baseURI))).json();
}

/** Returns a new project with the files of a template. @param {string} name */
export async function fromTemplate(name) {
  const found = (await templates()).find((each) => each.name === name);
  if (!found) throw new ProjectError(`There is no template ${name}.`);
  return newProject(found.name, found.files);
}

export class Projects {
  /** @param {Workspace} workspace */
  constructor(workspace) {
    this.workspace = workspace;
  }

  /** Lists all projects. */
  async list() {
    const { project } = this.workspace;
    $("projects").replaceChildren(
      ...(await allProjects()).map(({ id, name }) =>
        element("option", { value: id, textContent: visible(name), selected: id === project.id }),
      ),
    );
  }

  /** Opens the project that was open last, or the first template. @param {string} note */
  async openLast(note) {
    const all = await allProjects();
    const known = all.find(({ id }) => id === Workspace.last) ?? all[0];
    await this.workspace.open(known ?? (await fromTemplate(FIRST)), { isNew: !known, note });
  }

  /** Opens the project that is chosen in the list. */
  async choose() {
    await this.workspace.flush(); // it may be the one that is chosen
    await this.workspace.open((await allProjects()).find(({ id }) => id === $("projects").value));
  }

  /** Asks for a new project's template and name. */
  async ask() {
    $("template").replaceChildren(
      ...(await templates()).map(({ name, title }) => element("option", { value: name, textContent: title })),
    );
    $("new-dialog").showModal();
  }

  /** Opens the new project that was asked for. */
  async create() {
    const made = await fromTemplate($("template").value);
    await this.workspace.open({ ...made, name: nameOf($("name").value || made.name) }, { isNew: true });
  }

  /** Deletes the project that is open, if the user confirms. */
  async delete() {
    const { project, readOnly } = this.workspace;
    if (readOnly || !confirm(`Delete the project ${visible(project.name)} from this browser? This cannot be undone.`))
      return;
    this.workspace.abandon();
    await deleteProject(project.id);
    await this.openLast("");
  }
}
