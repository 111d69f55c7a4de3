// Addresses of public files, as a link names them: which hosts are allowed, the raw form of a page's address, and whether
// the text can still change.
import { visible } from "../host/visible.js";
import { MOST_BINARY, MOST_BYTES, ProjectError } from "./project-files.js";
import { readAll } from "./reading.js";

const RAW = "https://raw.githubusercontent.com";
const COMMIT = /^[0-9a-f]{40}([0-9a-f]{24})?$/;

/**
 * Returns the address of a file's content.
 * @param {string} text an address, also that of a page on GitHub
 * @param {readonly string[]} origins those that the site allows
 * @returns {{ url: URL, name: string, isPinned: boolean }} its last part; whether it names a commit
 * @throws {ProjectError}
 */
export function rawAddress(text, origins) {
  let url;
  try {
    url = new URL(text);
  } catch {
    throw new ProjectError("This is no address of a file.");
  }
  const parts = url.pathname.split("/").slice(1);
  if (url.origin === "https://github.com" && parts[2] === "blob" && parts.length > 4) {
    url = new URL(`${RAW}/${[parts[0], parts[1], ...parts.slice(3)].join("/")}`);
  } else if (url.origin === "https://gist.github.com" && parts.length === 2) {
    url = new URL(`https://gist.githubusercontent.com/${parts[0]}/${parts[1]}/raw`);
  }
  if (!origins.includes(url.origin) || url.username || url.password) {
    const hosts = origins.map((origin) => new URL(origin).host).join(", ");
    throw new ProjectError(
      `The playground opens files of ${hosts || "no host"} only, and not of ${visible(url.host)}.`,
    );
  }
  url.hash = "";
  const own = url.pathname.split("/").slice(1);
  const commit = url.origin === "https://gist.githubusercontent.com" ? own[3] : own[2];
  let name = own.at(-1);
  try {
    name = decodeURIComponent(name);
  } catch {
    // as it stands
  }
  return { url, name: name === "raw" || !name ? "server.py" : name, isPinned: COMMIT.test(commit ?? "") };
}

/**
 * Fetches a file, without cookies and redirects.
 * @param {URL} url
 * @returns {Promise<Uint8Array>}
 * @throws {ProjectError}
 */
export async function fetchFile(url) {
  let response;
  try {
    response = await fetch(url, { credentials: "omit", redirect: "error", referrerPolicy: "no-referrer" });
  } catch {
    throw new ProjectError(
      `${visible(url.href)} cannot be fetched: there is no network, or its host does not allow it.`,
    );
  }
  if (!response.ok) throw new ProjectError(`${visible(url.href)} cannot be fetched (${response.status}).`);
  const most = MOST_BYTES + MOST_BINARY;
  const blob = await readAll(response.body, most, `${visible(url.href)} is larger than ${most / 1e6} MB.`);
  return new Uint8Array(await blob.arrayBuffer());
}
