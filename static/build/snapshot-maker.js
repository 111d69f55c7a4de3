// Runs a build's programs in the page that will be published, and takes its snapshot; no bundle has this script. It sends
// the results to the build, mcpframe.kit.bundle.snapshot.camera, which has opened the page.

const EPOCH = Date.UTC(2025, 0, 1); // a fixed time, so that the same inputs result in the same memory

/** Uses, during the import of the author's module, of what must not become part of a public file. */
const watch = { asked: null, constructs: false, draws: 0 };

function noticed(what) {
  watch.asked?.(what);
}

const later = globalThis.setTimeout;
const LISTING = 60_000; // milliseconds: the deadline for listing the server's tools
const LATER = 123_456_789; // milliseconds

/**
 * Replaces randomness, clocks, timers and finalizers, so that a snapshot is the same on every machine and holds no secret.
 * Timers would fire on slow machines only, and finalizers run at any time.
 */
function isolate() {
  globalThis.setTimeout = globalThis.setInterval = () => 0;
  globalThis.FinalizationRegistry = /** @type {any} */ (
    class {
      register() {}
      unregister() {}
    }
  );
  let state = 0x9e3779b9;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state & 255;
  };
  crypto.getRandomValues = (view) => {
    if (watch.asked || watch.constructs) watch.draws += 1; // Python cannot be called at this point
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = next();
    return view;
  };
  let now = 0;
  performance.now = () => (now += 0.001);
  Date.now = () => EPOCH + Math.floor(now);
}

/**
 * Returns the browser's globals, and notes each use of one. Storage is not among them: the server that is served for the
 * snapshot would open it, Pyodide's proxies of globals do not let it be read (`navigator.locks` is an "Illegal invocation"),
 * and a page of an opaque origin could not restore a reference to it.
 */
function watchedGlobals() {
  return new Proxy(globalThis, {
    get(target, name) {
      if (typeof name === "string") noticed(`js.${name}`);
      return name === "localStorage" ? undefined : Reflect.get(target, name, target);
    },
  });
}

/** Returns every file that Python can read, with its size and modification time. */
function listing(FS, folder = "/", files = new Map()) {
  for (const name of FS.readdir(folder)) {
    const path = folder === "/" ? `/${name}` : `${folder}/${name}`;
    if (name === "." || name === ".." || ["/dev", "/proc"].includes(path)) continue;
    const { mode, size, mtime } = FS.stat(path);
    if (FS.isDir(mode)) listing(FS, path, files);
    else files.set(path, `${size} ${mtime.getTime()}`);
  }
  return files;
}

const written = (before, after) =>
  [...after].filter(([path, state]) => before.get(path) !== state).map(([path]) => path);

const opened = (FS) => FS.streams.filter((stream) => stream && stream.fd > 2).map(({ path }) => path);

/** Returns the unused blocks of Python's allocator: how many of each size, and the bytes of unused pools. */
function freeBlocks(pyodide) {
  const lines = [];
  pyodide.setStderr({ batched: (line) => lines.push(line) });
  pyodide.runPython("import sys; sys._debugmallocstats()");
  pyodide.setStderr();
  const text = lines.join("\n");
  const sizes = [...text.matchAll(/^ *\d+ +(\d+) +\d+ +\d+ +(\d+)$/gm)].map(([, size, free]) => [
    Number(size),
    Number(free),
  ]);
  const [, pools, bytes] = /(\d+) unused pools \* (\d+) bytes/.exec(text) ?? [0, 0, 0];
  return { sizes, unused: Number(pools) * Number(bytes) };
}

/** Fills unused memory with zeros: the unused part of the stack, and the memory that C has freed. */
function zero(module) {
  const end = module._emscripten_stack_get_end();
  module.HEAPU8.fill(0, end, module._emscripten_stack_get_current() - 4096);
  const held = [];
  const used = module.HEAPU32[module._emscripten_get_sbrk_ptr() >>> 2];
  for (let size = 1 << 16; size >= 16; size >>>= 1) {
    for (;;) {
      const at = module._malloc(size);
      if (!at) break;
      held.push(at);
      module.HEAPU8.fill(0, at, at + size);
      if (at + size > used) break; // this memory is new
    }
  }
  for (const at of held) module._free(at);
}

const BLOCK = 4096; // bytes; half of memory is zeros, in longer runs than this

/**
 * Sends memory to the build, without its zeros: 32-bit numbers for the number of parts, the size of the whole, and the
 * position and length of each part; then the parts. It is a Blob, as Playwright sees every request and cannot take another
 * kind of body of this size.
 */
async function send(name, bytes) {
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2);
  const parts = [];
  let from = -1; // where the current part begins
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

/** Returns the addresses of all words that differ. */
function differing(one, other) {
  const [words, others] = [one, other].map(
    (bytes) => new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2),
  );
  const addresses = [];
  for (let word = 0; word < Math.min(words.length, others.length); word += 1) {
    if (words[word] !== others[word]) addresses.push(word * 4);
  }
  return addresses;
}

