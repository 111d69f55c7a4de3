// Starts Python in this page, or in a worker of it: fetches all files at once (bundle-files.js), unpacks them, and calls
// mcpframe.frame.boot. It knows nothing of MCP. The user's view of the start, and its errors, are in page.js.
import { textOrReason } from "../host/host-json.js";
import { BackgroundFiles } from "./background-files.js";
import { BootError, bytes, bytesInBackground, compile, get, page, program, script } from "./bundle-files.js";
import { DeferredModules } from "./deferred-modules.js";
import { Ending } from "./ending.js";
import { followSize } from "./fitting.js";
import { asWasm, hasCopies, headOf, replaceCopies, settleLibraries } from "./linking.js";
import { fetchSnapshot } from "./fetch-layers.js";
import { readFor } from "./read-now.js";
import { isChosen } from "./remembered.js";
import { Snapshot, fetchForNextTime, unused } from "./restore.js";
import { SecondFiles } from "./second-files.js";
import { absolute, addressOf, config, given, ofPage, withResolvers } from "./surroundings.js";
import { settle, unpack } from "./unzip.js";
import { Workers } from "./workers.js";

// mcpframe.frame.browser.window reads messages with it.
globalThis.mcpframeText = (data, isWanted) => textOrReason(data, {}, isWanted);
globalThis.mcpframeFollowSize = (report, isDrawn) => followSize(report, config.size, isDrawn);
globalThis.mcpframeOfPage = ofPage; // for mcpframe.frame.browser.fetching

const files = config.files;
const ending = new Ending((title, detail) => page.fail(title, detail));
const isServed = config.runs_in === "worker" && !given; // in a worker of this page
const isSetup = isServed && new RegExp(config.setup_hash).test(location.hash); // then Python needs no worker
const workers = isServed || (config.processes && given?.kind !== "process") ? new Workers(program) : null;

// A zip file without members.
const EMPTY_ZIP = new Uint8Array([0x50, 0x4b, 5, 6, ...new Array(18).fill(0)]);

/**
 * Runs `start` while Pyodide's fetches and compilations are answered from those under way, so that nothing is fetched or
 * compiled twice.
 * @param responses a Map from URL to a function that returns a promise of the response
 * @param module a promise of the compiled Python interpreter
 * @param libraries a Map from the buffer that stands for a library to the compiled library and its entry
 * @param settleExports returns the exports of a module that has been linked, for Emscripten
 * @param constructors gets the functions that set up the author's libraries, which may need Python
 */
async function withLoaded(responses, module, libraries, settleExports, constructors, start) {
  const { fetch: originalFetch } = globalThis;
  const { instantiate, instantiateStreaming } = WebAssembly;
  let copies;
  const linked = async (file, compiled, imports) => {
    const instance = await instantiate.call(WebAssembly, compiled, imports);
    copies ??= hasCopies(); // here, where WebAssembly is known to be allowed
    if (copies) replaceCopies(instance, imports);
    return { module: compiled, instance: { exports: await settleExports(file, instance.exports, imports) } };
  };
  const linkedLibrary = async ({ compiled, file }, imports) => {
    const { module: done, instance } = await linked(file, compiled, imports);
    if (!file.own || !instance.exports.__wasm_call_ctors) return { module: done, instance };
    const { __wasm_call_ctors: construct, ...exports } = instance.exports;
    constructors.push(construct);
    return { module: done, instance: { exports } };
  };
  globalThis.fetch = (resource, options) => {
    const url = typeof resource === "string" || resource instanceof URL ? absolute(resource) : "";
    return responses.get(url)?.() ?? originalFetch(resource, options);
  };
  WebAssembly.instantiateStreaming = async (source, imports) => {
    if (source !== module) return instantiateStreaming.call(WebAssembly, source, imports);
    return linked(files.wasm, await module, imports);
  };
  /** @type {any} */ (WebAssembly).instantiate = async (source, imports) => {
    const library = libraries.get(source?.buffer);
    return library ? linkedLibrary(library, imports) : instantiate.call(WebAssembly, source, imports);
  };
  try {
    return await start();
  } finally {
    globalThis.fetch = originalFetch;
    Object.assign(WebAssembly, { instantiate, instantiateStreaming });
  }
}

