// Modules that few servers read. Python sees the files in their folders from the start; the archive with their content is
// fetched when the first of them is read, by a synchronous request: Python cannot wait in the middle of an import. If the
// build knows that a server needs them, they are fetched with the rest.
import { readNow } from "./read-now.js";

export class DeferredModules {
  /** `file`: the archive's entry in the boot config, with `integrity`, `bytes`, and `to`, the folder it is for. */
  constructor(url, file) {
    this.url = url;
    this.file = file;
    this.index = []; // [path, offset, size] of each file in the archive
    this.nodes = [];
  }

  /** Creates all files in their folders, with their content if the archive is given. */
  place(FS, archive = null) {
    const folders = new Map();
    for (const [path, offset, size] of this.index) {
      const cut = path.lastIndexOf("/");
      const folder = `${this.file.to}/${path.slice(0, cut)}`;
      if (!folders.has(folder)) {
        FS.mkdirTree(folder);
        folders.set(folder, FS.lookupPath(folder).node);
      }
      const node = FS.mknod(`${folder}/${path.slice(cut + 1)}`, 0o100644, 0);
      node.usedBytes = size;
      if (archive) node.contents = archive.subarray(offset, offset + size);
      else this.#fillOnRead(FS, node, offset, size);
    }
  }

  #fillOnRead(FS, node, offset, size) {
    this.nodes.push([node, offset, size]);
    Object.defineProperty(node, "contents", {
      configurable: true,
      enumerable: true,
      get: () => {
        this.#fill(FS);
        return node.contents;
      },
      set: (value) =>
        Object.defineProperty(node, "contents", { value, configurable: true, enumerable: true, writable: true }),
    });
  }

  /** Fetches the content in the background. */
  async come(fetchBytes) {
    if (this.nodes.length) this.#put(await fetchBytes(this.file));
  }

  #fill(FS) {
    this.#put(readNow(this.url, this.file, FS));
  }

  #put(archive) {
    for (const [node, offset, size] of this.nodes) {
      const value = archive.subarray(offset, offset + size);
      // A file that was written meanwhile keeps its content.
      if (Object.getOwnPropertyDescriptor(node, "contents").get) {
        Object.defineProperty(node, "contents", { value, configurable: true, enumerable: true, writable: true });
      }
    }
    this.nodes = [];
  }
}
