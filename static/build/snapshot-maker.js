// The build's own script, in no bundle: it has Python import the server in the very page that will be published, and
// hands its memory to the build. See mcpframe.kit.bundle.snapshot, which opens the page.

const EPOCH = Date.UTC(2025, 0, 1); // the time it always is here, so that the same inputs give the same memory

/** What happens while the author's module is imported and must not become part of a public file. */
const watch = { asked: null, draws: 0 };

function noticed(what) {
  watch.asked?.(what);
}

const later = globalThis.setTimeout;
const LISTING = 60_000; // milliseconds that the server's tools may take to be listed

/**
 * No chance, no clock and no network: what a snapshot holds is the same for everybody, and nobody's secret. On a slow
 * machine timers would come that do not on others, and JavaScript would collect what Python has given it, at any time.
 */
function isolate() {
  globalThis.setTimeout = globalThis.setInterval = () => 0;
  globalThis.FinalizationRegistry = class {
    register() {}
    unregister() {}
  };
  let state = 0x9e3779b9;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state & 255;
  };
  crypto.getRandomValues = (view) => {
    if (watch.asked) watch.draws += 1; // Python cannot be told in the middle of it
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = next();
    return view;
  };
  let now = 0;
  performance.now = () => (now += 0.001);
  Date.now = () => EPOCH + Math.floor(now);
}

/** The browser's globals, telling when one is taken. */
function watchedGlobals() {
  return new Proxy(globalThis, {
    get(target, name) {
      if (typeof name === "string") noticed(`js.${name}`);
      return Reflect.get(target, name, target);
    },
  });
}

/** Every file that Python could read, with its size and time of change. */
function listing(FS, folder = "/", found = new Map()) {
  for (const name of FS.readdir(folder)) {
    const path = folder === "/" ? `/${name}` : `${folder}/${name}`;
    if (name === "." || name === ".." || ["/dev", "/proc"].includes(path)) continue;
    const { mode, size, mtime } = FS.stat(path);
    if (FS.isDir(mode)) listing(FS, path, found);
    else found.set(path, `${size} ${mtime.getTime()}`);
  }
  return found;
}

const written = (before, after) => [...after].filter(([path, state]) => before.get(path) !== state).map(([path]) => path);

const opened = (FS) => FS.streams.filter((stream) => stream && stream.fd > 2).map(({ path }) => path);

/** The blocks that Python's allocator has and does not use: how many of each size, and whole pools. */
function freeBlocks(pyodide) {
  const lines = [];
  pyodide.setStderr({ batched: (line) => lines.push(line) });
  pyodide.runPython("import sys; sys._debugmallocstats()");
  pyodide.setStderr();
  const text = lines.join("\n");
  const sizes = [...text.matchAll(/^ *\d+ +(\d+) +\d+ +\d+ +(\d+)$/gm)].map(([, size, free]) => [Number(size), Number(free)]);
  const [, pools, bytes] = /(\d+) unused pools \* (\d+) bytes/.exec(text) ?? [0, 0, 0];
  return { sizes, unused: Number(pools) * Number(bytes) };
}

/** Sets what no longer belongs to anything to zero: the stack below its end, and memory that C has given back. */
function zero(module) {
  const end = module._emscripten_stack_get_end();
  module.HEAPU8.fill(0, end, module._emscripten_stack_get_current() - 4096);
  const held = [];
  const used = module.HEAPU32[module._emscripten_get_sbrk_ptr() >>> 2];
  for (let size = 1 << 22; size >= 16; size >>>= 1) {
    for (;;) {
      const at = module._malloc(size);
      if (!at) break;
      held.push(at);
      module.HEAPU8.fill(0, at, at + size);
      if (at + size > used) break; // that was new memory
    }
  }
  for (const at of held) module._free(at);
}

const BLOCK = 4096; // half of memory is zeros, in longer stretches than this

/**
 * Sends memory to the build, without what is zeros: 32-bit numbers, which are how many parts there are, the size of the
 * whole and for each part where it is and how long; then the parts. As a Blob, as the build's driver sees every request,
 * and takes no others of this size.
 */
async function send(name, bytes) {
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2);
  const parts = [];
  let from = -1; // where there is something since
  for (let at = 0; at <= bytes.length; at += BLOCK) {
    const isSomething = words.subarray(at >>> 2, (at + BLOCK) >>> 2).some((word) => word !== 0);
    if (isSomething && from < 0) from = at;
    if (!isSomething && from >= 0) {
      parts.push(bytes.subarray(from, at));
      from = -1;
    }
  }
  const places = parts.flatMap((part) => [part.byteOffset - bytes.byteOffset, part.length]);
  const body = new Blob([Uint32Array.of(parts.length, bytes.length, ...places), ...parts]);
  await fetch(name, { method: "POST", body });
}