/** The downloads that every start needs, all started at once. */
class Arrivals {
  /**
   * @param linked how many of the libraries are linked before Python runs
   * @param whole whether the start runs code of the second files
   */
  constructor(linked = files.libraries.length, whole = true) {
    this.failed = withResolvers();
    this.secondFiles = new SecondFiles();
    this.constructors = []; // of the author's libraries, to be called once Python runs; a snapshot has their effects
    this.wasm = this.watched(compile(files.wasm));
    const compiled = (file) => ({ ...file, library: this.watched(compile(file)) });
    this.linked = files.libraries.slice(0, linked).map(compiled);
    const seconds = whole ? [files.wasm, ...this.linked].flatMap(({ second }) => second ?? []) : [];
    this.seconds = new Map(seconds.map((second) => [second, this.watched(compile(second))]));
    page.expect([files.wasm, ...files.libraries, ...seconds]);
    this.others = files.libraries.slice(linked).map((file) => ({ ...file, data: this.watched(bytes(file)) }));
    this.scripts = this.watched(
      Promise.all([script(files.pyodide, "mcpframePyodide"), script(files.asm, "mcpframePyodideModule")]),
    );
  }

  /** Waits until all downloads have arrived, so that memory does not depend on the order of their arrival. */
  async complete() {
    await Promise.all([
      this.wasm,
      this.scripts,
      ...this.linked.map(({ library }) => library),
      ...this.seconds.values(),
    ]);
  }

  /** Returns everything compiled, by URL. */
  async compiled() {
    const all = [
      [files.wasm, this.wasm],
      ...this.linked.map(({ library, ...file }) => [file, library]),
      ...this.seconds,
    ];
    return new Map(await Promise.all(all.map(async ([{ url }, module]) => /** @type {const} */ ([url, await module]))));
  }

  // Pyodide swallows some failures of its fetches, so `start` also waits for ours.
  watched(promise) {
    promise.catch(this.failed.reject);
    return promise;
  }

  /**
   * Starts Pyodide. It gets the libraries before it runs, so that each is at the same place in memory every time, as a
   * snapshot requires.
   * @param {object} how
   * @param {(FS: any, info: any) => any} how.fsInit writes files into Python's file system
   * @param {any} [how.more] further settings of Pyodide
   * @param {(module: any) => void} [how.begun] is called with Pyodide's module once its code has loaded and before Python runs
   * @param {(module: any) => any} [how.finish] is called with Pyodide's module in place of starting Python, to put a snapshot into its memory
   */
  async start({ fsInit, more = {}, begun = () => {}, finish = () => {} }) {
    const [loadPyodide, createPyodideModule] = await this.scripts;
    const noStdlib = absolute("no-stdlib.zip"); // `fsInit` unpacks Python's library; Pyodide insists on a zip file
    const libraries = new Map();
    const linking = async (file) => {
      const compiled = await file.library;
      const { buffer } = headOf(compiled);
      libraries.set(buffer, { compiled, file });
      return { ok: true, arrayBuffer: async () => buffer };
    };
    const responses = new Map([
      [absolute(files.wasm.url), () => this.wasm],
      [noStdlib, () => Promise.resolve(new Response(EMPTY_ZIP))],
      ...this.linked.map((file) => [addressOf(file), () => linking(file)]),
    ]);
    const urls = new Map(this.linked.map((file) => [file.neededAs ?? file.path, addressOf(file)]));
    const settings = {
      createPyodideModule: async (options) => {
        const { locateFile } = options;
        options.dynamicLibraries = [...urls.keys()];
        options.asWasm = asWasm;
        options.onRuntimeInitialized = () => {
          settleLibraries(options, this.linked);
          performance.mark("mcpframe:linked");
          begun(options);
        };
        options.locateFile = (path) => urls.get(path) ?? locateFile(path);
        const module = await createPyodideModule(options);
        ending.watch(module.API);
        await finish(module);
        return module;
      },
      indexURL: absolute(files.pyodide.url).replace(/[^/]*$/, ""),
      stdLibURL: noStdlib,
      packageBaseUrl: absolute(""),
      lockFileContents: files.lock,
      stdin: () => null, // nobody can answer input() in a frame
      fsInit,
      ...more,
      env: { ...files.env, ...more.env },
    };
    const settleExports = async (file, exports, imports) => {
      const settled = this.secondFiles.expect(file, exports, imports);
      if (this.seconds.has(file.second)) await this.secondFiles.come((second) => this.seconds.get(second));
      return settled;
    };
    // Emscripten does not report an error of a library that it links, and would wait for ever.
    const fail = ({ reason }) => {
      if (reason instanceof WebAssembly.RuntimeError) this.watched(Promise.reject(reason));
    };
    addEventListener("unhandledrejection", fail);
    return Promise.race([
      withLoaded(responses, this.wasm, libraries, settleExports, this.constructors, () => loadPyodide(settings)),
      this.failed.promise,
    ]).finally(() => removeEventListener("unhandledrejection", fail));
  }
}

