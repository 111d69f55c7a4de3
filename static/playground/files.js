// The files of the project that is open: their tabs, adding and deleting, and the warning of characters that cannot be seen.
import { visible } from "../host/visible.js";
import { $, element } from "./page.js";
import { checkFiles, checkPath, hiddenLines } from "./project-files.js";

const MAIN = "server.py";

/** Returns paths, the server's module first. */
const inOrder = (paths) => paths.sort((one, other) => Number(other === MAIN) - Number(one === MAIN));

export class Files {
  current = "";

  /** @param {import("./workspace.js").Workspace} workspace @param {import("./editor.js").Editor} editor */
  constructor(workspace, editor) {
    this.workspace = workspace;
    this.editor = editor;
  }

  /** Shows the files of a project that has just been opened. */
  open() {
    const { project, readOnly } = this.workspace;
    this.editor.open(project.files, readOnly);
    this.show(inOrder(Object.keys(project.files))[0]);
    this.warnOfHidden();
  }

  /** Shows a file. @param {string} path */
  show(path) {
    this.current = path;
    this.editor.show(path, this.workspace.project.files[path]);
    this.#list();
  }

  #list() {
    const { project, readOnly } = this.workspace;
    $("files").replaceChildren(
      ...inOrder(Object.keys(project.files)).map((path) => {
        const tab = element("button", {
          type: "button",
          role: "tab",
          textContent: visible(path),
          ariaSelected: String(path === this.current),
        });
        tab.addEventListener("click", () => this.show(path));
        return tab;
      }),
    );
    $("files").querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest", inline: "nearest" });
    $("delete-file").disabled = readOnly || Object.keys(project.files).length === 1;
  }

  /** Warns of characters that cannot be seen, or removes the warning. */
  warnOfHidden() {
    const found = Object.entries(this.workspace.project.files).flatMap(([path, text]) => {
      const lines = hiddenLines(text);
      return lines.length ? [`${visible(path)}, line ${lines.slice(0, 5).join(", ")}`] : [];
    });
    $("hidden-warning").hidden = !found.length;
    $("hidden-warning").textContent = found.length
      ? `There are characters that cannot be seen, or change the order of others: ${found.join("; ")}. They are marked in red.`
      : "";
  }

  /** Asks for the path of a new file, and adds it. */
  add() {
    const path = prompt("Path of the new file, such as helpers.py");
    const { files } = this.workspace.project;
    if (path === null || this.workspace.readOnly) return;
    checkPath(path);
    if (!Object.hasOwn(files, path)) {
      checkFiles({ ...files, [path]: "" });
      this.workspace.changed(path, "");
    }
    this.show(path);
  }

  /** Deletes the file that is shown, if the user confirms. */
  delete() {
    if (!confirm(`Delete ${visible(this.current)}? This cannot be undone.`)) return;
    this.workspace.remove(this.current);
    this.editor.drop(this.current);
    this.show(inOrder(Object.keys(this.workspace.project.files))[0]);
  }
}
