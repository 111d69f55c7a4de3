// Files that few servers read: modules that serving does not need. Python sees them in their folders from the start; their
// content is fetched, all at once, when the first of them is read. Python reads in the middle of an import and cannot
// wait, so that fetch is a synchronous one. Where the build knows that they are needed they come with everything else.
import { fetchNow } from "./fetch-now.js";

export class DeferredModules {
  /** `file`: the archive's `integrity`, `bytes`, and `to`, the folder it belongs in. */
  constructor(url, file) {
    this.url = url;
    this.file = file;
    this.index = []; // [path, offset, size] of each file in the archive
    this.nodes = [];
  }

  /** Puts all files into their folders, with their content where the archive is here already. */
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
      else this.#later(FS, node, offset, size);
    }
  }

  #later(FS, node, offset, size) {
    this.nodes.push([node, offset, size]);
    Object.defineProperty(node, "contents", {
      configurable: true,
      enumerable: true,
      get: () => (this.#fill(FS), node.contents),
      set: (value) => Object.defineProperty(node, "contents", { value, configurable: true, enumerable: true, writable: true }),
    });
  }

  /** Fetches the content without anybody waiting for it. */
  async come(fetchBytes) {
    if (this.nodes.length) this.#put(await fetchBytes(this.file));
  }

  #fill(FS) {
    this.#put(fetchNow(this.url, this.file, FS));
  }

  #put(archive) {
    for (const [node, offset, size] of this.nodes) {
      const value = archive.subarray(offset, offset + size);
      // Not one that was written meanwhile.
      if (Object.getOwnPropertyDescriptor(node, "contents").get) {
        Object.defineProperty(node, "contents", { value, configurable: true, enumerable: true, writable: true });
      }
    }
    this.nodes = [];
  }
}
