// The files of an import, from a folder, a zip, files or an address: what is left out, the limits, and their names. All of
// it is a stranger's.
import { checkFiles, contentOf, MOST_BINARY, MOST_BYTES, MOST_FILES, ProjectError } from "./project-files.js";

/** Folders and files that tools make, or that are no part of a project's code. */
const LEFT_OUT =
  /(^|\/)(\.git|\.hg|\.venv|venv|node_modules|__pycache__|\.[a-z]+_cache|__MACOSX|\.DS_Store|Thumbs\.db)(\/|$)|\.pyc$/;

/**
 * @typedef {object} Source a file that may be imported
 * @property {string} path
 * @property {number} size bytes
 * @property {() => Promise<Uint8Array>} read
 */

/** Returns whether a path is left out. @param {string} path */
export const isLeftOut = (path) => LEFT_OUT.test(path);

/**
 * Reads the files of an import.
 * @param {Source[]} sources
 * @param {{ strip: boolean }} options strip: a folder that has everything is taken away
 * @returns {Promise<Record<string, string | Uint8Array>>}
 * @throws {ProjectError}
 */
export async function importedFiles(sources, { strip }) {
  const chosen = sources.filter(({ path }) => !isLeftOut(path));
  if (!chosen.length) throw new ProjectError("There is no file to import.");
  if (chosen.length > MOST_FILES)
    throw new ProjectError(`There are more than ${MOST_FILES} files: import the folder of one server.`);
  const bytes = chosen.reduce((sum, { size }) => sum + size, 0);
  if (bytes > MOST_BYTES + MOST_BINARY)
    throw new ProjectError(`The files are larger than ${(MOST_BYTES + MOST_BINARY) / 1e6} MB.`);
  const paths = strip ? withoutFolder(chosen.map(({ path }) => path)) : chosen.map(({ path }) => path);
  const twice = paths.find((path, at) => paths.indexOf(path) !== at);
  if (twice !== undefined) throw new ProjectError(`${JSON.stringify(twice)} is there twice.`);
  checkFiles(Object.fromEntries(paths.map((path) => [path, ""]))); // before anything is read
  const entries = [];
  for (const [at, { read }] of chosen.entries()) entries.push([paths[at], contentOf(await read())]);
  return checkFiles(Object.fromEntries(entries));
}

/** Returns paths without the folder that has them all. `..` and absolute paths stay, and are refused. */
function withoutFolder(paths) {
  const [folder] = paths[0].split("/");
  const has = (path) => path.startsWith(`${folder}/`) && path.length > folder.length + 1;
  if (!/[^.]/.test(folder) || !paths.every(has)) return paths;
  return paths.map((path) => path.slice(folder.length + 1));
}

/**
 * Returns the files of a project. One module alone is the server's.
 * @param {Record<string, string | Uint8Array>} files
 */
export function asProject(files) {
  const paths = Object.keys(files);
  return paths.length === 1 && /\.py$/i.test(paths[0]) ? { "server.py": files[paths[0]] } : files;
}
