// Starts Python from a snapshot: a copy of its memory that the build took after all imports. Everything that is not in
// memory is restored elsewhere: native libraries by Pyodide, files by background-files.js, and the visitor's language,
// time zone and so on by after_restore.py. A snapshot fits one build of Pyodide and one set of libraries. If anything does
// not match, an error is thrown and the page starts without the snapshot.

import { absolute } from "./surroundings.js";
import { decompress } from "./zstd.js";

const MAGIC = 0x706e7300; // the first word of Pyodide's own snapshots: "\0snp"
const HEADER = 48; // bytes, in Pyodide's format: magic, offset, length, padding, 256 bits of build id

/** Returns whether to start from the snapshot: on a slow connection it has to be cached. */
export function isChosen({ snapshot }) {
  return Boolean(snapshot) && (!isSlow() || snapshot.layers.every(isRemembered));
}

/** Returns the line for the console if the snapshot is not used. */
export const unused = (reason) => `The snapshot of this page is not used (${reason}); it starts without it.`;

/** Returns whether the connection is so slow that the snapshot, larger than the files it replaces, would cost time. */
function isSlow() {
  const line = navigator.connection; // only Chromium has it
  return Boolean(line?.saveData || ["slow-2g", "2g", "3g"].includes(line?.effectiveType));
}

/** Returns the key under which a layer is remembered: its folder, so that all pages of a site know the SDK's layer. */
const keyOf = ({ url }) => `mcpframe snapshot ${new URL(".", absolute(url)).pathname}`;

/** Returns whether a layer has been fetched before. Asking the HTTP cache itself would log an error. */
function isRemembered(layer) {
  try {
    return localStorage.getItem(keyOf(layer)) === layer.integrity;
  } catch {
    return false; // a page of opaque origin has no storage
  }
}

/** Remembers that a layer is in the HTTP cache. */
function remember(layer) {
  try {
    if (!isRemembered(layer)) localStorage.setItem(keyOf(layer), layer.integrity);
  } catch {
    return; // no storage
  }
}

/** Fetches the snapshot for the next start, after a start without it, unless the browser is set to save data. */
export function fetchForNextTime({ snapshot }, fetchBytes) {
  if (!snapshot || navigator.connection?.saveData) return;
  whenQuiet(async () => {
    await Promise.all([...snapshot.layers, snapshot.decoder].map(fetchBytes));
    snapshot.layers.forEach(remember);
  });
}

const QUIET = 2_000; // milliseconds
const IDLE_OPTIONS = { timeout: 3_000 }; // milliseconds: a frame that draws nothing may never be reported as idle

/** Calls `act` once the page has started and is idle. A failure does no harm: the files are fetched when needed. */
export function whenQuiet(act) {
  const idle = globalThis.requestIdleCallback ?? /** @type {any} */ ((run) => run());
  setTimeout(() => idle(() => act().catch((error) => console.debug(error)), IDLE_OPTIONS), QUIET);
}

/** Throws if the hash of `data` is not `integrity`, which has the format of a fetch. Needs a secure context. */
export async function verify(data, integrity) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
  if (integrity !== `sha256-${btoa(String.fromCharCode(...digest))}`) throw new Error("its hash is wrong");
}

/**
 * A layer's content, and a promise that is rejected if its hash is wrong.
 * @typedef {{ bytes: Uint8Array, checked?: Promise<void> }} Layer
 */

/**
 * Fetches a snapshot and unpacks its layers.
 * @param file the snapshot's entry in the boot config
 * @param get fetches a file and checks its hash
 * @param compile fetches and compiles a file
 * @returns {Promise<Layer[]>} the lowest first
 */
export function fetchSnapshot(file, get, compile) {
  const decoder = compile(file.decoder);
  decoder.catch(() => {}); // reported by each layer
  return Promise.all(file.layers.map((layer) => fetchLayer(layer, decoder, get)));
}

