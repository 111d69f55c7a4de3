/**
 * What JSON would carry of a message that was posted, and nothing else, at a cost bounded by what was posted.
 *
 * A message is a structured clone, which can hold more than JSON: maps, dates, holes in arrays, names on arrays, cycles.
 * It can also be far larger as JSON than it is itself: an array with one item and a length of billions, an object that
 * is used in many places. So it is measured first, each of its objects once, and written as JSON only if the text stays
 * in proportion.
 */

/** A message may grow by so many bytes when it is written as JSON, or to so many times its own size. */
const FREE_GROWTH = 1024 * 1024;
const MOST_GROWTH = 16;

/** How deep a message may be where nobody says less: what the parser of Pyodide takes without harm. */
const MOST_NESTING = 1000;

class Unwritable extends Error {
  constructor(name, message) {
    super(message);
    this.name = name;
  }
}

/**
 * Write what was posted as JSON.
 * @param data a structured clone
 * @param {{maxMessageBytes?: number, maxNesting?: number}} [limits] of the text in UTF-8, of arrays and objects inside
 *   each other
 * @returns {string | undefined} the text; undefined for what is nothing in JSON, as `undefined` itself
 * @throws an error named MessageTooLarge, MessageTooDeep or MalformedMessage
 */
export function jsonOf(data, { maxMessageBytes = Infinity, maxNesting = MOST_NESTING } = {}) {
  measure(data, maxMessageBytes, maxNesting);
  const text = JSON.stringify(data);
  checkBytes(text, maxMessageBytes);
  return text;
}

/**
 * Who waits behind a message, without writing or parsing it.
 * @param data a structured clone
 * @returns {{type?: string, kind: "request" | "response" | "other", id?: unknown, method?: unknown}} as JSON would carry
 *   them; an `id` that is an array or an object is null
 */
export function outlineOf(data) {
  const type = member(data, "type");
  const payload = isRecord(data) ? data.payload : undefined;
  const [id, method] = [member(payload, "id"), member(payload, "method")];
  const answers = member(payload, "result") !== undefined || member(payload, "error") !== undefined;
  const kind = method !== undefined ? (id !== undefined ? "request" : "other") : answers ? "response" : "other";
  return {
    type: typeof type === "string" ? type : undefined,
    kind,
    id: typeof id === "object" || (typeof id === "number" && !Number.isFinite(id)) ? null : id,
    method,
  };
}

/** The text of `outlineOf` as a message: for a reader that gets text, in place of one that cannot be written. */
export function outlineText(data) {
  const { type, kind, id, method } = outlineOf(data);
  const body = kind === "other" ? {} : { jsonrpc: "2.0", id: typeof id === "bigint" ? null : id };
  if (kind === "request") body.method = typeof method === "string" ? method : "";
  if (kind === "response") body.result = {};
  return JSON.stringify({ type, payload: body });
}

const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function member(value, name) {
  if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined;
  const inner = value[name];
  return isBoxed(inner) ? inner.valueOf() : inner;
}

const isBoxed = (value) => value instanceof String || value instanceof Number || value instanceof Boolean;
const isIndex = (key) => String(key >>> 0) === key && key !== "4294967295";

/** Throw where the JSON text would be too large or too deep, or there is none. Sizes are the least that it can be. */
function measure(root, maxBytes, maxNesting) {
  let real = 0; // of what was posted, every object once
  const known = new Map(); // by object: its size as JSON, and how many levels it has; null while it is measured
  const add = (bytes) => {
    real += bytes;
    if (real > maxBytes) throw tooLarge(maxBytes);
    return bytes;
  };

  /** The size of a value as JSON; `levels` is told how deep it is. */
  const sizeOf = (value, depth, levels) => {
    if (typeof value === "string") return add(value.length + 2);
    if (typeof value === "bigint") throw new Unwritable("MalformedMessage", "A BigInt is not JSON data.");
    if (typeof value !== "object" || value === null) return add(1);
    if (isBoxed(value) || value instanceof Date) return add(value instanceof String ? value.length + 2 : 1);
    let found = known.get(value);
    if (found === null) throw new Unwritable("MalformedMessage", "The message holds itself, which JSON cannot carry.");
    if (depth > maxNesting || (found && depth + found.levels - 1 > maxNesting)) {
      throw new Unwritable("MessageTooDeep", `The message is nested deeper than ${maxNesting} levels (maxNesting).`);
    }
    if (!found) {
      known.set(value, null);
      found = { size: 0, levels: 1 };
      const inner = { deepest: 0 };
      found.size = add(2) + insideOf(value, depth + 1, inner);
      found.levels = 1 + inner.deepest;
      known.set(value, found);
    }
    levels.deepest = Math.max(levels.deepest, found.levels);
    return found.size;
  };

  const insideOf = (value, depth, levels) => {
    if (ArrayBuffer.isView(value)) return add((value.length ?? 0) * 6); // an object with a member for each item
    let size = 0;
    if (Array.isArray(value)) {
      let index = 0;
      for (; index < value.length; index++) {
        const item = value[index];
        if (item === undefined && !Object.hasOwn(value, index)) break;
        size += 1 + sizeOf(item, depth, levels);
      }
      if (index === value.length) return size;
      // It has holes, each of which is `null`. Names that are no index are nothing in JSON.
      let holes = value.length - index;
      for (const key of Object.keys(value)) {
        if (!isIndex(key)) continue;
        if (Number(key) < index) continue;
        holes -= 1;
        size += 1 + sizeOf(value[key], depth, levels);
      }
      return size + holes * 5;
    }
    for (const key of Object.keys(value)) {
      if (value[key] === undefined) continue;
      size += add(key.length + 4) + sizeOf(value[key], depth, levels);
    }
    return size;
  };

  const size = sizeOf(root, 1, { deepest: 0 });
  if (size > maxBytes) throw tooLarge(maxBytes);
  if (size > FREE_GROWTH + real * MOST_GROWTH) {
    throw new Unwritable(
      "MessageTooLarge",
      "The message is much larger as JSON than it was posted: it has holes, or parts that stand in many places.",
    );
  }
}

function checkBytes(text, maxBytes) {
  const length = text?.length ?? 0;
  if (length > maxBytes || (length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes)) {
    throw tooLarge(maxBytes);
  }
}

const tooLarge = (limit) => new Unwritable("MessageTooLarge", `The message has more than ${limit} bytes (maxMessageBytes).`);