/** Sets the clocks forward: every word of a time then differs, also between pages that start within one second. */
function setForward() {
  const [now, date] = [performance.now.bind(performance), Date.now];
  performance.now = () => now() + LATER;
  Date.now = () => date() + LATER;
}

/** Sends memory as it is before Python runs, with zeros for the words that differ from page to page; returns these. */
async function start(_job, { memoryAtStart }) {
  // The last page has a long environment variable, which moves data in memory.
  const { memory, bases } = await memoryAtStart();
  setForward();
  const { memory: second } = await memoryAtStart();
  setForward();
  const { memory: third } = await memoryAtStart();
  const moved = differing(memory, (await memoryAtStart({ LANG: "x".repeat(64) })).memory);
  const others = [differing(memory, third), differing(second, third)].map((addresses) => new Set(addresses));
  const differ = differing(memory, second);
  // Drawn values and times are another in each page. A flag, which is set or not when memory is read, has two values.
  const drawnOrTimed = differ.filter((at) => others.every((addresses) => addresses.has(at)));
  for (const at of [...differ, ...others.flatMap((addresses) => [...addresses]), ...moved]) memory.fill(0, at, at + 4);
  await send("start", memory);
  return { drawnOrTimed, bases };
}

/** Returns the address at which Python finds its call trampoline: some browsers have none. */
function trampoline({ HEAPU32, __PyRuntime, __PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET }) {
  return __PyRuntime + HEAPU32[__PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET >>> 2];
}

/** Returns the number of entries that Python has added to the table of functions: a restored page lacks them. */
function callbacks({ wasmTable, freeTableIndexes }, linked, unused) {
  const still = new Set(freeTableIndexes);
  const added = Array.from({ length: wasmTable.length - linked }, (_, place) => linked + place);
  return [...unused, ...added].filter((place) => !still.has(place)).length;
}

/** The arguments of the program's functions, as Python. */
function arguments_({ entry, kind, settings }) {
  return `${entry ? JSON.stringify(entry) : "None"}, ${JSON.stringify(kind)}, ${JSON.stringify(settings)}`;
}

const packagesOf = ({ packages, settings }) => `${JSON.stringify(packages)}, ${JSON.stringify(settings)}`;

async function take(job, { startPython, restorePython, paths }) {
  isolate();
  /** @type {number[]} */
  let own = [];
  let drawn;
  let linked = 0; // entries of the table of functions, without those that Python adds
  let unused = new Set(); // the free ones among them
  const settings = { _makeSnapshot: true, jsglobals: watchedGlobals(), env: job.env };
  const begun = (module) => {
    // Random values that native code keeps at fixed addresses stay those of each visit.
    const end = module._emscripten_stack_get_end();
    own = job.drawnOrTimed.filter((at) => at < end);
    drawn = own.map((at) => module.HEAPU32[at >>> 2]);
    linked = module.wasmTable.length;
    unused = new Set(module.freeTableIndexes);
  };
  const constructing = (construct) => {
    watch.constructs = true;
    construct();
    watch.constructs = false;
  };
  const start = job.continues ? restorePython : startPython;
  const pyodide = await start(settings, begun, constructing);
  const { _module: module, FS } = pyodide;
  pyodide.runPython(job.program, { filename: "/mcpframe/prepare_snapshot.py" });
  const asked = pyodide.globals.get("asked");
  const before = listing(FS);
  if (job.continues) pyodide.runPython(`continue_path(${JSON.stringify(paths)})`);
  await pyodide.runPythonAsync(`await prepare(${JSON.stringify(job.settings)}, ${JSON.stringify(job.modules)})`);
  if (!job.continues) {
    pyodide.runPython(job.rehearsal, { filename: "/mcpframe/rehearse.py" });
    await pyodide.runPythonAsync("await rehearse()");
    const kept = JSON.parse(pyodide.runPython(`drop_modules(${JSON.stringify(job.drops)})`));
    if (kept.length) return { found: { kept } };
  }
  let drawsOfASeed = 0;
  const packages = JSON.parse(job.packages);
  if (job.entry || packages.length) {
    const earlier = watch.draws;
    watch.asked = asked;
    pyodide.runPython("random.Random()");
    drawsOfASeed = watch.draws - earlier;
    watch.draws = earlier;
    pyodide.runPython(job.entry ? `load(${arguments_(job)})` : `load_packages(${packagesOf(job)})`);
    watch.asked = null;
  }
  const listed = pyodide.runPythonAsync("await finish()");
  const evidence = JSON.parse(await Promise.race([listed, new Promise((resolve) => later(resolve, LISTING, "null"))]));
  if (!evidence) return { found: { waits: true } };
  asked.destroy();
  const isUsed = own.some((at, index) => module.HEAPU32[at >>> 2] !== drawn[index]);
  if (watch.draws !== evidence.harmless + evidence.seeds * drawsOfASeed || isUsed)
    evidence.asked ??= { what: "randomness" };
  evidence.written = written(before, listing(FS));
  evidence.opened = opened(FS);
  if (evidence.error || evidence.asked || evidence.tasks || evidence.written.length || evidence.opened.length)
    return { found: evidence };
  pyodide.runPython("clean()");
  pyodide.globals.get("fill")(JSON.stringify(freeBlocks(pyodide)));
  // The garbage collector's link of an object is in the two words before it.
  const links = pyodide.runPython("del fill; import gc; gc.freeze(); del gc; id(__import__('sys').modules)") - 8;
  for (const name of Object.keys(pyodide.loadedPackages)) delete pyodide.loadedPackages[name]; // Pyodide requires it
  const added = callbacks(module, linked, unused);
  if (added) return { found: { ...evidence, callbacks: added } };
  zero(module);
  let image;
  try {
    image = pyodide.makeMemorySnapshot();
  } catch (error) {
    return { found: { ...evidence, held: String(error.message) } };
  }
  const words = new Uint32Array(image.buffer, 0, 12);
  const references = JSON.parse(new TextDecoder().decode(image.subarray(48, 48 + words[2])));
  const build = [...words.subarray(4)].map((word) => word.toString(16).padStart(8, "0")).join("");
  await send("memory", image.subarray(words[1]));
  return { found: evidence, own: [...own, trampoline(module)], table: linked, links, build, references };
}

