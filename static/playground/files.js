// The files of the project that is open: their tabs, adding, renaming and deleting, and the warning of characters that cannot
// be seen. A file that is no text is shown as a picture, or by its size.
import { visible } from "../host/visible.js";
import { isPython } from "./language/files.js";
import { $, element, notice } from "./page.js";
import { checkFiles, checkPath, hiddenLines, ProjectError } from "./project-files.js";

const MAIN = "server.py";
const PICTURES = { gif: "image/gif", jpeg: "image/jpeg", jpg: "image/jpeg", png: "image/png", webp: "image/webp" };

/** Returns paths, the server's module first. */
const inOrder = (paths) => paths.sort((one, other) => Number(other === MAIN) - Number(one === MAIN));

export class Files {
  current = "";
  #picture = "";

  /** @param {import("./workspace.js").Workspace} workspace @param {import("./editor.js").Editor} editor */
  constructor(workspace, editor) {
    this.workspace = workspace;
    this.editor = editor;
  }

  /** Shows the files of a project that has just been opened, or replaced. @param {string} [path] the one to show first */
  open(path) {
    const { project, readOnly } = this.workspace;
    const { files } = project;
    const texts = Object.entries(files).filter(([, content]) => typeof content === "string");
    this.editor.open(/** @type {Record<string, string>} */ (Object.fromEntries(texts)), readOnly);
    this.show(Object.hasOwn(files, path ?? "") ? path : inOrder(Object.keys(files))[0]);
    this.warnOfHidden();
  }

  /** Shows a file. @param {string} path */
  show(path) {
    this.current = path;
    const content = this.workspace.project.files[path];
    const isText = typeof content === "string";
    $("editor").hidden = !isText;
    $("binary").hidden = isText;
    URL.revokeObjectURL(this.#picture);
    if (isText) this.editor.show(path, content);
    else this.#showBinary(path, content);
    this.#list();
  }

  #showBinary(path, bytes) {
    const type = PICTURES[path.split(".").at(-1).toLowerCase()];
    const size = element("p", { textContent: `${visible(path)}: ${bytes.length.toLocaleString()} bytes, no text.` });
    this.#picture = type ? URL.createObjectURL(new Blob([bytes], { type })) : "";
    $("binary").replaceChildren(size, ...(type ? [element("img", { src: this.#picture, alt: visible(path) })] : []));
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
    for (const id of ["add-file", "rename-file"]) $(id).disabled = readOnly;
    $("format").disabled = readOnly || !isPython(this.current);
    $("delete-file").disabled = readOnly || Object.keys(project.files).length === 1;
  }

  /** Warns of characters that cannot be seen, or removes the warning. */
  warnOfHidden() {
    const places = Object.entries(this.workspace.project.files).flatMap(([path, text]) => {
      const lines = typeof text === "string" ? hiddenLines(text) : [];
      return lines.length ? [`${visible(path)}, line ${lines.slice(0, 5).join(", ")}`] : [];
    });
    $("hidden-warning").hidden = !places.length;
    $("hidden-warning").textContent = places.length
      ? `There are characters that cannot be seen, or change the order of others: ${places.join("; ")}. They are marked in red.`
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

  /** Asks for another path of the file that is shown. */
  rename() {
    const path = prompt("Path of the file", this.current);
    if (path === null || path === this.current || this.workspace.readOnly) return;
    checkPath(path);
    if (Object.hasOwn(this.workspace.project.files, path)) throw new ProjectError(`There is a file ${path} already.`);
    this.workspace.move(this.current, path);
    this.editor.drop(this.current);
    this.show(path);
  }

  /** Deletes the file that is shown; this can be undone. */
  async delete() {
    const { project } = this.workspace;
    const path = this.current;
    const content = project.files[path];
    await this.workspace.remove(path);
    this.editor.drop(path);
    this.show(inOrder(Object.keys(project.files))[0]);
    const undo = () => {
      if (this.workspace.project !== project || Object.hasOwn(project.files, path)) return;
      this.workspace.changed(path, content);
      this.show(path);
    };
    notice(`${visible(path)} is deleted.`, { Undo: undo });
  }
}
