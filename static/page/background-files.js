// The files of Python's library and of the server, where Python was restored from a snapshot: what serves is in memory
// already, so they are fetched once the page has answered. Where one of them is wanted before, all are fetched at once;
// Python reads in the middle of an import and cannot wait, so that fetch is a synchronous one.
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
   * @param files those of the boot config
   * @param absolute makes a URL absolute
   * @param fetchBytes fetches and checks a file
   */
  constructor(files, absolute, fetchBytes) {
    this.files = files;
    this.absolute = absolute;
    this.fetchBytes = fetchBytes;
  }

  /**
   * Begins to fetch what is needed before the server's module can be imported.
   * @param which "none" of the archives, the server's "own", or "all" with what was put aside
   * @param fetchBytes fetches and checks a file
   */
  async expect(which, fetchBytes) {
    const wanted = this.files.archives.map((file) => (which === "all" || (which === "own" && file.own) ? fetchBytes(file) : null));
    const deferred = which === "all" && this.files.deferred.early ? fetchBytes(this.files.deferred) : null;
    return { archives: await Promise.all(wanted), deferred: await deferred };
  }

  /** Places what is here. The folders of everything else fill themselves when something in them is looked for. */
  place(FS, { archives, deferred }) {
    this.FS = FS;
    this.#fill(archives, deferred);
    const waiting = this.files.archives.filter((_, index) => !archives[index]);
    this.#filled = waiting.length === 0;
    for (const { to } of waiting) {
      const { node } = FS.lookupPath(to);
      const original = node.node_ops;
      const filled = (name) => (...args) => (this.fillNow(name), original[name](...args));
      const hooked = Object.fromEntries(
        ["mknod", "rename", "unlink", "rmdir", "readdir", "symlink"].map((name) => [name, filled(name)]),
      );
      hooked.lookup = (parent, name) => (this.fillNow(name), FS.lookupNode(parent, name));
      node.node_ops = { ...original, ...hooked };
      this.#hooked.push([node, original]);
    }
  }

  /**
   * Fetches and places them once the page is quiet; not for people who save data: for them when they are wanted.
   * A host that drives the browser, as mcpframe's bridge does, may have everything come at once by `mcpframeComplete()`,
   * with what few servers read.
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

  /** Fetches and places them while Python waits. */
  fillNow(wanted = "a folder") {
    if (this.#filled) return;
    performance.mark(`mcpframe:files for ${wanted}`);
    const fetched = (file) => (this.#there.has(file) ? null : fetchNow(this.absolute(file.url), file, this.FS));
    this.#finish(this.files.archives.map(fetched));
  }

  #finish(archives) {
    if (this.#filled) return; // the other way was faster
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