async function check(job, { restorePython }) {
  const pyodide = await restorePython();
  pyodide.runPython(job.program, { filename: "/mcpframe/prepare_snapshot.py" });
  return JSON.parse(await pyodide.runPythonAsync(`await check(${arguments_(job)})`));
}

const base64 = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));

/** Raises KeyboardInterrupt in Python after a time, as in node-python.mjs. */
function interruptAfter(pyodide, seconds) {
  if (!(seconds > 0)) return;
  let end = performance.now() + seconds * 1000;
  const signals = {
    get 0() {
      if (performance.now() < end) return 0;
      end = Number.POSITIVE_INFINITY;
      return 2; // SIGINT
    },
    set 0(_) {}, // Python resets it
  };
  pyodide.setInterruptBuffer(signals);
}

const FOLDERS = ["/in", "/out"];

/**
 * Runs a program of the build as node-python.mjs does, and another one before it, if the job has one. A program's files are
 * in the folder /in, and its results in /out. The build gets the outcome of the first one before anything of the author's
 * runs, and a message when the other begins, as its time limit begins then.
 */
async function run(job, { startPython, restorePython }) {
  const restored = job.restores && (await restorePython().catch((error) => console.warn(error)));
  const pyodide = restored || (await startPython({}));
  if (job.first) {
    const outcome = await apart(pyodide, () => execute(pyodide, job.first));
    await fetch("first", { method: "POST", body: JSON.stringify(outcome) });
  }
  return execute(pyodide, job, () => fetch("begun", { method: "POST" }));
}

const BEFORE = `import sys
path, modules = sys.path[:], set(sys.modules)
sys.path[:] = [folder for folder in path if not folder.startswith("/mcpframe/")]
`;
const AFTER = `sys.path[:] = path
for name in set(sys.modules) - modules - set(sys.builtin_module_names):
    del sys.modules[name]
`;

/**
 * Calls `act` while Python finds nothing of the author's, as its results are cached for other builds; and forgets what it
 * imports, as the server's own imports are noted later. Modules in C stay: Python keeps pointers into `unicodedata`.
 */
async function apart(pyodide, act) {
  const globals = pyodide.toPy({});
  pyodide.runPython(BEFORE, { globals });
  const outcome = await act();
  pyodide.runPython(AFTER, { globals });
  return outcome;
}

async function execute(pyodide, { name, program, env, files }, begins = async () => null) {
  const { FS } = pyodide;
  for (const folder of files ? FOLDERS : []) FS.mkdir(folder);
  for (const [file, data] of Object.entries(files ?? {})) {
    FS.writeFile(
      `/in/${file}`,
      Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0)),
    );
  }
  const environ = pyodide.pyimport("os").environ;
  for (const [variable, value] of Object.entries(env)) environ.set(variable, value);
  const globals = pyodide.toPy({ __name__: "__main__" });
  pyodide.runPython(program, { filename: name, globals });
  await begins();
  interruptAfter(pyodide, Number(env.MCPFRAME_LIMIT));
  const result = await pyodide.runPythonAsync("import json; json.dumps(await main())", { globals });
  const written = files ? inside(FS, "/out") : [];
  const outcome = Object.fromEntries(written.map((file) => [file, base64(FS.readFile(`/out/${file}`))]));
  for (const folder of files ? FOLDERS : []) {
    for (const file of inside(FS, folder)) FS.unlink(`${folder}/${file}`);
    FS.rmdir(folder);
  }
  return { result, files: outcome };
}

const inside = (FS, folder) => FS.readdir(folder).filter((name) => name !== "." && name !== "..");

const STEPS = { start, take, check, run };

/** Runs the build's job and sends the outcome; called by loader.js. */
globalThis.mcpframeSnapshotMaker = async function make(starts) {
  const job = await (await fetch("job.json")).json();
  let outcome;
  try {
    outcome = await STEPS[job.step](job, starts);
  } catch (error) {
    outcome = { failure: String(error?.message ?? error), stack: String(error?.stack) };
  }
  await fetch("outcome", { method: "POST", body: JSON.stringify(outcome) });
};
