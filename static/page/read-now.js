// Reads a file of the bundle for Python, while Python waits for it.
import { page } from "./bundle-files.js";
import { fetchNow } from "./fetch-now.js";

/**
 * Returns the file's bytes, with their hash checked. If that fails, Python raises OSError, and the page says why.
 * @param {string} url
 * @param {{ integrity: string }} file
 * @param {any} FS Emscripten's file system.
 */
export function readNow(url, file, FS) {
  try {
    return fetchNow(url, file);
  } catch (error) {
    page.problem?.(error.message); // Python has a number only; a worker's page has the console's line
    throw new FS.ErrnoError(29); // EIO
  }
}
