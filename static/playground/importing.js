// Import of a folder, a zip, files, or an address: as a new project, which is only shown, or into the open one.
import { visible } from "../host/visible.js";
import { fetchFile, rawAddress } from "./addresses.js";
import { asProject, importedFiles, isLeftOut } from "./imported.js";
import { $, notice } from "./page.js";
import { MOST_BINARY, MOST_BYTES, ProjectError } from "./project-files.js";
import { newProject } from "./projects.js";
import { membersOf } from "./unzip.js";

const MOST_DROPPED = 2_000; // files and folders that are looked at
const READ_FIRST = "Read it before you run it: its code may be somebody else's.";

/** @typedef {import("./imported.js").Source} Source */

export class Importing {
  /** @param {import("./workspace.js").Workspace} workspace */
  constructor(workspace) {
    this.workspace = workspace;
  }

  /** Asks what to import. */
  ask() {
    $("import-into").checked = false;
    $("import-into").disabled = this.workspace.readOnly;
    $("import-dialog").showModal();
  }

  /** Imports the files or the folder of a field. @param {HTMLInputElement} input */
  async chosen(input) {
    const files = [...input.files];
    input.value = ""; // the same can be chosen again
    $("import-dialog").close();
    if (files.length) await this.#take(files.map((file) => sourceOf(file, file.webkitRelativePath || file.name)));
  }

  /** Opens what is at the address in the dialog. */
  async address() {
    const address = $("import-address").value.trim();
    $("import-dialog").close();
    if (address) await this.from(address);
  }

  /** Returns what was dropped, which the browser forgets after the event. @param {DataTransfer} transfer */
  entriesOf(transfer) {
    return [...transfer.items].map((item) => item.webkitGetAsEntry() ?? item.getAsFile()).filter(Boolean);
  }

  /** Imports files and folders. @param {any[]} entries of `entriesOf`: of a file system, or files */
  async dropped(entries) {
    $("import-into").checked = false;
    await this.#take(await sourcesOf(entries));
  }

  /** Opens the file at a public address. @param {string} address */
  async from(address) {
    const origins = document.querySelector('meta[name="mcpframe-sources"]').getAttribute("content").split(" ");
    const { url, name, isPinned } = rawAddress(address, origins.filter(Boolean));
    const bytes = await fetchFile(url);
    const { title, files } = await read([{ path: name, size: bytes.length, read: async () => bytes }], true);
    const pin = isPinned ? "pinned to a commit" : "not pinned to a commit, so it may be another text tomorrow";
    await this.#open(title, files, `This project is from ${visible(url.href)}, ${pin}. ${READ_FIRST}`);
  }

  /** @param {Source[]} sources */
  async #take(sources) {
    if ($("import-into").checked) return this.#add((await read(sources, false)).files);
    const { title, files } = await read(sources, true);
    await this.#open(title, files, READ_FIRST);
  }

  #open(title, files, note) {
    return this.workspace.open(newProject(title, asProject(files)), { isNew: true, note });
  }

  async #add(files) {
    const { project } = this.workspace;
    const before = { ...project.files };
    const count = Object.keys(files).length;
    await this.workspace.replace({ ...before, ...files }, "Before an import", Object.keys(files)[0]);
    const undo = async () => {
      if (this.workspace.project === project) await this.workspace.replace(before, "The import, before an undo");
    };
    notice(`${count} ${count === 1 ? "file was" : "files were"} added. ${READ_FIRST}`, { Undo: undo });
  }
}

/** Returns the files of an import, and a name for its project. @param {Source[]} sources @param {boolean} strip */
async function read(sources, strip) {
  const [first] = sources;
  if (!first) throw new ProjectError("There is no file to import.");
  const title = first.path.split("/")[0].replace(/\.(zip|py)$/i, "");
  if (sources.length > 1 || !/^[^/]+\.zip$/i.test(first.path))
    return { title, files: await importedFiles(sources, { strip }) };
  if (first.size > MOST_BYTES + MOST_BINARY) throw new ProjectError("The zip is too large.");
  return { title, files: await importedFiles(membersOf(await first.read()), { strip }) };
}

/** @param {File} file @param {string} path @returns {Source} */
const sourceOf = (file, path) => ({
  path,
  size: file.size,
  read: async () => new Uint8Array(await file.arrayBuffer()),
});

/** Returns the files of what was dropped. @param {any[]} entries @returns {Promise<Source[]>} */
async function sourcesOf(entries) {
  const waiting = [...entries];
  const sources = [];
  for (let seen = 0; waiting.length; seen += 1) {
    if (seen > MOST_DROPPED) throw new ProjectError("There are too many files: import the folder of one server.");
    const entry = waiting.shift();
    if (entry instanceof File) {
      sources.push(sourceOf(entry, entry.name));
      continue;
    }
    const path = entry.fullPath.replace(/^\//, "");
    if (isLeftOut(path)) continue;
    if (entry.isFile) sources.push(sourceOf(await new Promise((resolve, reject) => entry.file(resolve, reject)), path));
    else waiting.push(...(await childrenOf(entry, MOST_DROPPED)));
  }
  return sources;
}

async function childrenOf(folder, most) {
  const reader = folder.createReader();
  const children = [];
  while (children.length <= most) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) break;
    children.push(...some); // browsers return up to 100 at once
  }
  return children;
}
