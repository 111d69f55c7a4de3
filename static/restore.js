// Starts Python from a snapshot: its memory as the build has found it once everything was imported. What memory does not
// hold is put back elsewhere: native libraries by Pyodide, files by late.js, the visitor's surroundings by waking.py.
// A snapshot fits one build of Pyodide, one set of libraries and one set of the browser's features; where anything does
// not match, an error is thrown, and the page starts without it.

const MAGIC = 0x706e7300;
const HEADER = 48; // of Pyodide's own format: magic, offset, length, padding, 256 bits of build id
const PATIENCE = 4_000; // milliseconds that a first visit's download may take at the line's speed
const SLOW_BYTES = 625_000; // bytes a second (5 Mbit/s): below, a first visit starts without the snapshot

/** What of the browser decides whether a snapshot fits: each changes Pyodide's table of functions. */
export const features = () => ({
  jspi: "Suspending" in WebAssembly,
  functions: typeof WebAssembly.Function === "function",
});

/** Whether to start from the snapshot this time: it has to fit, and on a slow line to be here already. */
export async function chosen(files, absolute) {
  const { snapshot } = files;
  if (!snapshot || typeof DecompressionStream !== "function") return false;
  const found = features();
  if (Object.keys(found).some((name) => found[name] !== snapshot.features[name])) return false;
  const line = navigator.connection;
  if (!line?.downlink || (!line.saveData && line.downlink * 125_000 >= SLOW_BYTES)) return true;
  return isCached(absolute(snapshot.url));
}

/** Whether a file of this origin can be had without the network. */
async function isCached(url) {
  try {
    const options = { cache: "only-if-cached", mode: "same-origin", credentials: "same-origin" };
    const response = await fetch(url, options);
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false; // not there, or a page of opaque origin, which may not ask
  }
}

export class Snapshot {
  #meta = null;
  #chunks = [];

  /** `file`: the snapshot's entry in the boot config; `get` fetches and checks one. */
  constructor(file, get) {
    this.file = file;
    this.arrived = this.#read(get);
    this.arrived.catch(() => {}); // told by who waits for it
  }

  async #read(get) {
    const response = await get(this.file);
    const reader = response.body.pipeThrough(new DecompressionStream("gzip")).getReader();
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      this.#chunks.push(value);
    }
    performance.mark("mcpframe:unpacked");
    if (size !== this.file.unpacked) throw new Error("it is not as long as it was");
    const start = new DataView(this.#take(4).buffer).getUint32(0, true);
    this.#meta = JSON.parse(new TextDecoder().decode(this.#take(start)));
  }

  /** The next so many bytes of what was read, as a copy. */
  #take(count) {
    const taken = new Uint8Array(count);
    this.#move(count, (bytes, at) => taken.set(bytes, at));
    return taken;
  }

  #move(count, put) {
    for (let at = 0; at < count; ) {
      const chunk = this.#chunks[0];
      const part = chunk.length > count - at ? chunk.subarray(0, count - at) : chunk;
      put(part, at);
      at += part.length;
      if (part.length === chunk.length) this.#chunks.shift();
      else this.#chunks[0] = chunk.subarray(part.length);
    }
  }

  /** A snapshot in Pyodide's own format, without memory: that is put in place by `fill`, without a second copy. */
  async head() {
    await this.arrived;
    const text = new TextEncoder().encode(JSON.stringify(this.#meta.references));
    const head = new Uint8Array(Math.ceil((HEADER + text.length) / 16) * 16);
    const words = new Uint32Array(head.buffer);
    words.set([MAGIC, head.length, text.length, 0]);
    for (let word = 0; word < 8; word += 1) {
      words[4 + word] = parseInt(this.#meta.build.slice(word * 8, word * 8 + 8), 16);
    }
    head.set(text, HEADER);
    return head;
  }

  /** Puts memory in its place. */
  async fill(module) {
    await this.arrived;
    const { memory, table, runs } = this.#meta;
    if (module.wasmTable.length !== table) throw new Error(`its table has ${table} entries, not ${module.wasmTable.length}`);
    if (module.HEAPU8.length < memory) module.growMemory(memory);
    if (module.HEAPU8.length !== memory) throw new Error("it is of another size of memory");
    const heap = module.HEAPU8;
    let end = 0;
    for (let index = 0; index < runs.length; index += 2) {
      const start = end + runs[index];
      heap.fill(0, end, start);
      end = start + runs[index + 1];
      this.#move(runs[index + 1], (bytes, at) => heap.set(bytes, start + at));
    }
    heap.fill(0, end);
    this.#chunks = [];
    module._tzset();
    performance.mark("mcpframe:restored");
  }

  /** What Python has to know of this visit: see waking.py. */
  visitor() {
    const year = new Date().getFullYear();
    return {
      language: `${(navigator.language ?? "C").replace("-", "_")}.UTF-8`,
      zones: [new Date(year, 0, 1), new Date(year, 6, 1)].map((date) => date.getTimezoneOffset()),
      paths: this.file.paths,
    };
  }
}
