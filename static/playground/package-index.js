// Package indexes (PEP 691) and the wheels of their packages, fetched by this page for a project that its reader has
// confirmed. Only listed indexes and hosts are asked, without cookies and redirects; everything has a limit and a deadline.
import { visible } from "../host/visible.js";
import { sha256Of } from "./package-store.js";
import { ProjectError } from "./project-files.js";
import { readAll } from "./reading.js";
import { membersOf } from "./unzip.js";

const ACCEPT = "application/vnd.pypi.simple.v1+json";
const PATIENCE = 20_000; // milliseconds
const PATIENCE_FOR_WHEEL = 300_000; // milliseconds
const MOST_PAGE = 30_000_000; // bytes: a package with thousands of files has more than ten millions
const MOST_METADATA = 2_000_000; // bytes
const MOST_FILES = 100_000; // of one package
const SHA256 = /^[0-9a-f]{64}$/;
export const MOST_WHEELS = 200_000_000; // bytes of all wheels of a project

/** @typedef {import("./resolve.js").IndexFile} IndexFile */

export class PackageIndex {
  #files = new Map();
  #texts = new Map();
  #early = new Map(); // wheels whose metadata was read in them

  /**
   * @param {{ indexes: string[], hosts: string[] }} allowed the addresses of indexes, and the origins of wheels
   * @param {AbortSignal} signal ends what is fetched
   * @param {number} patience milliseconds for a page of an index, and for metadata
   */
  constructor({ indexes, hosts }, signal, patience = PATIENCE) {
    this.patience = patience;
    this.indexes = indexes;
    this.hosts = hosts;
    this.signal = signal;
  }

  /** Returns the files of a package, as the first index has them that knows it. @type {import("./resolve.js").Source["files"]} */
  files(name) {
    return kept(this.#files, name, async () => {
      for (const index of this.indexes) {
        const url = new URL(`${name}/`, index);
        const response = await this.#fetch(url, this.patience, { headers: { Accept: ACCEPT } });
        if (response.status === 404) continue;
        return listed(await this.#json(url, response), url);
      }
      return null;
    });
  }

  /** Returns the metadata of a wheel: beside it if the index says so (PEP 658), else within it. @param {IndexFile} file */
  metadata(file) {
    return kept(this.#texts, file.url.href, async () => {
      if (!file.metadata) return metadataIn(await this.wheel(file));
      const url = new URL(file.url);
      url.pathname += ".metadata";
      const data = await this.#bytes(url, this.patience, MOST_METADATA);
      const { sha256 } = file.metadata;
      if (sha256 && (await sha256Of(data)) !== sha256) throw changed(url);
      return data.text();
    });
  }

  /**
   * Returns a wheel, once its hash is checked.
   * @param {{ url: URL | string, sha256: string, size: number | null }} file
   * @returns {Promise<Blob>}
   */
  wheel({ url, sha256, size }) {
    return kept(this.#early, sha256, async () => {
      const data = await this.#bytes(new URL(url), PATIENCE_FOR_WHEEL, Math.min(size ?? MOST_WHEELS, MOST_WHEELS));
      if ((await sha256Of(data)) !== sha256) throw changed(new URL(url));
      return data;
    });
  }

  async #json(url, response) {
    const blob = await readAll(response.body, MOST_PAGE, `${url.host} lists too many files for ${nameIn(url)}`);
    try {
      return JSON.parse(await blob.text());
    } catch {
      throw new ProjectError(`${url.host} does not list packages as JSON (PEP 691)`);
    }
  }

  async #bytes(url, patience, most) {
    if (!this.hosts.includes(url.origin))
      throw new ProjectError(`${visible(url.host)} is no host of packages that this site allows`);
    const response = await this.#fetch(url, patience);
    return readAll(
      response.body,
      most,
      `${visible(url.href)} is larger than the index says, or than the playground reads`,
    ).catch((error) => {
      throw error instanceof ProjectError ? error : this.#failed(url, error);
    });
  }

  async #fetch(url, patience, options = {}) {
    const signal = AbortSignal.any([this.signal, AbortSignal.timeout(patience)]);
    let response;
    try {
      const asked = { credentials: "omit", redirect: "error", referrerPolicy: "no-referrer", signal, ...options };
      response = await fetch(url, /** @type {RequestInit} */ (asked));
    } catch (error) {
      throw this.#failed(url, error);
    }
    if (response.ok || (response.status === 404 && options.headers)) return response;
    throw new ProjectError(`${visible(url.href)} cannot be fetched (${response.status})`);
  }

  /** Returns the error for one of `fetch`; a script does not learn more of it. */
  #failed(url, error) {
    if (this.signal.aborted) return error;
    if (error.name === "TimeoutError") return new ProjectError(`${url.host} does not answer`);
    return new ProjectError(
      `${visible(url.host)} cannot be reached: there is no network, or it does not allow this page (CORS)`,
    );
  }
}

const nameIn = (url) => url.pathname.split("/").at(-2);
const changed = (url) =>
  new ProjectError(`${visible(url.href)} is not the file that the index names: its SHA-256 is another`);

/** Returns the value of a key, which is made once; a failure is not kept. */
function kept(values, key, make) {
  if (!values.has(key)) {
    const value = make();
    values.set(key, value);
    value.catch(() => values.delete(key));
  }
  return values.get(key);
}

/** Returns the files in a page of an index, whose content is a stranger's. @returns {IndexFile[]} */
function listed(page, base) {
  const files = Array.isArray(page?.files) ? page.files.slice(0, MOST_FILES) : [];
  return files.flatMap((file) => {
    const { filename, url, size, yanked } = file ?? {};
    if (typeof filename !== "string" || typeof url !== "string" || !URL.canParse(url, base)) return [];
    const sha256 = String(file.hashes?.sha256).toLowerCase();
    const metadata = file["core-metadata"] ?? file["data-dist-info-metadata"];
    return {
      filename,
      url: new URL(url, base),
      sha256: SHA256.test(sha256) ? sha256 : "",
      size: Number.isSafeInteger(size) && size > 0 ? size : null,
      requiresPython: typeof file["requires-python"] === "string" ? file["requires-python"] : "",
      yanked: Boolean(yanked),
      metadata: metadata ? { sha256: metadata.sha256 } : null,
    };
  });
}

async function metadataIn(wheel) {
  const metadata = membersOf(new Uint8Array(await wheel.arrayBuffer())).find(({ path }) =>
    /^[^/]+\.dist-info\/METADATA$/.test(path),
  );
  if (!metadata || metadata.size > MOST_METADATA) throw new ProjectError("a wheel has no metadata");
  return new TextDecoder().decode(await metadata.read());
}
