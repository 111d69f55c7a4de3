/**
 * The host side of the MCP postMessage transport, for pages in JavaScript.
 *
 *     import { Client } from "@modelcontextprotocol/client";
 *     import { FrameTransport } from "./host.js";
 *
 *     const iframe = document.body.appendChild(document.createElement("iframe"));
 *     const client = new Client({ name: "my-host", version: "1.0.0" });
 *     await client.connect(new FrameTransport({ iframe, url: "https://tools.example/pi-calculator/" }));
 *
 * `FrameTransport` plays the outer frame of the SEP "postMessage Transport" in its transport phase:
 *
 *     state        message of the framed page      what we do                                  next state
 *     awaiting     MCP_TRANSPORT_HANDSHAKE         post MCP_TRANSPORT_HANDSHAKE_REPLY          confirming
 *     confirming   MCP_TRANSPORT_HANDSHAKE         post the same reply again                   confirming
 *     confirming   MCP_TRANSPORT_ACCEPTED          start() resolves                            open
 *     open         MCP_MESSAGE                     hand the payload to the SDK                 open
 *     open         MCP_SETUP_REQUIRED              tell the host                               open
 *     open         MCP_TRANSPORT_HANDSHAKE         another document is there: fail, close      closed
 *
 * Every message passes one gate, in this order: source window, origin, shape, state. What a stranger posts is dropped
 * unread, what belongs to another library is ignored, what claims to be ours and is not goes to `onerror`.
 *
 * No dependencies. It needs a browser of 2022 or later.
 */

/** The version of the postMessage protocol spoken here. */
export const PROTOCOL_VERSION = "1.0";

const DEFAULT_TIMEOUT = 30_000;
const DEFAULT_LIMITS = { maxMessageBytes: 64 * 1024 * 1024, maxNesting: 100, maxPending: 1000 };

const SETUP_REASONS = ["AUTH_EXPIRED", "CONFIG_CHANGED", "PERMISSIONS_CHANGED", "OTHER"];

/** JSON-RPC codes: an error for a request whose connection closed (as both official SDKs have it), and the generic one. */
const CONNECTION_CLOSED = -32000;
const INTERNAL_ERROR = -32603;

/**
 * What went wrong with a frame or a message. `name` says which kind, in the words that mcpframe uses in Python too:
 * HandshakeTimeout, VersionMismatch, PeerGone, StateError, OriginError, and for a single message MalformedMessage,
 * UnexpectedMessage, UnexpectedOrigin, MessageTooLarge, MessageTooDeep, PrototypeKey, TooManyPending.
 */
export class FrameError extends Error {
  /**
   * @param {string} name the kind of error
   * @param {string} message one sentence: what is wrong and, where it helps, what to do
   */
  constructor(name, message) {
    super(message);
    this.name = name;
  }
}

/** An MCP transport (TypeScript SDK 2.x) to a page in an iframe. One transport serves one session. */
export class FrameTransport {
  /** @type {((message: object) => void) | undefined} set by the SDK */
  onmessage;
  /** @type {((error: Error) => void) | undefined} set by the SDK; errors here don't end the session */
  onerror;
  /** @type {(() => void) | undefined} set by the SDK; called once */
  onclose;
  /** @type {((request: {reason: string, message: string, canContinue: boolean}) => void) | undefined} */
  onsetuprequired;

  /**
   * @type {string} the id that the framed page may scope its storage by. Not called `sessionId`: a transport that has one
   * is to the SDK a connection that goes on, and `connect()` would not initialize it.
   */
  frameSessionId;
  /** @type {string} the one origin that is heard and posted to; "null" for an opaque one */
  origin;

  #iframe;
  #url;
  #target;
  #timeout;
  #limits;
  #state = "idle";
  #peer = null;
  #loads = 0;
  #timer;
  #starting;
  #strangeOrigins = new Set();
  /** Requests without an answer: ours to the page, and the page's to us. */
  #asked = new Set();
  #owed = new Set();

