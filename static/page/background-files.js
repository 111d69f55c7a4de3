// Fetches the files of Python's library and of the server after a start from a snapshot. Memory already holds everything
// that serving needs, so they are fetched in the background, once the page is quiet. If Python reads one of them before
// that, all are fetched at once by synchronous requests: Python cannot wait in the middle of an import.
import { archivesAtStart } from "./archives-at-start.js";
import { DeferredModules } from "./deferred-modules.js";
import { readNow } from "./read-now.js";
import { whenQuiet } from "./restore.js";
import { settle, unpack } from "./unzip.js";

export class BackgroundFiles {
  #hooked = new Map();
  #there = new Set();
  #deferred = [];

  /**
   * @param files `files` of the boot config
   * @param addressOf returns the address of a file
   * @param fetchBytes fetches a file and checks its hash
   */
  constructor(files, addressOf, fetchBytes) {
    this.files = files;
    this.addressOf = addressOf;
    this.fetchBytes = fetchBytes;
  }

  /**
   * Starts fetching what the server's module needs when it is imported.
   * @param which see `archivesAtStart`; "all" includes the deferred modules
   * @param fetchBytes fetches a file and checks its hash
   */
  async expect(which, fetchBytes) {
    const needed = archivesAtStart(this.files, which);
    const fetched = this.files.archives.map((file) => (needed.includes(file) ? fetchBytes(file) : null));
    const deferred = which === "all" && this.files.deferred.atStart ? fetchBytes(this.files.deferred) : null;
    return { archives: await Promise.all(fetched), deferred: await deferred };
  }

  /** Writes the archives that have arrived. The folders of the others are filled when a file in them is looked up. */
  place(FS, { archives, deferred }) {
    this.FS = FS;
    this.#fill(archives, deferred);
    const waiting = this.files.archives.filter((file) => !this.#there.has(file));
    const nodes = waiting.map(({ to }) => FS.lookupPath(to).node); // before any is hooked: some are in others
    // Of two in one folder, which come together, only one is hooked: their operations would be restored in any order.
    const isFirst = (file) => waiting.find(({ to }) => to === file.to) === file;
    for (const [index, file] of waiting.entries()) if (isFirst(file)) this.#hook(FS, file, nodes[index]);
  }

  #hook(FS, file, node) {
    const original = node.node_ops;
    const filled =
      (name) =>
      (...args) => {
        this.fillNow(file, name);
        return original[name](...args);
      };
    const hooked = Object.fromEntries(
      ["mknod", "rename", "unlink", "rmdir", "readdir", "symlink"].map((name) => [name, filled(name)]),
    );
    hooked.lookup = (parent, name) => {
      this.fillNow(file, name);
      return FS.lookupNode(parent, name);
    };
    node.node_ops = { ...original, ...hooked };
    this.#hooked.set(file, () => {
      node.node_ops = original;
    });
  }

  /**
   * Fetches the remaining files once the page is quiet, unless the browser is set to save data.
   * Large packages are fetched only when they are read. A program that drives the browser, such as mcpframe's bridge, can
   * call `mcpframeComplete()` to have all fetched at once, including the deferred modules.
   * @param {() => Promise<any>} others fetches what the page needs besides files
   */
  fetchInBackground(others) {
    if (navigator.connection?.saveData) return;
    let coming;
    const files = this.files.archives.filter(({ apart }) => !apart);
    const come = () => (coming ??= Promise.all([others(), this.#come(files)]));
    globalThis.mcpframeComplete = async () => {
      await come();
      await this.#come(this.files.archives);
      await Promise.all(this.#deferred.map((modules) => modules.come(this.fetchBytes)));
    };
    whenQuiet(come);
  }

  async #come(files) {
    const missing = files.filter((file) => !this.#there.has(file));
    this.#finish(missing, await Promise.all(missing.map(this.fetchBytes)));
  }

  /** Fetches an archive synchronously, while Python waits; with it all others that are not apart. */
  fillNow(file, wanted) {
    if (this.#there.has(file)) return;
    performance.mark(`mcpframe:files for ${wanted}`);
    const together = this.files.archives.filter((each) => !this.#there.has(each) && !each.apart);
    const missing = file.apart ? [file] : together;
    this.#finish(
      missing,
      missing.map((each) => readNow(this.addressOf(each), each, this.FS)),
    );
  }

  /** Writes archives that have arrived, except those that a synchronous request has brought meanwhile. */
  #finish(files, archives) {
    const arrived = new Map(files.map((file, index) => [file, this.#there.has(file) ? null : archives[index]]));
    for (const file of files) this.#hooked.get(file)?.();
    this.#fill(
      this.files.archives.map((file) => arrived.get(file) ?? null),
      null,
    );
  }

  #fill(archives, deferredArchive) {
    const deferred = new DeferredModules(this.addressOf(this.files.deferred), this.files.deferred);
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
