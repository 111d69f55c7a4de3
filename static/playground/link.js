// Links to projects: `#1.` and the project as JSON, deflate-raw, base64url; `#template=NAME`; or `#from=ADDRESS`. The text of a fragment
// reaches no server. A link is a stranger's: its content is inflated up to a limit and checked.
import { fromBase64, packed, toBase64 } from "./bytes.js";
import { readAll } from "./reading.js";
import { checkFiles, MOST_BYTES, nameOf, ProjectError } from "./project-files.js";

const VERSION = "1.";
const FROM = "from=";
export const LONG_LINK = 8_000; // characters that chats may cut: the file is the better way then
export const LONGEST_LINK = 32_000;
const DAMAGED = "This link is damaged or cut: ask for it again, or for the file.";

/** Returns the fragment of a project's link. @param {{ name: string, files: Record<string, string | Uint8Array> }} project */
export async function linkOf({ name, files }) {
  const entries = Object.entries(files);
  const texts = entries.filter(([, content]) => typeof content === "string");
  const others = entries.filter(([, content]) => typeof content !== "string");
  const data = Object.fromEntries(others.map(([path, bytes]) => [path, toBase64(/** @type {Uint8Array} */ (bytes))]));
  const project = { name, files: Object.fromEntries(texts), ...(others.length ? { data } : {}) };
  const json = new TextEncoder().encode(JSON.stringify(project));
  const small = await packed(new Blob([json]), "deflate-raw");
  return `#${VERSION}${toBase64(small).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

/**
 * Reads a fragment.
 * @param {string} fragment
 * @returns {Promise<{ template: string } | { from: string } | { name: string, files: Record<string, string | Uint8Array> } | null>} null if it names nothing
 * @throws {ProjectError}
 */
export async function readLink(fragment) {
  const text = fragment.replace(/^#/, "");
  if (!text) return null;
  const template = /^template=([a-z0-9-]{1,64})$/.exec(text);
  if (template) return { template: template[1] };
  if (text.startsWith(FROM)) return { from: unescaped(text.slice(FROM.length)) };
  if (!text.startsWith(VERSION))
    throw new ProjectError("This link is none of this playground, or of a later version of it.");
  const { name, files, data } = parsed(await inflated(text.slice(VERSION.length)));
  return { name: nameOf(name), files: checkFiles({ ...checkFiles(files), ...binary(data ?? {}) }) };
}

/** Returns the files of a link that are no texts: they stand there as base64. */
function binary(data) {
  try {
    return Object.fromEntries(Object.entries(data).map(([path, base64]) => [path, fromBase64(String(base64))]));
  } catch {
    throw new ProjectError(DAMAGED);
  }
}

function unescaped(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ProjectError(DAMAGED);
  }
}

function parsed(text) {
  try {
    const value = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // as below
  }
  throw new ProjectError(DAMAGED);
}

async function inflated(text) {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) throw new ProjectError(DAMAGED);
  let stream;
  try {
    const bytes = fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
    stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    // JSON escapes at most six characters for one byte.
    const blob = await readAll(stream, MOST_BYTES * 2, "The project in this link is too large.");
    return new TextDecoder("utf-8", { fatal: true }).decode(await blob.arrayBuffer());
  } catch (error) {
    throw error instanceof ProjectError ? error : new ProjectError(DAMAGED);
  }
}