  #onMessageEvent = (event) => {
    try {
      this.#receive(event);
    } catch (error) {
      this.#report(error);
    }
  };
  #onLoad = () => this.#loaded();
  #removals = new MutationObserver(() => {
    if (this.#iframe.contentWindow !== this.#peer) {
      this.#end(new FrameError("PeerGone", "The iframe was removed from the page, or moved within it."));
    }
  });

  /**
   * What each message does in each state; a missing state means that the message is refused there.
   * `shape` checks and picks what is needed; it throws a FrameError.
   */
  static #TRANSPORT = {
    MCP_TRANSPORT_HANDSHAKE: {
      shape: readHandshake,
      awaiting: (frame, offer) => frame.#answerHandshake(offer),
      confirming: (frame, offer) => frame.#answerHandshake(offer),
      open: (frame) => frame.#end(new FrameError("PeerGone", "The framed page was reloaded or replaced: it began anew.")),
    },
    MCP_TRANSPORT_ACCEPTED: {
      shape: readAccepted,
      confirming: (frame, sessionId) => frame.#accepted(sessionId),
      open: () => {},
    },
    MCP_MESSAGE: {
      shape: readPayload,
      open: (frame, payload) => frame.#deliver(payload),
    },
    MCP_SETUP_REQUIRED: {
      shape: readSetupRequired,
      open: (frame, request) => frame.onsetuprequired?.(request),
    },
  };

  /**
   * @param {object} options
   * @param {HTMLIFrameElement} options.iframe an iframe in the document; whatever it showed is replaced
   * @param {string | URL} options.url the http(s) address of the page; a `#setup` in it is left out
   * @param {string} [options.sessionId] to resume what the page stored under this id; by default a new random one
   * @param {string} [options.sandbox] the iframe's `sandbox` attribute; by default as it is
   * @param {string} [options.allow] the iframe's `allow` attribute (Permissions Policy); by default as it is
   * @param {number | {handshake?: number, accept?: number}} [options.timeout] milliseconds until the page must have
   *   sent its handshake, and from our reply until it must have accepted; 30 s each, Infinity for no limit
   * @param {{maxMessageBytes?: number, maxNesting?: number, maxPending?: number}} [options.limits] of a message as JSON
   *   in UTF-8 (64 MiB), of arrays and objects inside each other (100), of unanswered requests per direction (1000)
   * @param {boolean} [options.opaque] the page is in a sandbox without `allow-same-origin`. Its origin is "null" like
   *   that of every such frame, so messages can only go to "*": whatever is in that iframe reads them.
   * @throws {FrameError} OriginError for an address or a sandbox that cannot work
   */
  constructor({ iframe, url, sessionId, sandbox, allow, timeout = DEFAULT_TIMEOUT, limits = {}, opaque = false }) {
    const address = new URL(url, document.baseURI);
    if (address.protocol !== "http:" && address.protocol !== "https:") {
      throw new FrameError("OriginError", `A framed page needs an http or https address, not ${address.protocol}//…`);
    }
    stripSetup(address);
    if (sandbox !== undefined) iframe.setAttribute("sandbox", sandbox);
    if (allow !== undefined) iframe.setAttribute("allow", allow);
    const isOpaque = iframe.hasAttribute("sandbox") && !iframe.sandbox.contains("allow-same-origin");
    if (isOpaque !== opaque) {
      throw new FrameError(
        "OriginError",
        opaque
          ? "opaque: true is only for an iframe with a sandbox that lacks allow-same-origin."
          : "This sandbox lacks allow-same-origin, so the page has no origin to check: add it, or pass opaque: true.",
      );
    }
    if (opaque && sessionId !== undefined) {
      throw new FrameError("OriginError", "A session id is not given to a page of opaque origin: leave out sessionId.");
    }
    this.#iframe = iframe;
    this.#url = address.href;
    this.origin = opaque ? "null" : address.origin;
    this.#target = opaque ? "*" : address.origin;
    this.#timeout = typeof timeout === "number" ? { handshake: timeout, accept: timeout } : timeout;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.frameSessionId = sessionId ?? randomId();
  }

  /**
   * Load the page and shake hands with it. The SDK calls this in `connect()`.
   * @returns {Promise<void>} settled once both sides may send
   * @throws {FrameError} HandshakeTimeout, VersionMismatch, PeerGone, StateError
   */
  start() {
    if (this.#state !== "idle") return refuse("StateError", "A FrameTransport starts once: make a new one.");
    const iframe = this.#iframe;
    if (!iframe.contentWindow) return refuse("StateError", "The iframe is not in the document: append it first.");

    // Listen before the page can speak: a fast one sends its handshake before `load`.
    this.#peer = iframe.contentWindow;
    window.addEventListener("message", this.#onMessageEvent);
    iframe.addEventListener("load", this.#onLoad);
    for (let root = iframe.getRootNode(); root; root = root.host?.getRootNode()) {
      this.#removals.observe(root, { childList: true, subtree: true });
    }
    this.#wait(this.#timeout.handshake, "The framed page sent no handshake");
    const started = new Promise((resolve, reject) => (this.#starting = { resolve, reject }));
    if (iframe.hasAttribute("src") || iframe.hasAttribute("srcdoc")) {
      // An address that differs from the shown one only in its hash would not load anything.
      this.#state = "clearing";
      iframe.removeAttribute("srcdoc");
      iframe.src = "about:blank";
    } else {
      this.#navigate();
    }
    return started;
  }

  /**
   * Send one JSON-RPC message. The SDK calls this.
   * @param {object} message
   * @throws {FrameError} StateError when not open; MessageTooLarge, MessageTooDeep, PrototypeKey, TooManyPending
   */
  async send(message) {
    if (this.#state !== "open") throw new FrameError("StateError", `The frame is ${this.#state}, not open.`);
    let payload;
    try {
      payload = this.#outbound(message);
    } catch (error) {
      // Whoever waits for this answer must not wait for ever.
      if (!("method" in message) && this.#owed.delete(message.id)) {
        this.#post({ type: "MCP_MESSAGE", payload: errorResponse(message.id, INTERNAL_ERROR, error.message) });
      }
      throw error;
    }
    this.#post({ type: "MCP_MESSAGE", payload });
  }

  /** End the session. Pending requests fail; the iframe stays as it is, for the host to hide or remove. */
  async close() {
    if (this.#state !== "closed") this.#end();
  }

  // ---- inbound

  #receive(event) {
    if (this.#state === "clearing" || event.source === null || event.source !== this.#peer) return;
    if (event.origin !== this.origin) return this.#reportOrigin(event.origin);
    const type = event.data?.type;
    if (typeof type !== "string" || !type.startsWith("MCP_")) return;
    const rule = Object.hasOwn(FrameTransport.#TRANSPORT, type) && FrameTransport.#TRANSPORT[type];
    if (!rule) throw new FrameError("UnexpectedMessage", `${clip(type)} is not a message that a framed page sends here.`);
    let body;
    try {
      checkMessage(event.data, this.#limits);
      body = rule.shape(event.data);
    } catch (error) {
      this.#answerInsteadOf(event.data.payload, error);
      throw error;
    }
    const act = rule[this.#state];
    if (!act) throw new FrameError("UnexpectedMessage", `${type} does not belong here: the frame is ${this.#state}.`);
    act(this, body);
  }

  #answerHandshake(offer) {
    if (!speaksOurVersion(offer)) {
      const error = new FrameError(
        "VersionMismatch",
        `The page speaks version ${offer.min} to ${offer.max} of the postMessage protocol, this host ${PROTOCOL_VERSION}.`,
      );
      return this.#end(error);
    }
    if (this.#state === "awaiting") {
      this.#state = "confirming";
      this.#wait(this.#timeout.accept, "The framed page did not accept the session; it may not allow this origin");
    }
    const sessionId = this.frameSessionId;
    this.#post({ type: "MCP_TRANSPORT_HANDSHAKE_REPLY", sessionId, protocolVersion: PROTOCOL_VERSION });
  }

  #accepted(sessionId) {
    if (sessionId !== this.frameSessionId) {
      throw new FrameError("MalformedMessage", "MCP_TRANSPORT_ACCEPTED has another session id.");
    }
    clearTimeout(this.#timer);
    this.#state = "open";
    this.#starting.resolve();
  }

  #deliver(payload) {
    if ("method" in payload && "id" in payload) {
      if (this.#owed.size >= this.#limits.maxPending) {
        const error = tooManyPending(this.#limits);
        this.#answerInsteadOf(payload, error);
        throw error;
      }
      this.#owed.add(payload.id);
    } else if (!("method" in payload)) {
      this.#asked.delete(payload.id);
    } else if (payload.method === "notifications/cancelled") {
      this.#owed.delete(payload.params?.requestId);
    }
    this.onmessage?.(payload);
  }

  /** A refused request is answered with an error; a refused answer becomes an error for the one who waits for it. */
  #answerInsteadOf(payload, error) {
    const id = payload?.id;
    if (this.#state !== "open" || !isId(id)) return;
    const response = errorResponse(id, INTERNAL_ERROR, error.message);
    if ("method" in payload) this.#post({ type: "MCP_MESSAGE", payload: response });
    else if (this.#asked.delete(id)) this.onmessage?.(response);
  }

  // ---- outbound

  #outbound(message) {
    // What JSON would carry, and nothing else: no undefined, no Map, no shared references.
    const payload = JSON.parse(JSON.stringify(message));
    checkMessage({ type: "MCP_MESSAGE", payload }, this.#limits);
    if ("method" in payload && "id" in payload) {
      if (this.#asked.size >= this.#limits.maxPending) throw tooManyPending(this.#limits);
      this.#asked.add(payload.id);
    } else if (!("method" in payload)) {
      this.#owed.delete(payload.id);
    } else if (payload.method === "notifications/cancelled") {
      this.#asked.delete(payload.params?.requestId);
    }
    return payload;
  }

  #post(message) {
    this.#peer.postMessage(message, this.#target);
  }

  // ---- the page's life

  #navigate() {
    this.#state = "awaiting";
    this.#loads = 0;
    this.#iframe.src = this.#url;
  }

  #loaded() {
    if (this.#state === "clearing") return this.#navigate();
    this.#loads += 1;
    if (this.#loads > 1 && this.#state === "open") {
      this.#end(new FrameError("PeerGone", "The framed page was reloaded or navigated away."));
    }
  }

  #wait(milliseconds = DEFAULT_TIMEOUT, what) {
    clearTimeout(this.#timer);
    if (milliseconds === Infinity) return;
    this.#timer = setTimeout(() => {
      this.#end(new FrameError("HandshakeTimeout", `${what} within ${milliseconds / 1000} s.`));
    }, milliseconds);
  }

  /** Leave nothing behind: no listener, no timer, no request without an answer. */
  #end(error) {
    const wasOpen = this.#state === "open";
    this.#state = "closed";
    clearTimeout(this.#timer);
    window.removeEventListener("message", this.#onMessageEvent);
    this.#iframe.removeEventListener("load", this.#onLoad);
    this.#removals.disconnect();
    const reason = error?.message ?? "The session was closed before the answer came.";
    const unanswered = [...this.#asked];
    this.#asked.clear();
    for (const id of unanswered) {
      this.#attempt(() => this.onmessage?.(errorResponse(id, CONNECTION_CLOSED, reason)));
    }
    if (!wasOpen) this.#starting?.reject(error ?? new FrameError("StateError", "The frame was closed while starting."));
    else if (error) this.#report(error);
    this.#attempt(() => this.onclose?.());
  }

  #reportOrigin(origin) {
    if (this.#strangeOrigins.has(origin)) return; // once each, so that a flood is one error
    this.#strangeOrigins.add(origin);
    this.#report(new FrameError("UnexpectedOrigin", `The iframe shows a page of ${origin}, not of ${this.origin}.`));
  }

  #report(error) {
    this.#attempt(() => this.onerror?.(error));
  }

  /** Call back into the host: what it throws shows up in its console, and stops nothing here. */
  #attempt(callback) {
    try {
      callback();
    } catch (error) {
      reportError(error);
    }
  }
}

// ---- shapes: the union of the SEP, the reference guide, and the draft specification of 2025-07

function readHandshake({ protocolVersion, minProtocolVersion, maxProtocolVersion }) {
  const isRange = minProtocolVersion != null && maxProtocolVersion != null;
  const [min, max] = isRange ? [minProtocolVersion, maxProtocolVersion] : [protocolVersion, protocolVersion];
  if (!isVersion(min) || !isVersion(max)) throw malformed("MCP_TRANSPORT_HANDSHAKE", "protocolVersion");
  return { min, max };
}

function readAccepted({ sessionId }) {
  if (typeof sessionId !== "string") throw malformed("MCP_TRANSPORT_ACCEPTED", "sessionId");
  return sessionId;
}

function readPayload({ payload }) {
  const ok =
    isObject(payload) &&
    payload.jsonrpc === "2.0" &&
    ("method" in payload
      ? typeof payload.method === "string" &&
        !("result" in payload || "error" in payload) &&
        (payload.id === undefined || isId(payload.id)) &&
        (payload.params === undefined || isObject(payload.params))
      : "result" in payload !== "error" in payload && (isId(payload.id) || ("error" in payload && payload.id == null)));
  if (!ok) throw malformed("MCP_MESSAGE", "payload");
  return payload;
}

function readSetupRequired({ reason, message, canContinue }) {
  if (!SETUP_REASONS.includes(reason)) throw malformed("MCP_SETUP_REQUIRED", "reason");
  if (typeof message !== "string") throw malformed("MCP_SETUP_REQUIRED", "message");
  if (typeof canContinue !== "boolean") throw malformed("MCP_SETUP_REQUIRED", "canContinue");
  return { reason, message, canContinue };
}

/** Versions compare as numbers: 1.10 is newer than 1.9. */
function speaksOurVersion({ min, max }) {
  return compareVersions(min, PROTOCOL_VERSION) <= 0 && compareVersions(PROTOCOL_VERSION, max) <= 0;
}

function compareVersions(left, right) {
  const [a, b] = [left, right].map((version) => version.split(".").map(Number));
  return a[0] - b[0] || a[1] - b[1];
}

const isVersion = (value) => typeof value === "string" && /^\d{1,6}\.\d{1,6}$/.test(value);
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isId = (value) => typeof value === "string" || Number.isSafeInteger(value);
const clip = (text) => (text.length > 64 ? `${text.slice(0, 64)}…` : text);
const malformed = (type, field) => new FrameError("MalformedMessage", `${type} has no valid ${field}.`);
const refuse = async (name, message) => {
  throw new FrameError(name, message);
};
const errorResponse = (id, code, message) => ({ jsonrpc: "2.0", id, error: { code, message } });
const tooManyPending = ({ maxPending }) =>
  new FrameError("TooManyPending", `${maxPending} requests are already waiting for an answer (maxPending).`);

/**
 * Check that a value is plain JSON data within the limits and holds no key that could reach a JavaScript prototype:
 * `__proto__` anywhere, or `constructor` holding a `prototype` (the rule of npm's secure-json-parse).
 *
 * Structured clones may be cyclic or share parts, so that a small message is an endless one: every step is counted,
 * and the walk ends as soon as the text could not fit.
 */
function checkMessage(message, { maxMessageBytes, maxNesting }) {
  let least = 0;
  let most = 0;
  const count = (atLeast, atMost) => {
    least += atLeast;
    most += atMost;
    if (least > maxMessageBytes) throw tooLarge(maxMessageBytes);
  };
  const walk = (value, depth) => {
    if (typeof value === "string") return count(value.length + 2, value.length * 6 + 2);
    if (typeof value === "number" || typeof value === "boolean" || value === null) return count(1, 25);
    if (value === undefined) return count(0, 4);
    if (typeof value !== "object") throw new FrameError("MalformedMessage", `A ${typeof value} is not JSON data.`);
    if (depth > maxNesting) {
      throw new FrameError("MessageTooDeep", `The message is nested deeper than ${maxNesting} levels (maxNesting).`);
    }
    count(2, 2);
    if (Array.isArray(value)) {
      for (const item of value) {
        count(1, 1);
        walk(item, depth + 1);
      }
      return;
    }
    const prototype = Object.getPrototypeOf(value);
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
      throw new FrameError("MalformedMessage", `A ${value.constructor?.name ?? "special object"} is not JSON data.`);
    }
    for (const key of Object.keys(value)) {
      if (key === "__proto__" || (key === "constructor" && isObject(value[key]) && Object.hasOwn(value[key], "prototype"))) {
        throw new FrameError("PrototypeKey", `The message has a key ${key} that could change a prototype.`);
      }
      count(key.length + 3, key.length * 6 + 4);
      walk(value[key], depth + 1);
    }
  };
  walk(message, 1);
  if (most > maxMessageBytes && new TextEncoder().encode(JSON.stringify(message)).length > maxMessageBytes) {
    throw tooLarge(maxMessageBytes);
  }
}

const tooLarge = (limit) => new FrameError("MessageTooLarge", `The message has more than ${limit} bytes (maxMessageBytes).`);

/** Take `setup` out of an address' hash: a comma list of exact tokens, which begins the setup phase. */
function stripSetup(address) {
  const tokens = address.hash.slice(1).split(",");
  address.hash = tokens.filter((token) => token !== "setup").join(",");
}

/** An id that cannot be guessed. Pages on plain http have no randomUUID. */
function randomId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
