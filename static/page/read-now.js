// Reads a file of the bundle for Python, while Python waits for it.
import { page } from "./bundle-files.js";
import { fetchNow } from "./fetch-now.js";

let python = null; // Emscripten's module of the Python that runs

/** Says which Python waits for files. @param {any} module */
export function readFor(module) {
  python = module;
}

/**
 * Returns the file's bytes, with their hash checked. If that fails, Python raises OSError, and the page says why.
 * @param {string} url
 * @param {{ integrity: string }} file
 * @param {any} FS Emscripten's file system.
 */
export function readNow(url, file, FS) {
  // Python has given up its lock for the read. Firefox runs callbacks during a synchronous request, such as those of Web
  // Locks: without the lock they would be lost.
  const lock = python?._PyGILState_Ensure();
  try {
    return fetchNow(url, file);
  } catch (error) {
    page.problem?.(error.message); // Python has a number only; a worker's page has the console's line
    throw new FS.ErrnoError(29); // EIO
  } finally {
    python?._PyGILState_Release(lock);
  }
}
