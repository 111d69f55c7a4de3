// The wheels that were fetched, and what was chosen for which requirements: in the browser's cache if it has one, so that
// the same project runs again at once, without a question and without a network.
import { sha256, toHex } from "./bytes.js";

const CACHE = "mcpframe playground packages";
const MOST_KEPT = 300; // files; the oldest go first

/** Returns the SHA-256 of data in hexadecimal digits. @param {Blob} data */
export const sha256Of = async (data) => toHex(await sha256(await data.arrayBuffer()));

export class PackageStore {
  #here = new Map(); // of this page, by key

  /** Returns what is kept under a key. @param {string} key @returns {Promise<Blob | null>} */
  async get(key) {
    if (this.#here.has(key)) return this.#here.get(key);
    const answer = await this.#cached((cache) => cache.match(addressOf(key)));
    const blob = (await answer?.blob()) ?? null;
    if (blob) this.#here.set(key, blob);
    return blob;
  }

  /** Keeps data. @param {string} key @param {Blob} data */
  async put(key, data) {
    this.#here.set(key, data);
    await this.#cached(async (cache) => {
      await cache.put(addressOf(key), new Response(data));
      const all = await cache.keys();
      await Promise.all(all.slice(0, -MOST_KEPT).map((each) => cache.delete(each)));
    });
  }

  /** Forgets what is kept under a key. @param {string} key */
  async delete(key) {
    this.#here.delete(key);
    await this.#cached((cache) => cache.delete(addressOf(key)));
  }

  /** Uses the browser's cache: some have none, or none here, or it is full. */
  async #cached(use) {
    try {
      return await use(await caches.open(CACHE));
    } catch {
      return null;
    }
  }
}

/** Never fetched: a key for the cache. */
const addressOf = (key) => new URL(`kept-packages/${key}`, document.baseURI).href;
