// Runs Python jobs in one Pyodide under Node, for the build: node node-python.mjs < INPUT.json
// The input: { pyodide: folder, stdlib: file or null, env: {}, mounts: { "/path/in/python": folder }, output: folder in
// Python or null, archives: [{ file, to, libraries }], alone: number, jobs: [{ name, source }] }. Each job defines
// `async def main()`. The first `alone` jobs run before the archives are unpacked.
//
// One frame is written to standard output when Python runs, one when the archives are unpacked, and one after each job:
// the lengths of head and body (two 32-bit numbers, little-endian); the head, JSON: { result, files: [[name, size]] }; the
// body, the files of the output folder. A line "mcpframe: N of M" that a job prints makes a frame with the head
// { counted: [N, M] } while it runs. Nothing can change a frame that is already in the pipe. So jobs whose results
// others rely on run before those that import untrusted modules, and before native libraries, which run code when loaded.
// A job's error is printed to standard error, and the process exits with status 1.
//
// Node's permission model denies the jobs files and processes (mcpframe.kit.bundle.pyodide.job sets it). Up to
// version 24 it does not cover the network, which `confine` takes away.
import dgram from "node:dgram";
import dns from "node:dns";
import { constants, readFileSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import module from "node:module";
import net from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { process } = globalThis;

function write(file, bytes) {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(file, bytes, at);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error; // the pipe is full
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

function send(result, files = []) {
  const sizes = files.map(([name, data]) => [name, data.length]);
  sendFrame(`{"result":${result},"files":${JSON.stringify(sizes)}}`, Buffer.concat(files.map(([, data]) => data)));
}

function tell(line) {
  const counted = /^mcpframe: (\d{1,9}) of (\d{1,9})$/.exec(line);
  if (counted) sendFrame(`{"counted":[${counted[1]},${counted[2]}]}`, Buffer.alloc(0));
}

function sendFrame(text, body) {
  const head = Buffer.from(text);
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32LE(head.length, 0);
  lengths.writeUInt32LE(body.length, 4);
  write(1, Buffer.concat([lengths, head, body]));
}

/** Denies the network and Node's own modules to everything that runs from now on. */
function confine() {
  const deny = (owner, names) => {
    for (const name of names) {
      const value = () => {
        throw new Error(`${name} is not available while a server is built`);
      };
      Object.defineProperty(owner, name, { value, writable: false, configurable: false });
    }
  };
  const functions = (owner) => Object.getOwnPropertyNames(owner).filter((name) => typeof owner[name] === "function");
  // HTTP, TLS and WebSocket all use these methods, also by objects that exist already.
  deny(net.Socket.prototype, ["connect"]);
  deny(net.Server.prototype, ["listen"]);
  deny(
    net,
    functions(net).filter((name) => name.startsWith("_create")),
  );
  deny(dgram.Socket.prototype, ["bind", "connect", "send"]);
  deny(dgram, ["createSocket", "_createSocketHandle"]);
  const resolvers = [dns.Resolver, dns.promises.Resolver].map(({ prototype }) => prototype);
  const bases = resolvers.map(Object.getPrototypeOf).filter((base) => base !== Object.prototype);
  for (const owner of new Set([dns, dns.promises, ...resolvers, ...bases])) {
    deny(
      owner,
      functions(owner).filter((name) => name !== "constructor"),
    );
  }
  deny(process, ["binding", "dlopen", "getBuiltinModule", "_linkedBinding"]);
  module.registerHooks?.({
    resolve() {
      throw new Error("nothing can be imported while a server is built");
    },
  });
  deny(module, ["createRequire", "register", "registerHooks"]);
  module._load = (name) => {
    // `os.system` imports it, and fails as in a page; an exception would end Python.
    if (name === "node:child_process") return { spawnSync: () => ({ status: 127 }) };
    throw new Error(`${name} is not available while a server is built`);
  };
  // A page has none of these, or different ones.
  for (const name of ["process", "WebSocket", "EventSource"]) delete globalThis[name];
  globalThis.fetch = () => Promise.reject(new TypeError("fetch is not available while a server is built"));
  const log = (...parts) => write(2, Buffer.from(`${parts.map(String).join(" ")}\n`));
  globalThis.console = { log, info: log, warn: log, error: log, debug: log, trace: log, assert() {}, dir: log };
}

/** Raises KeyboardInterrupt in Python once, after a time: the traceback shows what it was doing. */
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

process.on("unhandledRejection", () => {}); // an unhandled rejection does not end a page either
const input = JSON.parse(readFileSync(0, "utf8"));
const exit = process.exit.bind(process);
try {
  const { loadPyodide } = await import(pathToFileURL(join(input.pyodide, "pyodide.mjs")).href);
  process.binding = () => ({ fs: constants }); // the part that Emscripten reads; the rest is denied
  const pyodide = await loadPyodide({
    indexURL: input.pyodide,
    env: input.env,
    stdin: () => null,
    stdout: tell, // standard output of this process has the frames
    stderr: (line) => write(2, Buffer.from(`${line}\n`)),
    ...(input.stdlib ? { stdLibURL: input.stdlib } : {}),
  });
  for (const [path, folder] of Object.entries(input.mounts)) pyodide.mountNodeFS(path, folder);
  if (input.output) pyodide.FS.mkdirTree(input.output);
  const archives = await Promise.all(input.archives.map(({ file }) => readFile(file)));
  confine();
  const unpack = async () => {
    for (const [number, { to }] of input.archives.entries()) {
      pyodide.FS.mkdirTree(to);
      pyodide.unpackArchive(new Uint8Array(archives[number]), "zip", { extractDir: to });
    }
    // Libraries of one archive may need those of another.
    for (const { to, libraries } of input.archives) {
      for (const library of libraries) await pyodide._api.loadDynlib(`${to}/${library}`);
    }
    send("null");
  };
  send("null");
  const { FS } = pyodide;
  for (const [number, { name, source }] of input.jobs.entries()) {
    if (number === input.alone) await unpack();
    pyodide.runPython(source, { filename: name });
    if (number >= input.alone) interruptAfter(pyodide, Number(input.env.MCPFRAME_LIMIT));
    const result = await pyodide.runPythonAsync("import json; json.dumps(await main())");
    const names = input.output ? FS.readdir(input.output).filter((item) => item !== "." && item !== "..") : [];
    send(
      result,
      names.map((item) => [item, FS.readFile(`${input.output}/${item}`)]),
    );
    for (const item of names) FS.unlink(`${input.output}/${item}`);
  }
} catch (error) {
  // For an uncaught error Node would print all of Pyodide's JavaScript, which is one line.
  write(2, Buffer.from(`${error?.message ?? String(error)}\n`));
  exit(1);
}
exit(0);
