// Fetches the files of the bundle, each once: checks their hashes, and compiles WebAssembly. Errors name what is wrong with
// the web server.
import { emptyModule } from "./linking.js";
import { missing } from "./missing.js";
import { page as shown } from "./page.js";
import { verify } from "./fetch-layers.js";
import { absolute, addressOf, config, given } from "./surroundings.js";
import { workerPage } from "./worker-page.js";
import { workerProgram } from "./worker-program.js";

const files = config.files;
/** The user's view of the start: page.js. */
export const page = given ? workerPage : shown;
const fetchFile = globalThis.fetch.bind(globalThis); // the loader replaces the global one while Pyodide starts
const compiling = globalThis.mcpframeCompiling ?? {};

/** An error for the user: `title` says what is wrong and what to do. */
export class BootError extends Error {
  constructor(title, detail = "") {
    super(title);
    this.detail = detail;
  }
}

async function requireWebAssembly() {
  if (typeof WebAssembly !== "object") {
    throw new BootError(
      "This browser has no WebAssembly, which the server needs: use a current browser, or switch WebAssembly on " +
        "(some browsers switch it off in their strictest security mode).",
    );
  }
  try {
    await WebAssembly.compile(emptyModule()); // if this is forbidden, Pyodide would hang instead of failing
  } catch (error) {
    throw new BootError(
      new URL(absolute(files.wasm.url)).origin !== location.origin // the text of a view, in a frame of its host
        ? "The host of this view does not allow WebAssembly, which the view needs: its Content Security Policy has no " +
            "'wasm-unsafe-eval'."
        : "WebAssembly is blocked by this page's Content Security Policy: its script-src needs 'wasm-unsafe-eval'. " +
            "Send the headers that were built with the page (_headers, .htaccess, …), or none of your own.",
      String(error),
    );
  }
}

/**
 * Fetches one file of the bundle; an error names the file and says whether it is missing or has been changed.
 * @param file its entry in the boot config
 * @param started a promise of its response, if it is being fetched already
 */
export async function get(file, started = null) {
  const url = addressOf(file);
  /** @type {RequestInit} */
  const options = { credentials: "same-origin" }; // as the preload links have it
  let response;
  try {
    response = await (started ?? fetchFile(url, { ...options, integrity: file.integrity ?? "" }));
  } catch (error) {
    throw await unreachable(file, url, options, error);
  }
  if (!response.ok) {
    throw new BootError(missing(file.url, response.status));
  }
  page.loaded(file);
  return response;
}

async function unreachable(file, url, options, error) {
  if (file.address) return new BootError(changed(file), String(error));
  // A script cannot tell a wrong hash from a lost connection, so it asks again without a hash.
  const again = await fetchFile(url, { ...options, method: "HEAD", cache: "no-store" }).catch(() => null);
  if (again?.ok) {
    return new BootError(
      `${file.url} is not the file that was built (its hash is wrong): upload the whole folder again, unchanged.`,
      String(error),
    );
  }
  return new BootError(
    again
      ? missing(file.url, again.status)
      : `${file.url} could not be fetched: check the network, and that the web server sends ` +
          "Access-Control-Allow-Origin: * where the frame is sandboxed.",
    String(error),
  );
}

const scripts = new Map();

/**
 * Runs a script of the bundle, once, and returns the global that it sets. Each way of running it checks its hash: the
 * element has the hash, and the program of a worker (worker-program.js) holds scripts that were checked. `import` has none.
 * @param file its entry in the boot config
 * @param {string} name the global
 */
export function script(file, name) {
  if (!given && !scripts.has(name)) scripts.set(name, run(file, name));
  return Promise.resolve(scripts.get(name)).then(() => globalThis[name]);
}

const changed = ({ url }) => `${url} in this page is not the file that was built: build the page again.`;

/** Runs a script of the bundle in this page. */
async function run(file, name) {
  const { url, integrity, address } = file;
  const element = document.createElement("script");
  if (address) {
    // The page's policy has its hash.
    element.textContent = await (await get({ ...file, integrity: null })).text();
    document.head.append(element);
    if (!globalThis[name]) throw new BootError(changed(file));
    return;
  }
  Object.assign(element, { crossOrigin: "anonymous", integrity, src: absolute(url) });
  await new Promise((done, failed) => {
    element.onload = done;
    element.onerror = () =>
      failed(
        new BootError(`${url} is missing or is not the file that was built: upload the whole folder again, unchanged.`),
      );
    document.head.append(element);
  });
}

/** Returns the program of this page's workers, with the same scripts. */
export async function program() {
  if (given) return given.program;
  const texts = [files.pyodide, files.asm, files.loader].map(async (file) => (await get(file)).blob());
  return workerProgram(await Promise.all(texts));
}

/** Fetches one file, and returns its bytes. */
export const bytes = async (file) => new Uint8Array(await (await get(file)).arrayBuffer());

/**
 * The same, for files that are fetched in the background while the page serves. The page may be removed at any time, and
 * Chromium logs an error for an interrupted fetch with an integrity check, so the hash is checked separately.
 */
export async function bytesInBackground(file) {
  if (!crypto.subtle) return bytes(file);
  const data = await bytes({ ...file, integrity: null });
  await verify(data, file.integrity);
  return data;
}

/**
 * Compiles a WebAssembly file while it downloads. The fetch does not check its hash: with an integrity check the browser
 * neither streams it nor caches the compiled code, which costs 80 ms. If it does not compile, its hash is checked. A blob
 * is checked: its code is cached nowhere.
 */
export async function compile(file) {
  const done = given && (await given.compiled).get(file.url);
  if (done) return done;
  await requireWebAssembly();
  const unchecked = file.address ? file : { ...file, integrity: null };
  const prefetched = compiling[file.url]; // by prefetch.js
  delete compiling[file.url];
  const response = await get(unchecked, prefetched?.response);
  try {
    return await (prefetched?.module ?? WebAssembly.compileStreaming(response));
  } catch (error) {
    const module = await bytes(unchecked)
      .then((data) => WebAssembly.compile(data))
      .catch(() => null);
    if (module) {
      console.warn(`${file.url} is not sent as application/wasm, which makes this page start slower.`);
      return module;
    }
    await get(file); // throws if its hash is wrong
    throw new BootError("This browser cannot run the server's WebAssembly: use a current browser.", String(error));
  }
}
