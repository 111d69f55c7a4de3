/**
 * Converts posted messages to JSON, at a cost that is bounded by the size of the message.
 *
 * A message is a structured clone, which can hold more than JSON: maps, dates, holes in arrays, names on arrays, cycles.
 * It can also be far larger as JSON than in memory: an array with one item and a length of billions, or an object that
 * is used in many places. So it is measured first, each of its objects once, and written as JSON only if the text is not
 * out of proportion.
 *
 * Its home is this folder, as the npm package has to be complete; the page's loader and the Playwright window use it, too.
 */

/** How much larger a message may be as JSON: by this many bytes, plus this many times its own size. */
const FREE_GROWTH = 1024 * 1024;
const MOST_GROWTH = 16;

/** What the brackets of an array or an object add to its items, each of which counts a comma: the last one has none. */
const BRACKETS = 1;

/** The default limit of nesting: a depth that the JSON parser in Pyodide can handle. */
const MOST_NESTING = 1000;

/** The longest text in the head of a message that is refused unread. */
const LONGEST_TEXT = 4096;

/** The largest message that is read before its dialect is known, in bytes of JSON. */
const MOST_UNASKED = 256 * 1024;

class Unwritable extends Error {
  constructor(name, message) {
    super(message);
    this.name = name;
  }
}

/**
 * Return a posted message as JSON.
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
 * Return what kind of message this is and its id, without converting it to JSON.
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

/**
 * Return a posted message as JSON for Python, or the reason why it cannot be read.
 * @param data a structured clone
 * @param [limits] as for `jsonOf`
 * @param {boolean} [isWanted] whether large messages are read, too; otherwise the error's name is `Large`, and the head
 *   tells whose it is: most are of other libraries
 * @returns {string | null | [name: string, message: string, head: string]} its JSON text; null if it is nothing in
 *   JSON; or an error's name and message, and the head of the message
 */
export function textOrReason(data, limits = {}, isWanted = true) {
  if (!isWanted && isLarge(data)) return ["Large", "It is large.", headText(data)];
  try {
    return jsonOf(withReadableError(data), limits) ?? null;
  } catch (error) {
    return [error.name, error.message, headText(data)];
  }
}

