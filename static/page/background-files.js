// Fetches the files of Python's library and of the server after a start from a snapshot. Memory already holds everything
// that serving needs, so they are fetched in the background, once the page is quiet. If Python reads one of them before
// that, all are fetched at once by synchronous requests, because Python cannot wait in the middle of an import.
import { DeferredModules } from "./deferred-modules.js";
import { fetchNow } from "./fetch-now.js";
import { whenQuiet } from "./restore.js";
import { settle, unpack } from "./unzip.js";

export class BackgroundFiles {
  #hooked = [];
  #there = new Set();
  #filled = false;
  #deferred = [];

  /**
   * @param files `files` of the boot config
   * @param absolute makes a URL absolute
   * @param fetchBytes fetches a file and checks its hash
   */
  constructor(files, absolute, fetchBytes) {
    this.files = files;
    this.absolute = absolute;
    this.fetchBytes = fetchBytes;
  }

  /**
   * Starts fetching what the server's module needs when it is imported.
   * @param which "none" of the archives, the server's "own", or "all", including the deferred modules
   * @param fetchBytes fetches a file and checks its hash
   */
  async expect(which, fetchBytes) {
    const wanted = this.files.archives.map((file) =>
      which === "all" || (which === "own" && file.own) ? fetchBytes(file) : null,
    );
    const deferred = which === "all" && this.files.deferred.atStart ? fetchBytes(this.files.deferred) : null;
    return { archives: await Promise.all(wanted), deferred: await deferred };
  }

  /** Writes the archives that have arrived. The folders of the others are filled when a file in them is looked up. */
  place(FS, { archives, deferred }) {
    this.FS = FS;
    this.#fill(archives, deferred);
    const waiting = this.files.archives.filter((_, index) => !archives[index]);
    this.#filled = waiting.length === 0;
    for (const { to } of waiting) {
      const { node } = FS.lookupPath(to);
      const original = node.node_ops;
      const filled =
        (name) =>
        (...args) => {
          this.fillNow(name);
          return original[name](...args);
        };
      const hooked = Object.fromEntries(
        ["mknod", "rename", "unlink", "rmdir", "readdir", "symlink"].map((name) => [name, filled(name)]),
      );
      hooked.lookup = (parent, name) => {
        this.fillNow(name);
        return FS.lookupNode(parent, name);
      };
      node.node_ops = { ...original, ...hooked };
      this.#hooked.push([node, original]);
    }
  }

  /**
   * Fetches the remaining files once the page is quiet, unless the browser is set to save data.
   * A program that drives the browser, such as mcpframe's bridge, can call `mcpframeComplete()` to have them fetched at
   * once, including the deferred modules.
   */
  fetchInBackground() {
    if (navigator.connection?.saveData) return;
    let coming;
    const come = () => (coming ??= this.#come());
    globalThis.mcpframeComplete = async () => {
      await come();
      await Promise.all(this.#deferred.map((modules) => modules.come(this.fetchBytes)));
    };
    whenQuiet(come);
  }

  async #come() {
    if (this.#filled) return;
    const fetched = (file) => (this.#there.has(file) ? null : this.fetchBytes(file));
    this.#finish(await Promise.all(this.files.archives.map(fetched)));
  }

  /** Fetches the remaining files synchronously, while Python waits. */
  fillNow(wanted = "a folder") {
    if (this.#filled) return;
    performance.mark(`mcpframe:files for ${wanted}`);
    const fetched = (file) => (this.#there.has(file) ? null : fetchNow(this.absolute(file.url), file, this.FS));
    this.#finish(this.files.archives.map(fetched));
  }

  #finish(archives) {
    if (this.#filled) return; // the synchronous requests were faster
    this.#filled = true;
    for (const [node, original] of this.#hooked) node.node_ops = original;
    this.#fill(archives, null);
  }

  #fill(archives, deferredArchive) {
    const deferred = new DeferredModules(this.absolute(this.files.deferred.url), this.files.deferred);
    this.files.archives.forEach((file, index) => {
      this.FS.mkdirTree(file.to);
      if (!archives[index]) return;
      this.#there.add(file);
      unpack(this.FS, archives[index], file.to, deferred);
    });
    deferred.place(this.FS, deferredArchive);
    this.#deferred.push(deferred);
    settle(this.FS, this.files.archives);
  }
}
