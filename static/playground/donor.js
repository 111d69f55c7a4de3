// The donor: a bundle that the site's build has made, whose page and files every run is made of. Each part is fetched once
// for all runs.
import { ProjectError } from "./project-files.js";

/** @typedef {Record<string, Blob>} Blobs by their addresses in its page */

/**
 * @typedef {object} Lent
 * @property {string} html its page
 * @property {Promise<Blobs>} files those that each start reads
 * @property {Record<string, string>} packages the versions of its packages
 * @property {string} python the version of its Python
 */

const STAND_IN = "https://playground.invalid"; // in its page, for the origin of this one

/** Returns its page for runs here: whatever runs in it may have modules of its own. */
const placed = (html) => html.replaceAll(STAND_IN, location.origin).replace("script-src ", "script-src blob: ");

export class Donor {
  /** @type {Map<string, Promise<any>>} */
  #parts = new Map();

  /** @param {string} base the address of the folder with its page and its list of files */
  constructor(base) {
    this.base = base;
  }

  /** Fetches its page, and begins to fetch the files that each start reads. @returns {Promise<Lent>} */
  async first() {
    const files = this.#files("first");
    const [html, { packages, python }] = await Promise.all([
      this.#once("page", async () => placed(await (await this.get("framed.html")).text())),
      this.#list(),
    ]);
    return { html, files, packages, python };
  }

  /** Fetches the files that a run may read, too. @returns {Promise<Blobs>} */
  later() {
    return this.#files("later");
  }

  /** Fetches the files that only the bundle has. @returns {Promise<Blobs>} */
  others() {
    return this.#files("others");
  }

  /** Fetches a file beside it. @param {string} path @param {RequestInit} [options] */
  async get(path, options) {
    const response = await fetch(new URL(path, this.base), options);
    if (!response.ok) throw new ProjectError(`${path} of this site is missing (${response.status}).`);
    return response;
  }

  #list() {
    return this.#once("list", async () => (await this.get("files.json")).json());
  }

  #files(part) {
    return this.#once(part, async () => {
      const { [part]: places } = await this.#list();
      const priority = part === "first" ? "auto" : "low";
      const blobs = Object.entries(places).map(async ([url, path]) => [
        url,
        await (await this.get(path, { priority })).blob(),
      ]);
      return Object.fromEntries(await Promise.all(blobs));
    });
  }

  /** Returns what is fetched, or has been. A failure is forgotten: the next run tries again. */
  #once(name, fetched) {
    if (!this.#parts.has(name)) {
      const part = fetched();
      this.#parts.set(name, part);
      part.catch(() => this.#parts.delete(name));
    }
    return this.#parts.get(name);
  }
}
