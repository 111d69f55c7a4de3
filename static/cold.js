// Files that few servers read: modules that serving does not need. Python sees them in their folders from the start; their
// content is fetched, all at once, when the first of them is read. Python reads in the middle of an import and cannot
// wait, so that fetch is a synchronous one. Where the build knows that they are needed they come with everything else.
import { sha256 } from "./sha256.js";

export class Cold {
  /** `file`: the archive's `integrity`, `bytes`, and `to`, the folder it belongs in; `early`: the archive on its way, or null. */
  constructor(url, file, early) {
    this.url = url;
    this.file = file;
    this.early = early;
    this.index = []; // [path, offset, size] of each file in the archive
    this.nodes = [];
  }

  /** Puts all files into their folders. */
  async place(FS) {
    const archive = await this.early;
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

  #fill(FS) {
    const archive = this.#fetch(FS);
    for (const [node, offset, size] of this.nodes) {
      const value = archive.subarray(offset, offset + size);
      // Not one that was written meanwhile.
      if (Object.getOwnPropertyDescriptor(node, "contents").get) {
        Object.defineProperty(node, "contents", { value, configurable: true, enumerable: true, writable: true });
      }
    }
    this.nodes = [];
  }

  #fetch(FS) {
    const request = new XMLHttpRequest();
    let problem = "could not be fetched: check the network.";
    try {
      request.open("GET", this.url, false);
      request.overrideMimeType("text/plain; charset=x-user-defined"); // the one way to bytes from a synchronous request
      request.send();
      if (request.status === 200) {
        const text = request.responseText;
        const archive = new Uint8Array(text.length);
        for (let at = 0; at < text.length; at += 1) archive[at] = text.charCodeAt(at);
        if (`sha256-${btoa(String.fromCharCode(...sha256(archive)))}` === this.file.integrity) return archive;
        problem = "is not the file that was built (its hash is wrong): upload the whole folder again.";
      } else {
        problem = `is missing (the web server answers ${request.status}): upload the whole folder that was built.`;
      }
    } catch (error) {
      console.error(error);
    }
    console.error(`${this.url} ${problem}`);
    throw new FS.ErrnoError(29); // EIO: Python raises OSError
  }
}