/** Starts Python without a snapshot, from the files of its library. */
async function startPython(arrivals, more, begun, constructing = null) {
  page.progress("Loading");
  workers?.give(arrivals.compiled(), null);
  page.expect([...files.archives, ...(files.deferred.atStart ? [files.deferred] : [])]);
  const archives = files.archives.map((file) => ({ ...file, zip: arrivals.watched(bytes(file)) }));
  const deferredArchive = files.deferred.atStart ? arrivals.watched(bytes(files.deferred)) : null;
  const deferred = new DeferredModules(addressOf(files.deferred), files.deferred);
  if (constructing) await Promise.all([deferredArchive, ...archives.map(({ zip }) => zip)]);
  const fsInit = async (FS) => {
    performance.mark("mcpframe:wasm");
    for (const { zip, to } of archives) unpack(FS, await zip, to, deferred);
    performance.mark("mcpframe:unpacked");
    deferred.place(FS, await deferredArchive);
    settle(FS, files.archives);
    performance.mark("mcpframe:files");
    page.progress("Starting Python");
  };
  const pyodide = await arrivals.start({ fsInit, more, begun });
  const construct = () => {
    for (const one of arrivals.constructors) one();
  };
  if (constructing) constructing(construct);
  else construct();
  readFor(pyodide._module);
  performance.mark("mcpframe:python");
  const path = pyodide.pyimport("sys").path;
  path.remove(files.stdlib_zip); // the empty zip file
  path.insert(0, files.server_path);
  for (const folder of files.paths) path.append(folder);
  path.destroy();
  pyodide.FS.mkdirTree(files.server_path); // a build also starts pages without the author's files
  pyodide.FS.chdir(files.server_path);
  performance.mark("mcpframe:libraries");
  return pyodide;
}

/** Returns copies of the snapshot's layers for workers, once their hashes are known to be right. */
async function copiesOf(fetched) {
  const layers = await fetched;
  const copies = layers.map(({ bytes }) => bytes.slice());
  await Promise.all(layers.map(({ checked }) => checked));
  return copies;
}

/**
 * Starts Python from its snapshot. The files of its library are fetched later, or when the first of them is read.
 * @param {any} [more] further settings of Pyodide
 * @param {(module: any) => void} [begun] see `Arrivals.start`
 */
