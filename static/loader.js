// Boots Python in this page: fetches everything at once, checks it, unpacks it, and hands over to mcpframe.frame.boot.
// It knows nothing of MCP. What a person sees until the server runs, and when it cannot, is in page.js.
import { Cold } from "./cold.js";
import { page } from "./page.js";

const config = JSON.parse(document.getElementById("mcpframe-boot").textContent);
const files = config.files;
const fetchFile = globalThis.fetch.bind(globalThis); // below, Pyodide is given another one for a while
const absolute = (url) => new URL(url, document.baseURI).href;

/** Something that a person has to be told: `title` says what is wrong and what to do. */
class BootError extends Error {
  constructor(title, detail = "") {
    super(title);
    this.detail = detail;
  }
}

// The smallest module. Where the page's policy forbids WebAssembly, Pyodide would wait for ever instead of failing.
const EMPTY_MODULE = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

// A zip without files.
const EMPTY_ZIP = new Uint8Array([0x50, 0x4b, 5, 6, ...new Array(18).fill(0)]);

async function requireWebAssembly() {
  if (typeof WebAssembly !== "object") {
    throw new BootError(
      "This browser has no WebAssembly, which the server needs: use a current browser, or switch WebAssembly on " +
        "(some browsers switch it off in their strictest security mode).",
    );
  }
  try {
    await WebAssembly.compile(EMPTY_MODULE);
  } catch (error) {
    throw new BootError(
      "WebAssembly is blocked by this page's Content Security Policy: its script-src needs 'wasm-unsafe-eval'. " +
        "Send the headers that were built with the page (_headers, .htaccess, …), or none of your own.",
      String(error),
    );
  }
}

/** Fetches one file of the bundle; a failure says which file, and whether it is missing or another one. */
async function get(file) {
  const url = absolute(file.url);
  const options = { credentials: "same-origin" }; // as the preload links have it
  let response;
  try {
    response = await fetchFile(url, file.integrity ? { ...options, integrity: file.integrity } : options);
  } catch (error) {
    throw await unreachable(file, url, options, error);
  }
  if (!response.ok) {
    throw new BootError(
      `${file.url} is missing (the web server answers ${response.status}): upload the whole folder that was built.`,
    );
  }
  page.loaded(file);
  return response;
}

async function unreachable(file, url, options, error) {
  // A wrong hash and a lost connection are the same error to a script: ask again without a hash.
  const again = await fetchFile(url, { ...options, method: "HEAD", cache: "no-store" }).catch(() => null);
  if (again?.ok) {
    return new BootError(
      `${file.url} is not the file that was built (its hash is wrong): upload the whole folder again, unchanged.`,
      String(error),
    );
  }
  return new BootError(
    again
      ? `${file.url} is missing (the web server answers ${again.status}): upload the whole folder that was built.`
      : `${file.url} could not be fetched: check the network, and that the web server sends ` +
        "Access-Control-Allow-Origin: * where the frame is sandboxed.",
    String(error),
  );
}

/** Imports a script of the bundle; its link in the page has checked its hash. */
async function script(file) {
  try {
    return await import(absolute(file.url));
  } catch (error) {
    throw new BootError(
      `${file.url} is missing or is not the file that was built: upload the whole folder again, unchanged.`,
      String(error),
    );
  }
}

const bytes = async (file) => new Uint8Array(await (await get(file)).arrayBuffer());

