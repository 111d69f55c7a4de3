// Where this Python starts: in a page, or in a worker that a page has started (workers.js) and that has no document.

/**
 * What the page gives a worker: its kind, the boot config, the base of its addresses, what it cannot see of the page,
 * whether it starts from a snapshot, its program for workers of its own, the texts that have come for its Python, and
 * promises of what is compiled, by URL, and of the unpacked snapshot.
 * @type {{ kind: "server" | "process", config: any, base: string, ofPage: OfPage, restores: boolean, program: Blob, came: string[], compiled: Promise<Map<string, WebAssembly.Module>>, image: Promise<any> } | null}
 */
export const given = globalThis.mcpframeGiven ?? null;

export const config = given ? given.config : JSON.parse(document.getElementById("mcpframe-boot").textContent);

const base = given ? given.base : document.baseURI;

/** @typedef {{ policy: string, stores: boolean }} OfPage the page's policy, and whether the browser gives it storage */

/** Returns what a worker cannot see of its page. @returns {OfPage} */
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

/** `Promise.withResolvers`, for older browsers. */
export function withResolvers() {
  let resolve, reject;
  const promise = new Promise((good, bad) => ([resolve, reject] = [good, bad]));
  return { promise, resolve, reject };
}
