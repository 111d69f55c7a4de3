// Starts Python from a snapshot: a copy of its memory that the build took after all imports. Everything that is not in
// memory is restored elsewhere: native libraries by Pyodide, files by background-files.js, and the visitor's language,
// time zone and so on by after_restore.py. A snapshot fits one build of Pyodide and one set of libraries. If anything does
// not match, an error is thrown and the page starts without the snapshot.

import { contentOf } from "./layer-content.js";
import { remember } from "./remembered.js";

const MAGIC = 0x706e7300; // the first word of Pyodide's own snapshots: "\0snp"
const HEADER = 48; // bytes, in Pyodide's format: magic, offset, length, padding, 256 bits of build id

/** Returns the line for the console if the snapshot is not used. */
export const unused = (reason) => `The snapshot of this page is not used (${reason}); it starts without it.`;

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

/** @typedef {import("./fetch-layers.js").Layer} Layer */

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
    this.#layers = layers.map(({ bytes, content = contentOf(bytes), checked }) => ({ ...content, checked }));
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
      const sum = place(layer, module.HEAPU32, used >>> 2);
      if (layer.links) link(module.HEAPU32, layer.links);
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

const FEW = 32; // words that are copied faster one by one: in a difference most parts are of one or two

/**
 * Writes a layer into memory, where it differs from what is there. All sizes are in words.
 * @param {import("./layer-content.js").Content} layer its content
 * @param {Uint32Array} words the memory
 * @param {number} used the size of the memory that may have something else than zeros
 * @returns {number} the checksum of what the layer left out in the lowest one, which has one; else 0
 */
function place({ runs: [same, own, zeros, part], parts, check }, words, used) {
  let at = 0;
  let placed = 0;
  let sum = 0;
  for (let run = 0; run < part.length; run += 1) {
    if (check !== undefined) sum = checksum(words, at, at + same[run], sum);
    at += same[run] + own[run];
    if (at < used) words.fill(0, at, Math.min(at + zeros[run], used));
    at += zeros[run];
    const end = placed + part[run];
    if (part[run] > FEW) words.set(parts.subarray(placed, end), at);
    else for (let index = 0; index < part[run]; index += 1) words[at + index] = parts[placed + index];
    at += part[run];
    placed = end;
  }
  return sum >>> 0;
}

const FLAGS = 3; // the low bits of both words of a link

/**
 * Writes the list of the objects that Python's garbage collector tracks: the address of the next link and of the previous
 * one, in place of the distance to the next.
 * @param {Uint32Array} words the memory
 * @param {number} first the address of the first link
 */
function link(words, first) {
  let at = first;
  do {
    const word = words[at >>> 2];
    const following = at + ((word & ~FLAGS) >>> 0);
    const isLast = following === at || following >= words.byteLength; // the latter where the file's hash is wrong
    const next = isLast ? first : following;
    words[at >>> 2] = next | (word & FLAGS);
    words[(next >>> 2) + 1] |= at;
    at = next;
  } while (at !== first);
}

/** Continues the checksum of words (FNV-1a). */
function checksum(words, from, to, sum) {
  for (let word = from; word < to; word += 1) sum = Math.imul(sum ^ words[word], 0x01000193);
  return sum;
}