/** The files of a zip that stores them uncompressed, as views into it. */
function* stored(zip) {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  const text = new TextDecoder();
  let end = zip.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end -= 1;
  if (end < 0) throw new BootError("An archive of this page is damaged: upload the whole folder that was built.");
  let at = view.getUint32(end + 16, true);
  for (let count = view.getUint16(end + 10, true); count > 0; count -= 1) {
    const size = view.getUint32(at + 24, true);
    const nameLength = view.getUint16(at + 28, true);
    const header = view.getUint32(at + 42, true);
    const start = header + 30 + view.getUint16(header + 26, true) + view.getUint16(header + 28, true);
    yield [text.decode(zip.subarray(at + 46, at + 46 + nameLength)), zip.subarray(start, start + size)];
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
}

const COLD_INDEX = "cold-index.json"; // where the files of the cold archive are in it: see cold.js

function unpack(FS, zip, to, cold) {
  const known = new Set();
  for (const [name, content] of stored(zip)) {
    if (name === COLD_INDEX) {
      cold.index = JSON.parse(new TextDecoder().decode(content));
      continue;
    }
    const path = `${to}/${name}`;
    const folder = path.slice(0, path.lastIndexOf("/"));
    if (!known.has(folder)) {
      FS.mkdirTree(folder);
      known.add(folder);
    }
    FS.writeFile(path, content, { canOwn: true });
  }
}

/**
 * Compiles Python itself while everything else is still on its way. Its hash is not checked by the fetch: that would cost
 * streaming and the browser's cache of compiled code (80 ms); a file that does not compile is checked afterwards.
 */
async function compile(file) {
  await requireWebAssembly();
  const unchecked = { ...file, integrity: null };
  const response = await get(unchecked);
  try {
    return await WebAssembly.compileStreaming(response);
  } catch (error) {
    const module = await bytes(unchecked).then((data) => WebAssembly.compile(data)).catch(() => null);
    if (module) {
      console.warn(`${file.url} is not sent as application/wasm, which makes this page start slower.`);
      return module;
    }
    await get(file); // says so where its hash is wrong
    throw new BootError("This browser cannot run the server's WebAssembly: use a current browser.", String(error));
  }
}

/** Runs `start` while Pyodide is answered from what is under way, so that nothing is fetched or compiled twice. */
async function withLoaded(responses, module, start) {
  const { fetch: originalFetch } = globalThis;
  const { instantiateStreaming } = WebAssembly;
  globalThis.fetch = (resource, options) => {
    const url = typeof resource === "string" || resource instanceof URL ? new URL(resource, document.baseURI).href : "";
    return responses.get(url) ?? originalFetch(resource, options);
  };
  WebAssembly.instantiateStreaming = async (source, imports) => {
    if (source !== module) return instantiateStreaming.call(WebAssembly, source, imports);
    return { module: await module, instance: await WebAssembly.instantiate(await module, imports) };
  };
  try {
    return await start();
  } finally {
    globalThis.fetch = originalFetch;
    WebAssembly.instantiateStreaming = instantiateStreaming;
  }
}

async function startPython() {
  page.progress("Loading");
  page.expect([files.wasm, ...files.archives, ...(files.cold.early ? [files.cold] : [])]);
  const failed = withResolvers();
  // Pyodide swallows some failures of its own fetches: ours are watched beside it.
  const watched = (promise) => (promise.catch(failed.reject), promise);
  const wasm = watched(compile(files.wasm));
  const archives = files.archives.map((file) => ({ ...file, zip: watched(bytes(file)) }));
  const cold = new Cold(absolute(files.cold.url), files.cold, files.cold.early ? watched(bytes(files.cold)) : null);
  const load = async () => {
    const [{ loadPyodide }, { default: createPyodideModule }] = await Promise.all([
      script(files.pyodide),
      script(files.asm),
    ]);
    const noStdlib = absolute("no-stdlib.zip"); // Python's library is unpacked below; Pyodide insists on a zip of it
    const responses = new Map([
      [absolute(files.wasm.url), wasm],
      [noStdlib, Promise.resolve(new Response(EMPTY_ZIP))],
    ]);
    const settings = {
      createPyodideModule,
      indexURL: absolute(files.pyodide.url).replace(/[^/]*$/, ""),
      stdLibURL: noStdlib,
      packageBaseUrl: document.baseURI,
      lockFileContents: files.lock,
      env: files.env,
      stdin: () => null, // input() in a frame: there is nobody to ask
      fsInit: async (FS) => {
        performance.mark("mcpframe:wasm");
        for (const { zip, to } of archives) unpack(FS, await zip, to, cold);
        performance.mark("mcpframe:unpacked");
        await cold.place(FS);
        performance.mark("mcpframe:files");
        page.progress("Starting Python");
      },
    };
    return withLoaded(responses, wasm, () => loadPyodide(settings));
  };
  const pyodide = await Promise.race([load(), failed.promise]);
  performance.mark("mcpframe:python");
  for (const { to, libraries } of archives) {
    for (const library of libraries) await pyodide._api.loadDynlib(`${to}/${library}`);
  }
  return pyodide;
}

function withResolvers() {
  let resolve, reject;
  const promise = new Promise((good, bad) => ([resolve, reject] = [good, bad]));
  return { promise, resolve, reject };
}

async function main() {
  page.start(config);
  const pyodide = await startPython();
  const path = pyodide.pyimport("sys").path;
  path.remove(files.stdlib_zip); // the one without files
  path.insert(0, files.server_path);
  path.destroy();
  pyodide.FS.chdir(files.server_path);
  performance.mark("mcpframe:libraries");
  await pyodide.pyimport("mcpframe.frame.boot").main(JSON.stringify(config), page);
}

main().catch((error) => {
  if (error instanceof BootError) page.fail(error.message, error.detail);
  else page.fail(`The server did not start: ${error?.message?.split("\n").at(-1) || error}`, String(error?.stack ?? error));
});