/** Whether reading a message takes time. The kind of a text is known only once it is parsed. */
function isLarge(data) {
  if (typeof data === "string") return data.length > MOST_UNASKED && !/^\s*\{/.test(data);
  try {
    measure(data, MOST_UNASKED, MOST_NESTING);
  } catch (error) {
    return error.name === "MessageTooLarge";
  }
  return false;
}

/** The members by which Python tells whose a message is, and who waits: those of its codecs. */
const HEAD = ["type", "channel", "direction", "messageId", "jsonrpc", "id", "method", "result", "error"];

/** Return the head of a message as JSON: null stands for arrays, objects and long texts, except for `payload`. */
function headText(data) {
  if (!isRecord(data)) return "null";
  const payload = isRecord(data.payload) ? headOf(data.payload) : short(member(data, "payload"));
  return JSON.stringify({ ...headOf(data), payload });
}

const headOf = (data) => Object.fromEntries(HEAD.map((name) => [name, short(member(data, name))]));

function short(value) {
  if (typeof value === "string") return value.length <= LONGEST_TEXT ? value : null;
  return typeof value === "object" || typeof value === "bigint" ? null : value;
}

/** Return a message whose `payload.error`, if it is an Error, has its name and text: as JSON, an Error is empty. */
function withReadableError(data) {
  const error = isRecord(data) && isRecord(data.payload) ? data.payload.error : undefined;
  if (!(error instanceof Error)) return data;
  return { ...data, payload: { ...data.payload, error: { name: error.name, message: error.message } } };
}

const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function member(value, name) {
  if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined;
  const inner = value[name];
  return isBoxed(inner) ? inner.valueOf() : inner;
}

const isBoxed = (value) => value instanceof String || value instanceof Number || value instanceof Boolean;
const isIndex = (key) => String(key >>> 0) === key && key !== "4294967295";

/** Throw if the JSON text would be too large or too deep, or the message is not JSON. Sizes are lower bounds. */
function measure(root, maxBytes, maxNesting) {
  if (!new Measure(maxBytes, maxNesting).isTree(root)) new Measure(maxBytes, maxNesting).checkGrowth(root);
}

class Measure {
  /** The size of the posted message, with each object counted once. */
  #real = 0;
  /** Objects that were met: all at first, then each with its size as JSON and its levels, or null while it is measured. */
  #met = new Set();
  #known = new Map();
  #levels = 0;

  constructor(maxBytes, maxNesting) {
    this.maxBytes = maxBytes;
    this.maxNesting = maxNesting;
  }

  /** Whether no object is used twice and no array has holes: then the JSON is as large as the posted message. */
  isTree(value, depth = 1) {
    const leaf = this.#leaf(value);
    if (leaf) return this.#add(leaf);
    if (this.#met.has(value)) return false;
    this.#met.add(value);
    if (depth > this.maxNesting) throw this.#tooDeep();
    this.#add(BRACKETS);
    if (ArrayBuffer.isView(value)) return this.#add(lengthOf(value) * 6); // an object with a member for each item
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) {
        const item = value[index];
        if (item === undefined && !Object.hasOwn(value, index)) return false;
        if (!this.isTree(item, depth + 1)) return false;
        this.#real += 1;
      }
      return true;
    }
    for (const key in value) {
      const item = value[key];
      if (item === undefined) continue;
      this.#add(key.length + 4);
      if (!this.isTree(item, depth + 1)) return false;
    }
    return true;
  }

  /** Throw if the JSON would be out of proportion, or too deep. */
  checkGrowth(root) {
    const size = this.#sizeOf(root, 1);
    if (size > this.maxBytes) throw tooLarge(this.maxBytes);
    if (size <= FREE_GROWTH + this.#real * MOST_GROWTH) return;
    throw new Unwritable(
      "MessageTooLarge",
      "The message is much larger as JSON than it was posted: it has holes, or parts that stand in many places.",
    );
  }

  /** The size of a value as JSON; `#levels` is how deep it is, afterwards. */
  #sizeOf(value, depth) {
    this.#levels = 0;
    const leaf = this.#leaf(value);
    if (leaf) return this.#add(leaf) && leaf;
    let known = this.#known.get(value);
    if (known === null) throw new Unwritable("MalformedMessage", "The message holds itself, which JSON cannot carry.");
    if (depth > this.maxNesting || (known && depth + known.levels - 1 > this.maxNesting)) throw this.#tooDeep();
    if (!known) {
      this.#known.set(value, null);
      this.#add(BRACKETS);
      const size = BRACKETS + this.#insideOf(value, depth + 1);
      known = { size, levels: this.#levels + 1 };
      this.#known.set(value, known);
    }
    this.#levels = known.levels;
    return known.size;
  }

  #insideOf(value, depth) {
    if (ArrayBuffer.isView(value)) {
      const size = lengthOf(value) * 6;
      this.#add(size);
      return size;
    }
    const isArray = Array.isArray(value);
    let [size, deepest, items] = [0, 0, 0];
    /** @type {Iterable<any>} */
    const keys = isArray && isDense(value) ? value.keys() : Object.keys(value);
    for (const key of keys) {
      if (isArray && typeof key === "string" && !isIndex(key)) continue; // a name that is nothing in JSON
      const item = value[key];
      if (!isArray) {
        if (item === undefined) continue;
        this.#add(key.length + 4);
        size += key.length + 4;
      }
      size += 1 + this.#sizeOf(item, depth);
      items += 1;
      deepest = Math.max(deepest, this.#levels);
    }
    this.#levels = deepest;
    return isArray ? size + (value.length - items) * 5 : size; // a hole is `null`
  }

  /** The size of a value without members; 0 for arrays and objects. */
  #leaf(value) {
    if (typeof value === "string") return value.length + 2;
    if (typeof value === "bigint") throw new Unwritable("MalformedMessage", "A BigInt is not JSON data.");
    if (typeof value !== "object" || value === null) return 1;
    if (value instanceof String) return value.length + 2;
    return isBoxed(value) || value instanceof Date ? 1 : 0;
  }

  #add(bytes) {
    this.#real += bytes;
    if (this.#real > this.maxBytes) throw tooLarge(this.maxBytes);
    return true;
  }

  #tooDeep() {
    return new Unwritable(
      "MessageTooDeep",
      `The message is nested deeper than ${this.maxNesting} levels (maxNesting).`,
    );
  }
}

/**
 * Returns the items of a typed array; a DataView has none.
 * @param {any} view
 */
function lengthOf(view) {
  return view.length ?? 0;
}

/** Whether an array has no holes; the first one ends the search. */
function isDense(list) {
  for (let index = 0; index < list.length; index++) {
    if (list[index] === undefined && !Object.hasOwn(list, index)) return false;
  }
  return true;
}

function checkBytes(text, maxBytes) {
  const length = text?.length ?? 0;
  if (length > maxBytes || (length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes)) {
    throw tooLarge(maxBytes);
  }
}

const tooLarge = (limit) =>
  new Unwritable("MessageTooLarge", `The message has more than ${limit} bytes (maxMessageBytes).`);
