// Starts Python from a snapshot: its memory as the build has found it once everything was imported. What memory does not
// hold is put back elsewhere: native libraries by Pyodide, files by background-files.js, the visitor's surroundings by after_restore.py.
// A snapshot fits one build of Pyodide, one set of libraries and one set of the browser's features; where anything does
// not match, an error is thrown, and the page starts without it.

import { decompress } from "./zstd.js";

const MAGIC = 0x706e7300;
const HEADER = 48; // of Pyodide's own format: magic, offset, length, padding, 256 bits of build id

/** What of the browser decides whether a snapshot fits: each changes Pyodide's table of functions. */
export const features = () => ({
  jspi: "Suspending" in WebAssembly,
  functions: typeof WebAssembly.Function === "function",
});

/** Which feature of this browser is not as a snapshot needs it; none where it fits. */
function misfit(snapshot) {
  const found = features();
  return Object.keys(found).find((name) => found[name] !== snapshot.features[name]);
}

/** Whether to start from the snapshot this time: it has to fit, and on a slow line to be here already. */
export function isChosen({ snapshot }) {
  if (!snapshot) return false;
  const other = misfit(snapshot);
  if (other) {
    console.warn(unused(`it is for browsers with other features: ${other}`));
    return false;
  }
  return !isSlow() || isRemembered(snapshot);
}

/** The one line that the console gets where the snapshot is not used. */
export const unused = (reason) => `The snapshot of this page is not used (${reason}); it starts without it.`;

/** Whether the line is so slow that the snapshot, which is larger than the files it replaces, would cost time. */
function isSlow() {
  const line = navigator.connection; // Chromium's
  return Boolean(line?.saveData || ["slow-2g", "2g", "3g"].includes(line?.effectiveType));
}

const KEY = "mcpframe snapshot ";

/** Whether the snapshot has been fetched before. The HTTP cache itself cannot be asked without an error in the console. */
function isRemembered({ integrity }) {
  try {
    return localStorage.getItem(KEY + location.pathname) === integrity;
  } catch {
    return false; // a page of opaque origin has no storage
  }
}

/** Notes that the snapshot is in the cache. */
function remember({ integrity }) {
  try {
    if (!isRemembered({ integrity })) localStorage.setItem(KEY + location.pathname, integrity);
  } catch {
    return; // as above
  }
}

/** After a start without the snapshot, fetches it for the next one, unless data is to be saved. */
export function fetchForNextTime({ snapshot }, fetchBytes) {
  if (!snapshot || navigator.connection?.saveData || misfit(snapshot)) return;
  whenQuiet(async () => {
    await Promise.all([fetchBytes(snapshot), fetchBytes(snapshot.decoder)]);
    remember(snapshot);
  });
}

const QUIET = 2_000; // milliseconds
const AT_LAST = { timeout: 3_000 }; // milliseconds after that: a frame that draws nothing may never be told that it is idle

/** Does something once the page has started and has nothing else to do. What goes wrong then is done when it is needed. */
export function whenQuiet(act) {
  const idle = globalThis.requestIdleCallback ?? ((run) => run());
  setTimeout(() => idle(() => act().catch((error) => console.debug(error)), AT_LAST), QUIET);
}

/** Throws where bytes have another hash than this one, which is written as for a fetch. Needs a secure context. */
export async function verify(data, integrity) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
  if (integrity !== `sha256-${btoa(String.fromCharCode(...digest))}`) throw new Error("its hash is wrong");
}

export class Snapshot {
  #meta = null;
  #parts = null;

  /**
   * @param file the snapshot's entry in the boot config
   * @param get fetches and checks a file
   * @param compile fetches and compiles one
   */
  constructor(file, get, compile) {
    this.file = file;
    this.arrived = this.#read(get, compile);
    this.arrived.catch(() => {}); // told by who waits for it
  }

  async #read(get, compile) {
    const decoder = compile(this.file.decoder);
    decoder.catch(() => {}); // told below
    // Where the hash can be checked here it is checked beside the decompression. Only secure contexts have `subtle`.
    const response = await get(crypto.subtle ? { ...this.file, integrity: null } : this.file);
    let bytes;
    try {
      const found = await decompress(await decoder, response.body, this.file.bytes, this.file.unpacked);
      const isRight = crypto.subtle ? verify(found.packed, this.file.integrity) : Promise.resolve();
      this.checked = isRight.then(() => remember(this.file));
      this.checked.catch(() => {}); // told by `fill`
      bytes = found.unpacked;
    } catch (error) {
      await get(this.file); // says so where its hash is wrong
      throw error;
    }
    performance.mark("mcpframe:unpacked");
    const start = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    this.#meta = JSON.parse(new TextDecoder().decode(bytes.subarray(4, start)));
    this.#parts = bytes.subarray(start);
  }

  /** A snapshot in Pyodide's own format, without memory: that is put in place by `fill`, once it has arrived. */
  head() {
    const text = new TextEncoder().encode(JSON.stringify(this.file.references));
    const head = new Uint8Array(Math.ceil((HEADER + text.length) / 16) * 16);
    const words = new Uint32Array(head.buffer);
    words.set([MAGIC, head.length, text.length, 0]);
    for (let word = 0; word < 8; word += 1) {
      words[4 + word] = parseInt(this.file.build.slice(word * 8, word * 8 + 8), 16);
    }
    head.set(text, HEADER);
    return head;
  }

  /** Puts memory in its place, where it is not there already. */
  async fill(module) {
    await this.arrived;
    const { memory, table, runs, check } = this.#meta;
    if (module.wasmTable.length !== table) throw new Error(`its table has ${table} entries, not ${module.wasmTable.length}`);
    const used = module.HEAPU8.length; // what is added now is zeros
    if (used < memory) module.growMemory(memory); // Pyodide does not: https://github.com/pyodide/pyodide/issues/6254
    if (module.HEAPU8.length !== memory) throw new Error("it is of another size of memory");
    const { HEAPU8: heap, HEAPU32: words } = module;
    let at = 0;
    let placed = 0;
    let found = 0;
    for (let index = 0; index < runs.length; index += 4) {
      const [same, own, zeros, part] = runs.slice(index, index + 4);
      for (let word = at >>> 2; word < (at + same) >>> 2; word += 1) found = Math.imul(found ^ words[word], 0x01000193);
      at += same + own;
      if (at < used) heap.fill(0, at, Math.min(at + zeros, used));
      at += zeros;
      heap.set(this.#parts.subarray(placed, placed + part), at);
      placed += part;
      at += part;
    }
    await this.checked;
    if (found >>> 0 !== check) throw new Error("memory begins otherwise in this browser");
    this.#parts = null;
    // C asks for the time zone once, and has done so in the build: ask anew, into the same places.
    const names = module._tzname >>> 2;
    module.__tzset_js(module._timezone, module._daylight, module.HEAPU32[names], module.HEAPU32[names + 1]);
    performance.mark("mcpframe:restored");
  }

  /** What Python has to know of this visit: see after_restore.py. */
  visitor() {
    const year = new Date().getFullYear();
    return {
      language: `${(navigator.language ?? "C").replace("-", "_")}.UTF-8`,
      agent: navigator.userAgent,
      zones: [new Date(year, 0, 1), new Date(year, 6, 1)].map((date) => date.getTimezoneOffset()),
      paths: this.file.paths,
    };
  }
}
