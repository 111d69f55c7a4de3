// A project's files, by path, and the rules for them. Files come from strangers' links: everything is checked before use.
import { visible } from "../host/visible.js";

export const MOST_FILES = 100;
export const MOST_BYTES = 1_000_000; // of all names and texts together, in UTF-8
export const MOST_BINARY = 5_000_000; // bytes of all other files together
const LONGEST_PATH = 200;
const RESERVED = /^(_mcpframe|mcpframe|__proto__|con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/** Files that are read as text, whatever they have. */
const TEXTUAL = /\.(py|toml|html?|css|m?js|json)$/i;

/** An error whose text is for the user. */
export class ProjectError extends Error {}

/** Throws if a file cannot have this path. @param {unknown} path */
export function checkPath(path) {
  const fail = (why) => {
    throw new ProjectError(
      `A file cannot be called ${JSON.stringify(visible(String(path).slice(0, LONGEST_PATH)))}: ${why}.`,
    );
  };
  if (typeof path !== "string" || !path) fail("it has no name");
  const name = /** @type {string} */ (path);
  if (name.length > LONGEST_PATH) fail(`its path is longer than ${LONGEST_PATH} characters`);
  if (visible(name) !== name || /[\n\t]/.test(name)) fail("its name has invisible characters");
  if (/[\\:*?"<>|]/.test(name)) fail(String.raw`\ : * ? " < > | cannot be in a name`);
  for (const part of name.split("/")) {
    if (!part || part === "." || part === "..") fail("its path leaves the folder");
    if (part !== part.trim() || part.endsWith(".")) fail("a part of its path begins or ends with a space or a dot");
    if (RESERVED.test(part)) fail("that name is reserved");
  }
}

/**
 * Returns the files of a project, checked.
 * @param {unknown} files by path: a text, or the bytes of a file that is none
 * @returns {Record<string, any>}
 */
export function checkFiles(files) {
  if (typeof files !== "object" || files === null || Array.isArray(files))
    throw new ProjectError("This is no project.");
  const entries = Object.entries(files);
  if (!entries.length) throw new ProjectError("The project has no files.");
  if (entries.length > MOST_FILES) throw new ProjectError(`The project has more than ${MOST_FILES} files.`);
  const seen = new Set();
  let bytes = 0;
  let binary = 0;
  for (const [path, text] of entries) {
    checkPath(path);
    if (text instanceof Uint8Array && !TEXTUAL.test(path)) binary += text.length;
    else if (typeof text !== "string") throw new ProjectError(`${path} has no text: its encoding is not UTF-8.`);
    bytes += new TextEncoder().encode(typeof text === "string" ? path + text : path).length;
    const folded = path.toLowerCase();
    if (seen.has(folded)) throw new ProjectError(`${path} is there twice, which some systems cannot tell apart.`);
    seen.add(folded);
  }
  for (const path of seen) {
    const folders = path
      .split("/")
      .slice(0, -1)
      .map((_, at, all) => all.slice(0, at + 1).join("/"));
    const taken = folders.find((folder) => seen.has(folder));
    if (taken) throw new ProjectError(`${taken} is both a file and a folder.`);
  }
  if (bytes > MOST_BYTES) throw new ProjectError(`The project is larger than ${MOST_BYTES / 1e6} MB.`);
  if (binary > MOST_BINARY)
    throw new ProjectError(`The project's pictures and data are larger than ${MOST_BINARY / 1e6} MB.`);
  return Object.fromEntries(entries);
}

/** Returns a project's name: of a stranger's, what can be part of a file's name. */
export function nameOf(name) {
  const short = String(name ?? "")
    .replace(/[^\p{L}\p{N} ._-]/gu, "")
    .trim()
    .slice(0, 60);
  return short || "untitled";
}

/**
 * Returns the content of a file: a text if it is UTF-8, else its bytes.
 * @param {Uint8Array} bytes
 * @returns {string | Uint8Array}
 */
export function contentOf(bytes) {
  if (bytes.includes(0)) return bytes;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return bytes;
  }
}

/** Returns the lines of a text that have characters which cannot be seen, or change the order of others. */
export function hiddenLines(text) {
  return text
    .split("\n")
    .flatMap((line, at) => (visible(line.replace(/\r$/, "")) === line.replace(/\r$/, "") ? [] : [at + 1]));
}
