// The second files of WebAssembly modules that a build has split: they have the functions that serving seldom runs. A start
// that runs everything links them at once, any other once the page is quiet. A call of such a function before that fetches
// its file by a synchronous request, as native code cannot wait. See mcpframe/kit/bundle/wasm/split.py.
import { fetchNow } from "./fetch-now.js";
import { asWasm } from "./linking.js";
import { addressOf } from "./surroundings.js";

const SHARED = "mcpframe:"; // what the names begin with that a first file exports for its second
const DATA = "mcpframe:data"; // the section of a library's second file with its data: place, size and bytes of each part
const LOADER = 0; // its place in the table that both call each other through

export class SecondFiles {
  #waiting = new Map(); // from the entry of a second file to the function that links it
  bases = new Map(); // from the address of a second file to where the data of its module begins

  /**
   * Keeps what a first file, just linked, exports for its second.
   * @param file its entry in the boot config
   * @param {WebAssembly.Exports} exports
   * @param {WebAssembly.Imports} imports
   * @returns {WebAssembly.Exports} what it exports for Emscripten
   */
  expect({ second }, exports, imports) {
    if (!second) return exports;
    const entries = Object.entries(exports);
    const mcpframe = Object.fromEntries(entries.filter(([name]) => name.startsWith(SHARED)));
    const { "mcpframe:table": table, "mcpframe:loaded": loaded } = /** @type {any} */ (mcpframe);
    const { env } = /** @type {any} */ (imports);
    const [memory, base] = exports.memory ? [exports.memory, 0] : [env.memory, env.__memory_base]; // Python's, or a library
    this.bases.set(second.url, base);
    this.#waiting.set(second, (module) => {
      for (const data of WebAssembly.Module.customSections(module, DATA)) write(memory, base, data);
      new WebAssembly.Instance(module, { ...imports, mcpframe });
      loaded.value = 1;
    });
    const load = Object.assign(() => this.#loadNow(second), { sig: "v" });
    table.set(LOADER, asWasm([load]).get(load));
    return Object.fromEntries(entries.filter(([name]) => !name.startsWith(SHARED)));
  }

  /**
   * Links all that are expected.
   * @param {(file: any) => Promise<WebAssembly.Module>} compile fetches and compiles a file
   */
  async come(compile) {
    await Promise.all([...this.#waiting.keys()].map(async (second) => this.#link(second, await compile(second))));
  }

  #loadNow(second) {
    performance.mark(`mcpframe:second file ${second.url}`, { detail: new Error("called by").stack });
    this.#link(second, new WebAssembly.Module(fetchNow(addressOf(second), second)));
  }

  #link(second, module) {
    this.#waiting.get(second)?.(module); // unless a call came first
    this.#waiting.delete(second);
  }
}

/** Writes the data of a library where its module begins. */
function write({ buffer }, base, data) {
  const view = new DataView(data);
  for (let at = 0; at < data.byteLength; ) {
    const [place, size] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
    new Uint8Array(buffer, base + place, size).set(new Uint8Array(data, at + 8, size));
    at += 8 + size;
  }
}