/** The addresses of all words that differ. */
function differing(one, other) {
  const [words, others] = [one, other].map((bytes) => new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2));
  const found = [];
  for (let word = 0; word < Math.min(words.length, others.length); word += 1) {
    if (words[word] !== others[word]) found.push(word * 4);
  }
  return found;
}

/** Sends memory before Python runs, with zeros where it is not the same in every page, and says which words are drawn. */
async function start(_job, { memoryAtStart }) {
  // Of two visits, and of somebody whose language has a longer name, which moves things.
  const memory = await memoryAtStart();
  const drawnOrTimed = differing(memory, await memoryAtStart());
  const moved = differing(memory, await memoryAtStart({ LANG: "x".repeat(64) }));
  for (const at of [...drawnOrTimed, ...moved]) memory.fill(0, at, at + 4);
  await send("start", memory);
  return { drawnOrTimed };
}

/** What the program's functions are called with, as Python. */
function arguments_({ entry, kind, settings }) {
  return `${entry ? JSON.stringify(entry) : "None"}, ${JSON.stringify(kind)}, ${JSON.stringify(settings)}`;
}

async function take(job, { startPython, features }) {
  isolate();
  let own, drawn;
  const settings = { _makeSnapshot: true, jsglobals: watchedGlobals(), env: job.env };
  const pyodide = await startPython(settings, (module) => {
    // What native code keeps at an address of its own, as what it has drawn at random, stays each visit's own.
    const end = module._emscripten_stack_get_end();
    own = job.drawnOrTimed.filter((at) => at < end);
    drawn = own.map((at) => module.HEAPU32[at >>> 2]);
  });
  const { _module: module, FS } = pyodide;
  pyodide.runPython(job.program, { filename: "/mcpframe/prepare_snapshot.py" });
  const asked = pyodide.globals.get("asked");
  const before = listing(FS);
  await pyodide.runPythonAsync("await prepare()");
  if (job.entry) {
    watch.asked = asked;
    pyodide.runPython(`load(${arguments_(job)})`);
    watch.asked = null;
  }
  const listed = pyodide.runPythonAsync("await finish()");
  const found = JSON.parse(await Promise.race([listed, new Promise((resolve) => later(resolve, LISTING, "null"))]));
  if (!found) return { found: { waits: true } };
  asked.destroy();
  const isUsed = own.some((at, index) => module.HEAPU32[at >>> 2] !== drawn[index]);
  if (watch.draws || isUsed) found.asked ??= { what: "randomness" };
  found.written = written(before, listing(FS));
  found.opened = opened(FS);
  if (found.error || found.asked || found.tasks || found.written.length || found.opened.length) return { found };
  pyodide.runPython("clean()");
  pyodide.globals.get("fill")(JSON.stringify(freeBlocks(pyodide)));
  pyodide.runPython("del fill; import gc; gc.freeze(); del gc");
  for (const name of Object.keys(pyodide.loadedPackages)) delete pyodide.loadedPackages[name]; // Pyodide insists
  const table = module.wasmTable.length;
  zero(module);
  let image;
  try {
    image = pyodide.makeMemorySnapshot();
  } catch (error) {
    return { found: { ...found, held: String(error.message) } };
  }
  const words = new Uint32Array(image.buffer, 0, 12);
  const references = JSON.parse(new TextDecoder().decode(image.subarray(48, 48 + words[2])));
  const build = [...words.subarray(4)].map((word) => word.toString(16).padStart(8, "0")).join("");
  await send("memory", image.subarray(words[1]));
  return { found, own, table, build, references, features: features() };
}

async function check(job, { restorePython }) {
  const pyodide = await restorePython();
  pyodide.runPython(job.program, { filename: "/mcpframe/prepare_snapshot.py" });
  return JSON.parse(await pyodide.runPythonAsync(`await check(${arguments_(job)})`));
}

const STEPS = { start, take, check };

/** Does what the build wants, and tells it the outcome. */
export async function make(starts) {
  const job = await (await fetch("job.json")).json();
  let outcome;
  try {
    outcome = await STEPS[job.step](job, starts);
  } catch (error) {
    outcome = { failure: String(error?.message ?? error), stack: String(error?.stack) };
  }
  await fetch("outcome", { method: "POST", body: JSON.stringify(outcome) });
}
