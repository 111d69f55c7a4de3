// The place where this Python starts: a page, or a worker of one (workers.js), which has no document.

/**
 * A worker's first message from its page: its kind, the boot config, the base of its addresses, facts about the page,
 * whether it starts from a snapshot, the program for workers of its own, the texts for its Python so far, and promises of
 * the compiled modules, by URL, and of the unpacked snapshot.
 * @type {{ kind: "server" | "process", config: any, base: string, ofPage: OfPage, restores: boolean, program: Blob, came: string[], compiled: Promise<Map<string, WebAssembly.Module>>, image: Promise<any> } | null}
 */
export const given = globalThis.mcpframeGiven ?? null;

export const config = given ? given.config : JSON.parse(document.getElementById("mcpframe-boot").textContent);

const base = given ? given.base : document.baseURI;

/** @typedef {{ policy: string, stores: boolean }} OfPage the page's policy, and whether the browser gives it storage */

/** Returns the facts about a page that a worker lacks. @returns {OfPage} */
export function ofPage() {
  if (given) return given.ofPage;
  const meta = document.querySelector('meta[http-equiv="Content-Security-Policy"]');
  return { policy: meta?.getAttribute("content") ?? "", stores: hasStorage() };
}

function hasStorage() {
  try {
    return Boolean(globalThis.localStorage);
  } catch {
    return false; // sandboxed, or blocked by the browser
  }
}

/** Makes the URL of a file of the bundle absolute. */
export const absolute = (url) => new URL(url, base).href;

/**
 * Returns where a file of the bundle is fetched: at its URL, or in a page that was handed its files (handed.js) at the
 * address of a blob.
 * @param {{ url: string, address?: string }} file its entry in the boot config
 */
export const addressOf = (file) => absolute(file.address ?? file.url);

/** `Promise.withResolvers`, for older browsers. */
export function withResolvers() {
  let resolve, reject;
  const promise = new Promise((good, bad) => ([resolve, reject] = [good, bad]));
  return { promise, resolve, reject };
}