async function fetchLayer(file, decoder, get) {
  // If possible, the hash is computed in parallel with the decompression. Only secure contexts have `subtle`.
  const response = await get(crypto.subtle ? { ...file, integrity: null } : file);
  try {
    const { packed, unpacked } = await decompress(await decoder, response.body, file.bytes, file.unpacked);
    const isRight = crypto.subtle ? verify(packed, file.integrity) : Promise.resolve();
    const checked = isRight.then(() => remember(file));
    checked.catch(() => {}); // reported by `fill`
    return { bytes: unpacked, checked };
  } catch (error) {
    await get(file); // throws if its hash is wrong
    throw error;
  }
}

export class Snapshot {
  #layers = [];

  /**
   * @param file the snapshot's entry in the boot config
   * @param {Promise<Layer[] | null>} fetched see `fetchSnapshot`
   */
  constructor(file, fetched) {
    this.file = file;
    this.arrived = this.#read(fetched);
    this.arrived.catch(() => {}); // reported by those who await it
  }

  async #read(fetched) {
    const layers = await fetched;
    if (!layers) throw new Error("the page has not used it");
    performance.mark("mcpframe:unpacked");
    this.#layers = layers.map(({ bytes, checked }) => {
      const start = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
      const meta = JSON.parse(new TextDecoder().decode(bytes.subarray(4, start)));
      return { ...meta, parts: bytes.subarray(start), checked };
    });
  }

  /** Returns a snapshot in Pyodide's format, but without its memory, which `fill` writes once it has arrived. */
  head() {
    const text = new TextEncoder().encode(JSON.stringify(this.file.layers.at(-1).references));
    const head = new Uint8Array(Math.ceil((HEADER + text.length) / 16) * 16);
    const words = new Uint32Array(head.buffer);
    words.set([MAGIC, head.length, text.length, 0]);
    for (let word = 0; word < 8; word += 1) {
      words[4 + word] = parseInt(this.file.build.slice(word * 8, word * 8 + 8), 16);
    }
    head.set(text, HEADER);
    return head;
  }

  /** Writes the snapshot into memory, except for what is there already. */
  async fill(module) {
    await this.arrived;
    const { memory } = this.#layers.at(-1);
    let used = module.HEAPU8.length; // memory that is added has zeros
    if (used < memory) module.growMemory(memory); // Pyodide does not: https://github.com/pyodide/pyodide/issues/6254
    if (module.HEAPU8.length !== memory) throw new Error("it is of another size of memory");
    for (const layer of this.#layers) {
      if (module.wasmTable.length !== layer.table)
        throw new Error(`its table has ${layer.table} entries, not ${module.wasmTable.length}`);
      const sum = place(layer, module, used);
      await layer.checked;
      if (layer.check !== undefined && sum !== layer.check)
        throw new Error("memory at the start is different in this browser");
      used = layer.memory;
    }
    this.#layers = [];
    // C reads the time zone only once, which was in the build: read it again, into the same places.
    const names = module._tzname >>> 2;
    module.__tzset_js(module._timezone, module._daylight, module.HEAPU32[names], module.HEAPU32[names + 1]);
    performance.mark("mcpframe:restored");
  }

  /** Returns what is different for each visitor, for after_restore.py. */
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

/**
 * Writes a layer into memory, where it differs from what is there.
 * @param {{ runs: number[], parts: Uint8Array, check?: number }} layer its content
 * @param {any} module Pyodide's module, with its memory
 * @param {number} used the size of the memory that may have something else than zeros
 * @returns {number} the checksum of what the layer left out in the lowest one, which has one; else 0
 */
function place({ runs, parts, check }, { HEAPU8: heap, HEAPU32: words }, used) {
  let at = 0;
  let placed = 0;
  let sum = 0;
  for (let index = 0; index < runs.length; index += 4) {
    const [same, own, zeros, part] = runs.slice(index, index + 4);
    if (check !== undefined)
      for (let word = at >>> 2; word < (at + same) >>> 2; word += 1) sum = Math.imul(sum ^ words[word], 0x01000193);
    at += same + own;
    if (at < used) heap.fill(0, at, Math.min(at + zeros, used));
    at += zeros;
    heap.set(parts.subarray(placed, placed + part), at);
    placed += part;
    at += part;
  }
  return sum >>> 0;
}