async function restorePython(more, begun) {
  const fetched = given ? given.image : fetchSnapshot(files.snapshot, get, compile, page.loaded);
  const snapshot = new Snapshot(files.snapshot, fetched);
  const runsAll = more?._makeSnapshot || files.snapshot.layers.at(-1).name !== "server"; // which it imports
  const arrivals = new Arrivals(files.snapshot.libraries, runsAll);
  workers?.give(arrivals.compiled(), copiesOf(fetched));
  page.progress("Loading");
  page.expect([...files.snapshot.layers, files.snapshot.decoder]);
  const background = new BackgroundFiles(files, addressOf, bytesInBackground);
  const first = background.expect(files.snapshot.files, (file) => arrivals.watched(bytes(file)));
  if (more?._makeSnapshot) await Promise.all([arrivals.complete(), snapshot.arrived, first]);
  const pyodide = await arrivals.start({
    fsInit: async (FS) => background.place(FS, await first),
    more: { ...more, _loadSnapshot: snapshot.head() },
    begun,
    finish: (module) => snapshot.fill(module),
  });
  readFor(pyodide._module);
  performance.mark("mcpframe:python");
  pyodide.FS.mkdirTree(files.server_path); // as above
  pyodide.FS.chdir(files.server_path);
  if (more?._makeSnapshot) return pyodide; // for a layer above, which must have nothing of this visit
  const lacksParts =
    files.archives.some(({ part }) => part) && files.snapshot.layers.every(({ name }) => name === "sdk");
  const visitor = JSON.stringify({ ...snapshot.visitor(), lacksParts });
  pyodide.pyimport("mcpframe.frame.compat.after_restore").start_visit(visitor);
  for (const { path, data } of arrivals.others) {
    pyodide.FS.writeFile(path, await data);
    await pyodide._api.loadDynlib(path);
  }
  page.isRestored();
  background.fetchInBackground(() => arrivals.secondFiles.come(compile));
  performance.mark("mcpframe:libraries");
  return pyodide;
}

async function start() {
  if (given ? given.restores : isChosen(files)) {
    try {
      return await restorePython();
    } catch (error) {
      console.warn(unused(error?.message ?? error));
      return startPython(new Arrivals());
    }
  }
  const pyodide = await startPython(new Arrivals());
  fetchForNextTime(files, bytesInBackground);
  return pyodide;
}

/**
 * Returns memory just before a snapshot would be restored, and where the data of each library begins in it, by the address
 * of its second file; `env` has additional environment variables.
 */
async function memoryAtStart(env) {
  const enough = new Error("The start ends here.");
  let memory;
  const finish = (module) => {
    memory = module.HEAPU8.slice();
    throw enough;
  };
  const arrivals = await completeArrivals();
  const more = { env, _loadSnapshot: new Uint8Array(1) }; // Pyodide does not read it before `finish`
  await arrivals.start({ fsInit: () => {}, more, finish }).catch((error) => {
    if (error !== enough) throw error;
  });
  return { memory, bases: Object.fromEntries(arrivals.secondFiles.bases) };
}

async function completeArrivals() {
  const arrivals = new Arrivals();
  await arrivals.complete();
  return arrivals;
}

// The ways to start Python for the script that takes a snapshot; only a build's pages have a `snapshot_maker`.
const builder = {
  memoryAtStart,
  startPython: async (more, begun, constructing) => startPython(await completeArrivals(), more, begun, constructing),
  restorePython,
  paths: files.paths,
};

async function main() {
  page.start(config);
  if (files.snapshot_maker) return (await script(files.snapshot_maker, "mcpframeSnapshotMaker"))(builder);
  if (isServed && !isSetup) workers.prepare(isChosen(files));
  if (workers) page.start_worker = (kind, onText, onEnd) => workers.start(kind, onText, onEnd);
  const pyodide = await start();
  // For mcpframe's bridge: DevTools do not have the size of WebAssembly's memories.
  globalThis.mcpframeMemory = () => pyodide._module.HEAPU8.length;
  const boot = pyodide.pyimport("mcpframe.frame.boot.boot");
  const serving = given ? boot.main_in_worker(JSON.stringify(config), page) : boot.main(JSON.stringify(config), page);
  ending.watchErrors(serving, () => boot.serves());
  await serving;
}

main().catch((error) => {
  if (error instanceof BootError) page.fail(error.message, error.detail);
  else
    page.fail(
      `The server did not start: ${error?.message?.split("\n").at(-1) || error}`,
      String(error?.stack ?? error),
    );
});
