// Reads zip files of strangers. All limits are checked before and while members are inflated; what is unusual is refused.
import { ProjectError } from "./project-files.js";
import { crc32 } from "./zip.js";

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const MOST_MEMBERS = 5_000; // folders and files that are left out, too
const [STORED, DEFLATED] = [0, 8];
const ENCRYPTED = 1 | (1 << 6);
const UNIX = 3; // the system of a member's mode
const TYPE = 0xf000; // of a mode
const USUAL_TYPES = [0, 0x8000, 0x4000]; // none, a file, a folder
const DAMAGED = "The zip is damaged.";

/**
 * @typedef {object} Member
 * @property {string} path as it stands in the zip: unchecked
 * @property {number} size as the zip says: bytes
 * @property {() => Promise<Uint8Array>} read throws if there is more or something else than the zip says
 */

/**
 * Returns the files of a zip; nothing of them is inflated yet.
 * @param {Uint8Array} zip
 * @returns {Member[]}
 * @throws {ProjectError}
 */
export function membersOf(zip) {
  try {
    return [...members(zip)];
  } catch (error) {
    throw error instanceof RangeError ? new ProjectError(DAMAGED) : error; // a position outside of the zip
  }
}

function* members(zip) {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  let end = zip.length - 22;
  while (end >= 0 && (view.getUint32(end, true) !== END || end + 22 + view.getUint16(end + 20, true) !== zip.length))
    end -= end > zip.length - 22 - 0xffff ? 1 : end + 1;
  if (end < 0) throw new ProjectError("This is no zip file, or it is cut.");
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  if (view.getUint32(end + 4, true) || at === 0xffffffff || count === 0xffff)
    throw new ProjectError("The zip is larger than the playground reads, or has several parts.");
  if (count > MOST_MEMBERS) throw new ProjectError(`The zip has more than ${MOST_MEMBERS} members.`);
  for (let number = 0; number < count; number += 1) {
    if (view.getUint32(at, true) !== ENTRY) throw new ProjectError(DAMAGED);
    const nameLength = view.getUint16(at + 28, true);
    const member = {
      system: view.getUint8(at + 5),
      flags: view.getUint16(at + 8, true),
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      packed: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true),
      mode: view.getUint32(at + 38, true) >>> 16,
      local: view.getUint32(at + 42, true),
      name: slice(zip, at + 46, nameLength),
    };
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    const path = pathOf(member.name);
    check(path, member);
    if (path.endsWith("/")) continue;
    yield { path, size: member.size, read: () => content(zip, view, path, member) };
  }
}

function slice(zip, start, length) {
  if (start + length > zip.length) throw new ProjectError(DAMAGED);
  return zip.subarray(start, start + length);
}

/** Returns a member's name. Zips without the mark of UTF-8 have it often nevertheless, and ASCII is the same in it. */
function pathOf(name) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(name);
  } catch {
    throw new ProjectError("The zip has names that are not UTF-8.");
  }
}

function check(path, { system, flags, method, mode }) {
  const name = JSON.stringify(path.slice(0, 100));
  if (flags & ENCRYPTED) throw new ProjectError("The zip is encrypted.");
  if (![STORED, DEFLATED].includes(method)) throw new ProjectError(`${name} is packed in a way that browsers lack.`);
  if (system === UNIX && !USUAL_TYPES.includes(mode & TYPE))
    throw new ProjectError(`${name} is a link or a device: a project has only files.`);
}

async function content(zip, view, path, { name, method, crc, packed, size, local }) {
  const fail = () => new ProjectError(`${JSON.stringify(path.slice(0, 100))} is damaged in the zip.`);
  let bytes;
  try {
    if (view.getUint32(local, true) !== LOCAL || view.getUint16(local + 8, true) !== method) throw fail();
    const nameLength = view.getUint16(local + 26, true);
    const sameName = slice(zip, local + 30, nameLength);
    if (nameLength !== name.length || sameName.some((byte, at) => byte !== name[at])) throw fail();
    const data = slice(zip, local + 30 + nameLength + view.getUint16(local + 28, true), packed);
    bytes = method === STORED ? data.slice() : await inflated(data, size);
  } catch {
    throw fail(); // a position outside of the zip, or deflate
  }
  if (bytes.length !== size || crc32(bytes) !== crc) throw fail();
  return bytes;
}

/** Inflates up to a size; more is an error. */
async function inflated(data, size) {
  const bytes = new Uint8Array(size);
  let at = 0;
  const reader = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return bytes.subarray(0, at);
    if (at + value.length > size) {
      await reader.cancel();
      throw new Error("more than the zip says");
    }
    bytes.set(value, at);
    at += value.length;
  }
}
