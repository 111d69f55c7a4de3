/**
 * The host side of the MCP postMessage transport, for pages in JavaScript.
 *
 *     import { Client } from "@modelcontextprotocol/client";
 *     import { FrameTransport } from "./host.js";
 *
 *     const iframe = document.body.appendChild(document.createElement("iframe"));
 *     const transport = new FrameTransport({ iframe, url: "https://tools.example/pi-calculator/" });
 *     const { title, ephemeralMessage, error } = await transport.setup(); // once, when the user adds the server
 *     const client = new Client({ name: "my-host", version: "1.0.0" });
 *     await client.connect(transport);
 *
 * `FrameTransport` plays the outer frame of the SEP "postMessage Transport" in both of its phases:
 *
 *     state        message of the framed page      what we do                                  next state
 *     awaiting     MCP_SETUP_HANDSHAKE             ask for permissions, load the page anew     awaiting
 *     awaiting     MCP_SETUP_HANDSHAKE             post MCP_SETUP_HANDSHAKE_REPLY              setting up
 *     setting up   MCP_SETUP_HANDSHAKE             post the same reply again                   setting up
 *     setting up   MCP_SETUP_COMPLETE              setup() resolves, also if it is malformed   idle
 *     awaiting     MCP_TRANSPORT_HANDSHAKE         post MCP_TRANSPORT_HANDSHAKE_REPLY          confirming
 *     confirming   MCP_TRANSPORT_HANDSHAKE         post the same reply again                   confirming
 *     confirming   MCP_TRANSPORT_ACCEPTED          start() resolves                            open
 *     open         MCP_MESSAGE                     hand the payload to the SDK                 open
 *     open         MCP_SETUP_REQUIRED              tell the host                               open
 *     open         MCP_TRANSPORT_HANDSHAKE         another document is there: fail, close      closed
 *     not open     mcpframe-origin-refused         the page does not allow this origin: fail   closed
 *
 * Every message passes one gate, in this order: source window, origin, shape, state. Messages of other windows are dropped
 * unread, those of other libraries are ignored, and malformed messages of this protocol are reported to `onerror`.
 *
 * No dependencies. It needs a browser of 2022 or later.
 */

import {
  FrameError,
  PROTOCOL_VERSION,
  checkContent,
  checkSessionId,
  isId,
  readAccepted,
  readHandshake,
  readInbound,
  readOutbound,
  readPayload,
  readSetupComplete,
  readSetupHandshake,
  readSetupRequired,
  speaksOurVersion,
  unreadableSetup,
} from "./host-messages.js";
import { Alive } from "./host-alive.js";
import { jsonOf, outlineOf } from "./host-json.js";

export { FrameError, PROTOCOL_VERSION };

/**
 * The kind of a `FrameError`; the names are those of mcpframe's Python errors. The first four end the session:
 * - `HandshakeTimeout`: the page sent no handshake, or did not accept the session, in time.
 * - `HandshakeRefused`: the page does not allow this origin.
 * - `VersionMismatch`: the page speaks no version of the postMessage protocol that this host speaks.
 * - `PeerGone`: the page was reloaded, navigated away or removed.
 * - `PopupBlocked`: the browser opened no popup.
 * - `PermissionsDenied`: a permission that the page cannot do without was not granted. Ends its setup.
 * - `StateError`: a call that does not fit the transport's state, such as sending before it is open.
 * - `OriginError`: an address, a sandbox or a session id that cannot work.
 *
 * The others are about one message, which is refused; the session goes on.
 * @typedef {"HandshakeTimeout" | "HandshakeRefused" | "VersionMismatch" | "PeerGone" | "PopupBlocked" | "PermissionsDenied" | "StateError"
 *   | "OriginError" | "MalformedMessage" | "UnexpectedMessage" | "UnexpectedOrigin" | "MessageTooLarge" | "MessageTooDeep"
 *   | "PrototypeKey" | "TooManyPending"} FrameErrorName
 */

/** @typedef {"required" | "optional" | "hidden"} Visibility */

/**
 * Deadlines in milliseconds; `Infinity` for none.
 * @typedef {object} FrameTimeouts
 * @property {number} [handshake] From the start until the page must have sent its handshake, loading included. Default
 *   30 000.
 * @property {number} [accept] From our reply until the page must have accepted the session; by default as many as
 *   `handshake`. A page may send its handshake before it has started, so that this covers starting it, too.
 * @property {number} [setup] From our reply until the page must have completed its setup. Default 1 800 000.
 */

/**
 * @typedef {object} FrameLimits
 * @property {number} [maxMessageBytes] Bytes of one message as JSON in UTF-8, in either direction. Default 64 MiB.
 * @property {number} [maxNesting] Arrays and objects inside each other in one message, in either direction. Default 100.
 * @property {number} [maxPending] Requests without an answer, per direction. Default 1000.
 */

/**
 * One message at the gate, as `onWire` gets it.
 * @typedef {object} Wire
 * @property {"sent" | "received"} direction
 * @property {string | null} text Its JSON text; null where it was not read, as nothing of a stranger is, or is not JSON
 *   within the limits.
 * @property {string} origin Where it came from, or the target origin that it was posted to.
 * @property {string | null} refused Why it was refused, in a sentence; null where it was not.
 */

/**
 * @typedef {object} FrameOptions
 * @property {string | URL} url The http(s) address of the page; a `#setup` in it is left out.
 * @property {string | undefined} [sessionId] To resume what the page stored under this id. By default a new random one.
 * @property {readonly string[] | undefined} [permissions] The Permissions Policy features that are granted, such as
 *   "clipboard-read". With those that `onpermissions` grants they are the iframe's `allow` attribute. In a popup the
 *   browser asks.
 * @property {Visibility | undefined} [visibility] What an earlier setup said; `required` shows the iframe at the start.
 *   Default hidden.
 * @property {number | FrameTimeouts | undefined} [timeout] One number for the deadlines of both handshakes, or each.
 * @property {FrameLimits | undefined} [limits]
 * @property {number | undefined} [unresponsiveAfter] Milliseconds until `onunresponsive` reports a page that is silent
 *   while requests wait. After half of it the page is asked. Default 20 000; `Infinity` never asks.
 * @property {"light" | "dark" | "light dark" | undefined} [colorScheme] The `color-scheme` of the iframe, which the page
 *   follows. By default that of the host's page, which is light if it declares none; "light dark" leaves it to the system.
 * @property {((wire: Wire) => void) | undefined} [onWire] Called with every message, in either phase, as it is sent,
 *   received or refused. It costs; for inspecting. Of messages that other windows post to this one, only the origin is
 *   reported.
 */

/**
 * @typedef {object} InIframe
 * @property {HTMLIFrameElement} iframe An iframe in the document. Whatever it showed is replaced, and its `allow`
 *   attribute too.
 * @property {false | undefined} [popup]
 * @property {keyof typeof SANDBOX | (string & {}) | undefined} [sandbox] A name of `SANDBOX`, or the text of the iframe's
 *   `sandbox` attribute. By default the attribute that it has, or else `standard`.
 * @property {boolean | undefined} [opaque] The page is in a sandbox without `allow-same-origin`. Its origin is "null",
 *   like that of every such frame, so that messages can only be posted to "*": whatever is in that iframe reads them.
 */

/**
 * @typedef {object} InPopup
 * @property {true} popup Open the page in a popup: call `setup()` and `connect()` in answer to a click, or it will be
 *   blocked.
 * @property {undefined} [iframe]
 * @property {undefined} [sandbox]
 * @property {undefined} [opaque]
 */

/** @typedef {FrameOptions & (InIframe | InPopup)} FrameTransportOptions */

/**
 * A browser permission that a page asks for in its setup (draft specification of 2025-07).
 * @typedef {object} PermissionRequest
 * @property {string} name The Permissions Policy feature.
 * @property {string[]} phase The phases it is needed in, of "setup" and "transport".
 * @property {boolean} required Whether the page is useless without it.
 * @property {string} purpose A sentence for the user.
 */

/**
 * The codes of the protocol; a page may have its own, which is passed on as it is.
 * @typedef {"USER_CANCELLED" | "AUTH_FAILED" | "TIMEOUT" | "CONFIG_ERROR" | "VERSION_MISMATCH"
 *   | "INSUFFICIENT_PERMISSIONS" | (string & {})} SetupErrorCode
 */

/**
 * How a setup ended.
 * @typedef {object} SetupResult
 * @property {string} title The name for this configuration; empty where the page gave none.
 * @property {Visibility} visibility Whether the page is to be seen in the transport phase.
 * @property {string} [visibilityMessage] For `optional`: the use of seeing it.
 * @property {string} [ephemeralMessage] A short notice for the user.
 * @property {{ code: SetupErrorCode, message: string }} [error] Where the setup failed or was cancelled.
 */

/**
 * A page needs its setup phase again (`MCP_SETUP_REQUIRED` of the SEP).
 * @typedef {object} SetupRequest
 * @property {"AUTH_EXPIRED" | "CONFIG_CHANGED" | "PERMISSIONS_CHANGED" | "OTHER"} reason
 * @property {string} message
 * @property {boolean} canContinue
 */

const DEFAULT_TIMEOUT = 30_000;
const SETUP_TIMEOUT = 30 * 60_000;
/** How long a page may be silent until it is asked whether it still runs, and how long it has to answer; milliseconds. */
const DEFAULT_SILENCE = 10_000;
/** How long to wait before a silent page is loaded again, in milliseconds: earlier, the browser would load it into the
 * blocked process. */
const BLOCKED_PROCESS_END = 5_000;
/** How long a page that has loaded may be without a handshake until there is a hint, in milliseconds: a bundle calls before
 * it has loaded. */
const HINT_AFTER = 2_000;
const DEFAULT_LIMITS = { maxMessageBytes: 64 * 1024 * 1024, maxNesting: 100, maxPending: 1000 };

/**
 * The `sandbox` attribute by preset; the same in Python. `strict` takes away the page's origin: see `opaque`.
 * @type {{ readonly standard: string, readonly popups: string, readonly strict: string }}
 */
export const SANDBOX = {
  standard: "allow-scripts allow-same-origin allow-forms allow-downloads",
  popups:
    "allow-scripts allow-same-origin allow-forms allow-downloads allow-popups allow-popups-to-escape-sandbox allow-modals",
  strict: "allow-scripts",
};

const POPUP_SIZE = [800, 600];
/** The interval of checks whether a popup was closed, in milliseconds, as there is no event for it. */
const POPUP_POLL = 250;
/** How often one setup may ask for more permissions; the page is loaded again each time. */
const MOST_DECISIONS = 3;

/** A request that is answered when its subscription ends, which may be never. */
const STREAM = "subscriptions/listen";
/** JSON-RPC error codes: the connection was closed (as in both official SDKs), the request is refused, any other error. */
const CONNECTION_CLOSED = -32000;
const INVALID_REQUEST = -32600;
const INTERNAL_ERROR = -32603;

/**
 * An MCP transport to a page in an iframe or a popup. One transport serves one session. It satisfies `Transport` of
 * `@modelcontextprotocol/client` and `/server` 2.x.
 */
export class FrameTransport {
  /**
   * Set by the SDK. The SDK's own message types are assignable to it.
   * @type {((message: any, extra?: any) => void) | undefined}
   */
  onmessage;
  /**
   * Set by the SDK. Errors reported here don't end the session, except one that is followed by `onclose`.
   * @type {((error: Error) => void) | undefined}
   */
  onerror;
  /**
   * Set by the SDK. Called once, when the session is over for whatever reason.
   * @type {(() => void) | undefined}
   */
  onclose;
  /**
   * The page asks for its setup again.
   * @type {((request: SetupRequest) => void) | undefined}
   */
  onsetuprequired;
  /**
   * The iframe is shown or hidden, by this transport or by the host through it.
   * @type {((visible: boolean) => void) | undefined}
   */
  onvisibility;
  /**
   * The page does not answer while requests wait, or after one was cancelled (true), or does again (false): offer
   * `reload()`. Without this function the first is logged as a warning.
   * @type {((unresponsive: boolean) => void) | undefined}
   */
  onunresponsive;
  /**
   * The page has loaded and has not called for 2 s: a sentence on what to check. It is waited for until the deadline.
   * Without this function the sentence is logged as a warning.
   * @type {((hint: string) => void) | undefined}
   */
  onhint;
  /**
   * Called if a setup asks for permissions that are not decided yet; returns the names of those to grant. Without it
   * no more are granted.
   * @type {((requested: PermissionRequest[]) => string[] | Promise<string[]>) | undefined}
   */
  onpermissions;

  /**
   * The id that the framed page may scope its storage by. Not called `sessionId`: to the SDK, a transport that has one is
   * a connection that goes on, and `connect()` would not initialize it.
   * @type {string}
   */
  frameSessionId;
  /**
   * The only origin that messages are accepted from and posted to; "null" for an opaque one.
   * @type {string}
   */
  origin;
  /**
   * The names of the permissions granted so far.
   * @type {string[]}
   */
  permissions;

  #iframe;
  #address;
  #target;
  #timeout;
  #limits;
  /** @type {string} */
  #state = "idle";
  #rules;
  #peer = null;
  #url;
  #loads = 0;
  #timer;
  #hinting;
  #poll;
  #phase;
  #visibility;
  #declined = new Set();
  #phases = new Map();
  #strangeOrigins = new Set();
  /** Pending requests: ours to the page, and the page's to us. */
  #asked = new Map(); // each with its method
  #cancelled = new Set();
  #owed = new Set();
  #onWire;
  /** @type {any} */
  #options;
  #alive;
  #rest = 0;
  #resting;

  #onMessageEvent = (event) => {
    try {
      this.#receive(event);
    } catch (error) {
      this.#report(error);
    }
  };
  #onLoad = () => this.#loaded();
  #look = () => {
    if (this.#iframe ? this.#iframe.contentWindow === this.#peer : !this.#peer.closed) return;
    const what = this.#iframe ? "The iframe was removed from the page, or moved within it." : "The popup was closed.";
    this.#end(new FrameError("PeerGone", what));
  };
  #removals = new MutationObserver(this.#look);

  /**
   * What each message does in each state of a phase; in a state that is missing, the message is refused.
   * `shape` reads the message, `check` compares it with earlier ones; both throw a FrameError.
   */
  #setupRules = {
    MCP_SETUP_HANDSHAKE: {
      shape: readSetupHandshake,
      check: (offer) => this.#checkRepetition(offer),
      awaiting: (offer) => this.#answerSetupHandshake(offer),
      "setting up": (offer) => this.#answerSetupHandshake(offer),
    },
    MCP_SETUP_COMPLETE: {
      shape: readSetupComplete,
      "setting up": (result) => this.#settle(result),
    },
  };
  #transportRules = {
    MCP_TRANSPORT_HANDSHAKE: {
      shape: readHandshake,
      check: (offer) => this.#checkRepetition(offer),
      awaiting: (offer) => this.#answerHandshake(offer),
      confirming: (offer) => this.#answerHandshake(offer),
      open: () => this.#end(new FrameError("PeerGone", "The framed page was reloaded or replaced: it began anew.")),
    },
    MCP_TRANSPORT_ACCEPTED: {
      shape: readAccepted,
      check: (sessionId) => this.#checkSession(sessionId),
      confirming: () => this.#accepted(),
      open: () => {},
    },
    MCP_MESSAGE: {
      shape: readPayload,
      check: (payload) => this.#checkOwed(payload),
      open: (payload) => this.#deliver(payload),
    },
    MCP_SETUP_REQUIRED: {
      shape: readSetupRequired,
      open: (request) => this.onsetuprequired?.(request),
    },
  };

  /**
   * @param {FrameTransportOptions} options
   * @throws {FrameError} OriginError for an address, a sandbox or a permission that cannot work
   */
  constructor(options) {
    const {
      iframe,
      popup = false,
      url,
      sessionId,
      sandbox,
      permissions = [],
      visibility = "hidden",
      timeout = {},
      limits = {},
      opaque = false,
      unresponsiveAfter = 2 * DEFAULT_SILENCE,
      onWire,
      colorScheme,
    } = options;
    if (!iframe === !popup) throw new FrameError("StateError", "Pass either an iframe or popup: true.");
    const address = new URL(url, document.baseURI);
    if (address.protocol !== "http:" && address.protocol !== "https:") {
      throw new FrameError("OriginError", `A framed page needs an http or https address, not ${address.protocol}//…`);
    }
    if (iframe && (sandbox !== undefined || !iframe.hasAttribute("sandbox"))) {
      iframe.setAttribute("sandbox", SANDBOX[sandbox ?? "standard"] ?? sandbox);
    }
    if (iframe) iframe.style.colorScheme = colorScheme ?? schemeFor(iframe);
    const isOpaque = Boolean(iframe) && !iframe.sandbox.contains("allow-same-origin");
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
    this.#address = address;
    this.origin = opaque ? "null" : address.origin;
    this.#target = opaque ? "*" : address.origin;
    this.#timeout = typeof timeout === "number" ? { handshake: timeout, accept: timeout } : timeout;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#visibility = visibility;
    this.#onWire = onWire;
    this.permissions = [...new Set(permissions.map(checkPermission))];
    this.frameSessionId = sessionId ?? randomId();
    checkSessionId(this.frameSessionId);
    this.#options = { iframe, popup, url: address, timeout, limits, opaque, unresponsiveAfter, onWire, colorScheme };
    this.#alive = new Alive({
      after: unresponsiveAfter / 2,
      id: `mcpframe-ping-${randomId()}`,
      waits: () => this.#state === "open" && [...this.#asked.values()].some((method) => method !== STREAM),
      ask: (payload) => this.#post({ type: "MCP_MESSAGE", payload }),
      tell: (unresponsive) => this.#attempt(() => this.#tellUnresponsive(unresponsive)),
    });
  }

  /** Whether this is the state now: it may have changed since a comparison, while something was awaited. */
  #is(state) {
    return this.#state === state;
  }

  /**
   * Run the page's setup phase. Comes before `connect()`; an iframe is shown as long as the page needs to be seen.
   * @param {{ signal?: AbortSignal | undefined }} [options] to give it up
   * @returns {Promise<SetupResult>} with an `error` where it failed or was cancelled
   * @throws {FrameError} HandshakeTimeout, HandshakeRefused, VersionMismatch, PeerGone, PopupBlocked, PermissionsDenied,
   *   StateError
   */
  async setup({ signal } = {}) {
    if (this.#state !== "idle") throw new FrameError("StateError", `No setup now: the frame is ${this.#state}.`);
    signal?.throwIfAborted();
    const wasVisible = this.visible;
    const abandon = () => this.#end(signal.reason);
    signal?.addEventListener("abort", abandon);
    try {
      for (let decisions = 0; decisions < MOST_DECISIONS; decisions++) {
        const result = await this.#begin("setup", this.#setupRules);
        if (!result.undecided) {
          if (!result.error) this.#visibility = result.visibility;
          return result;
        }
        await this.#decide(result.undecided);
        signal?.throwIfAborted();
        if (this.#is("closed")) throw new FrameError("StateError", "The frame was closed during its setup.");
      }
      throw new FrameError("PermissionsDenied", "The page asks for other permissions whenever it is loaded.");
    } finally {
      signal?.removeEventListener("abort", abandon);
      if (!this.#is("closed")) this.#state = "idle";
      this.#rules = null;
      if (this.#iframe?.isConnected) this.#iframe.src = "about:blank"; // its setup is over, and so is its page
      this.#show(wasVisible);
    }
  }

  /**
   * Load the page and shake hands with it. The SDK calls this in `connect()`.
   * @returns {Promise<void>} settled once both sides may send
   * @throws {FrameError} HandshakeTimeout, HandshakeRefused, VersionMismatch, PeerGone, PopupBlocked, StateError
   */
  async start() {
    if (this.#state !== "idle") {
      throw new FrameError("StateError", `A FrameTransport starts once, and is ${this.#state}: make a new one.`);
    }
    const started = this.#begin("transport", this.#transportRules);
    if (this.#visibility === "required") this.#show(true);
    await started;
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
      const text = () => this.#wireText({ type: "MCP_MESSAGE", payload: message });
      this.#tell("sent", text, this.#target, error.message);
      // The page must not wait forever for this response.
      if (!("method" in message) && this.#owed.delete(message.id)) {
        this.#post({ type: "MCP_MESSAGE", payload: errorResponse(message.id, INTERNAL_ERROR, error.message) });
      }
      throw error;
    }
    this.#post({ type: "MCP_MESSAGE", payload });
  }

  /** End the session. Pending requests fail; an iframe stays as it is, for the host to hide or remove, a popup closes. */
  async close() {
    if (this.#state === "closed") return;
    const inSetup = this.#rules === this.#setupRules;
    this.#end();
    if (!inSetup) return;
    this.#state = "closed";
    this.#attempt(() => this.onclose?.());
  }

  /**
   * Stop the page's tools: their calls fail at once with -32000 and `data.reason` "stopped", and the page is told. The
   * session continues. A server in a worker ends what computes. Before and after the session nothing happens.
   * @param {string} [reason] a sentence for the caller and for the server
   */
  stop(reason = "The host's user has stopped it.") {
    if (this.#state !== "open") return;
    for (const [id, method] of [...this.#asked]) {
      if (method !== "tools/call") continue;
      const params = { requestId: id, reason };
      this.#noteCancelled(id);
      this.#post({ type: "MCP_MESSAGE", payload: { jsonrpc: "2.0", method: "notifications/cancelled", params } });
      const failed = errorResponse(id, CONNECTION_CLOSED, reason, { reason: "stopped" });
      this.#attempt(() => this.onmessage?.(failed));
    }
  }

  /**
   * End this session, for a page that is unresponsive or has stopped, and make the transport of the next one: it loads the
   * page anew, in the same place and with the same session id. Connect another client to it. A popup is opened anew: call
   * this in answer to a click.
   * @returns {FrameTransport}
   */
  reload() {
    if (this.#state !== "closed") this.#end();
    const sessionId = this.#options.opaque ? undefined : this.frameSessionId;
    const { permissions } = this;
    const next = new FrameTransport({ ...this.#options, sessionId, permissions, visibility: this.#visibility });
    next.#phases = this.#phases;
    next.#declined = this.#declined;
    if (this.#alive.silent) next.#rest = BLOCKED_PROCESS_END;
    for (const hook of ["onsetuprequired", "onvisibility", "onunresponsive", "onhint", "onpermissions"])
      next[hook] = this[hook];
    return next;
  }

  /** Whether the framed page is shown. */
  get visible() {
    return !this.#iframe || !(this.#iframe.hidden || this.#iframe.style.display === "none");
  }

  /** Show the iframe, or bring the popup to the front. */
  show() {
    this.#show(true);
    if (!this.#iframe) this.#peer?.focus();
  }

  /** Hide the iframe; its page goes on running. A popup can't be hidden. */
  hide() {
    this.#show(false);
  }

  // ---- inbound

  #receive(event) {
    if (this.#state === "clearing" || this.#state === "resting") return;
    const { origin } = event;
    if (event.source === null || event.source !== this.#peer) {
      return this.#tell("received", null, origin, OTHER_WINDOW);
    }
    if (origin !== this.origin) {
      this.#tell("received", null, origin, OTHER_ORIGIN);
      return this.#reportOrigin(origin);
    }
    const { data } = event;
    const outline = outlineOf(data);
    if (outline.type === ORIGIN_REFUSED && STARTING.includes(this.#state)) return this.#refused(data, origin);
    if (!outline.type?.startsWith("MCP_")) return this.#tell("received", () => this.#wireText(data), origin, NOISE);
    /** @type {{ text: any, message?: any }} */
    let read = { text: null };
    let act;
    try {
      read = readInbound(data, this.#limits);
      act = this.#actOn(read);
    } catch (error) {
      this.#tell("received", read.text, origin, error.message);
      this.#failWhoWaits(outline, error);
      throw error;
    }
    this.#tell("received", read.text, origin);
    act();
  }

  #tellUnresponsive(unresponsive) {
    if (this.onunresponsive) this.onunresponsive(unresponsive);
    else if (unresponsive)
      console.warn(`${this.#address.href} does not answer: end the session, or reload() the page.`);
  }

  /** End a phase whose page does not allow this origin: see `mcpframe.frame.core.refusal`. */
  #refused(data, from) {
    this.#tell("received", () => this.#wireText(data), from);
    this.#end(new FrameError("HandshakeRefused", notAllowed()));
  }

  /** Check a message of the framed page, and return the action for it. */
  #actOn({ text, message = undefined }) {
    const { type } = message;
    checkContent(text, message);
    const rule = Object.hasOwn(this.#rules, type) && this.#rules[type];
    if (!rule)
      throw new FrameError("UnexpectedMessage", `${clip(type)} is not a message that a framed page sends here.`);
    const body = rule.shape(message);
    rule.check?.(body);
    const act = rule[this.#state];
    if (!act) throw new FrameError("UnexpectedMessage", `${type} does not belong here: the frame is ${this.#state}.`);
    return () => act(body);
  }

  #answerSetupHandshake(offer) {
    if (!speaksOurVersion(offer)) return this.#end(wrongVersion(offer));
    if (this.#state === "awaiting") {
      const undecided = offer.permissions.filter((permission) => this.#isUndecided(permission));
      if (undecided.length) {
        this.#settle({ undecided });
        this.#state = "deciding";
        return;
      }
      for (const { name, phase } of offer.permissions) this.#phases.set(name, phase);
      this.#state = "setting up";
      this.#wait(this.#timeout.setup ?? SETUP_TIMEOUT, "The setup was not completed");
      if (offer.requiresVisible) this.#show(true);
    }
    const sessionId = this.frameSessionId;
    this.#post({ type: "MCP_SETUP_HANDSHAKE_REPLY", sessionId, protocolVersion: PROTOCOL_VERSION });
  }

  #answerHandshake(offer) {
    if (!speaksOurVersion(offer)) return this.#end(wrongVersion(offer));
    if (this.#state === "awaiting") {
      this.#state = "confirming";
      const { handshake, accept = handshake } = this.#timeout;
      this.#wait(
        accept,
        "The framed page did not accept the session (it has not started, or does not allow this origin)",
      );
    }
    const sessionId = this.frameSessionId;
    this.#post({ type: "MCP_TRANSPORT_HANDSHAKE_REPLY", sessionId, protocolVersion: PROTOCOL_VERSION });
  }

  #checkRepetition(offer) {
    if ((this.#state === "setting up" || this.#state === "confirming") && !speaksOurVersion(offer)) {
      throw new FrameError("UnexpectedMessage", "A repeated handshake has another version than the first.");
    }
  }

  #checkSession(sessionId) {
    if (this.#state === "confirming" && sessionId !== this.frameSessionId) {
      throw new FrameError("UnexpectedMessage", "MCP_TRANSPORT_ACCEPTED has another session id.");
    }
  }

  #accepted() {
    clearTimeout(this.#timer);
    this.#state = "open";
    this.#phase.resolve();
  }

  #deliver(payload) {
    if (this.#alive.heard(payload)) return;
    if ("method" in payload && "id" in payload) {
      this.#owed.add(payload.id);
    } else if (!("method" in payload)) {
      if (this.#cancelled.has(payload.id)) return; // "the sender SHOULD ignore any response that arrives afterward"
      this.#asked.delete(payload.id);
    } else if (payload.method === "notifications/cancelled") {
      this.#owed.delete(payload.params?.requestId);
    }
    this.onmessage?.(payload);
  }

  #checkOwed(payload) {
    if (!("method" in payload && "id" in payload)) return;
    if (this.#owed.has(payload.id)) throw idInUse(payload.id);
    if (this.#owed.size >= this.#limits.maxPending) {
      throw tooManyPending(this.#limits);
    }
  }

  /**
   * After a refused message, nobody must wait for what cannot come: a request gets an error response, our request that it
   * answers fails, and a setup that the page considers complete ends.
   */
  #failWhoWaits({ type = undefined, kind, id = undefined }, error) {
    if (type === "MCP_SETUP_COMPLETE" && this.#state === "setting up") return this.#settle(unreadableSetup(error));
    if (type !== "MCP_MESSAGE" || this.#state !== "open") return;
    if (kind === "request") {
      const code = error.name === "TooManyPending" ? INTERNAL_ERROR : INVALID_REQUEST;
      const known = typeof id === "string" || typeof id === "number" ? id : null;
      this.#post({ type: "MCP_MESSAGE", payload: errorResponse(known, code, error.message) });
    } else if (kind === "response" && isId(id) && this.#asked.delete(id)) {
      this.onmessage?.(errorResponse(id, INTERNAL_ERROR, `The answer was refused: ${error.message}`));
    }
  }

  // ---- outbound

  #outbound(message) {
    const payload = readOutbound(message, this.#limits);
    if ("method" in payload && "id" in payload) {
      if (this.#asked.has(payload.id)) throw idInUse(payload.id);
      if (this.#asked.size >= this.#limits.maxPending) throw tooManyPending(this.#limits);
      this.#asked.set(payload.id, payload.method);
      this.#cancelled.delete(payload.id);
      if (payload.method !== STREAM) this.#alive.expect();
    } else if (!("method" in payload)) {
      this.#owed.delete(payload.id);
    } else if (payload.method === "notifications/cancelled") {
      this.#noteCancelled(payload.params?.requestId);
    }
    return payload;
  }

  #noteCancelled(id) {
    if (!this.#asked.delete(id)) return;
    this.#alive.doubt();
    this.#cancelled.add(id);
    if (this.#cancelled.size > this.#limits.maxPending) this.#cancelled.delete(this.#cancelled.values().next().value);
  }

  #post(message) {
    this.#peer.postMessage(message, this.#target);
    this.#tell("sent", () => this.#wireText(message), this.#target);
  }

  // ---- permissions

  #isUndecided({ name, required }) {
    return !this.permissions.includes(name) && (required || Boolean(this.onpermissions && !this.#declined.has(name)));
  }

  /** Ask the host. A page's permissions are fixed when it is loaded, so it is loaded again afterwards. */
  async #decide(requested) {
    const names = requested.map(({ name }) => name);
    for (const { name, phase } of requested) this.#phases.set(name, phase); // the permissions apply from the next load
    const granted = [...new Set((await this.onpermissions?.(requested)) ?? [])].map(checkPermission);
    const unasked = granted.filter((name) => !names.includes(name));
    if (unasked.length) throw new FrameError("StateError", `Granted, but not asked for: ${unasked.join(", ")}.`);
    const missing = requested.filter(({ name, required }) => required && !granted.includes(name));
    if (missing.length) {
      const list = missing.map(({ name, purpose }) => (purpose ? `${name} (${purpose})` : name)).join(", ");
      throw new FrameError("PermissionsDenied", `The page of ${this.origin} cannot do without: ${list}.`);
    }
    this.permissions.push(...granted);
    for (const name of names) if (!granted.includes(name)) this.#declined.add(name);
  }

  // ---- the page's life

  /** Begin a phase with a new page. The promise is settled by `#settle` or `#end`. */
  async #begin(phase, rules) {
    const iframe = this.#iframe;
    if (iframe && !iframe.contentWindow) {
      throw new FrameError("StateError", "The iframe is not in the document: append it first.");
    }
    this.#rules = rules;
    this.#url = addressFor(this.#address, phase);
    this.#peer = iframe ? iframe.contentWindow : openPopup();
    // Listen before the page is loaded: it may send its handshake before its `load` event.
    window.addEventListener("message", this.#onMessageEvent);
    if (iframe) {
      iframe.addEventListener("load", this.#onLoad);
      for (let root = iframe.getRootNode(); root; root = /** @type {ShadowRoot} */ (root).host?.getRootNode()) {
        this.#removals.observe(root, { childList: true, subtree: true });
      }
      const granted = this.permissions.filter((name) => this.#phases.get(name)?.includes(phase) ?? true);
      iframe.setAttribute("allow", granted.join("; "));
    } else {
      this.#poll = setInterval(this.#look, POPUP_POLL);
    }
    this.#awaitHandshake();
    const settled = new Promise((resolve, reject) => (this.#phase = { resolve, reject }));
    if (iframe?.hasAttribute("src") || iframe?.hasAttribute("srcdoc")) {
      // An address that differs from the shown one only in its hash would not load anything.
      this.#state = "clearing";
      iframe.removeAttribute("srcdoc");
      iframe.src = "about:blank";
    } else {
      this.#rested();
    }
    return settled;
  }

  #rested() {
    if (!this.#rest) return this.#navigate();
    this.#state = "resting";
    clearTimeout(this.#timer); // the page's deadline begins when it is loaded
    this.#resting = setTimeout(() => {
      this.#awaitHandshake();
      this.#navigate();
    }, this.#rest);
    this.#rest = 0;
  }

  #awaitHandshake() {
    this.#wait(this.#timeout.handshake, "The framed page sent no handshake", () => `: ${toCheck()}`);
  }

  #navigate() {
    this.#state = "awaiting";
    this.#loads = 0;
    if (this.#iframe) this.#iframe.src = this.#url;
    else this.#peer.location.replace(this.#url);
  }

  #loaded() {
    if (this.#state === "clearing") return this.#rested();
    this.#loads += 1;
    clearTimeout(this.#hinting);
    if (this.#state === "awaiting") this.#hinting = setTimeout(() => this.#hint(), HINT_AFTER);
    if (this.#loads > 1 && this.#state === "open") {
      this.#end(new FrameError("PeerGone", "The framed page was reloaded or navigated away."));
    }
  }

  #hint() {
    if (this.#state !== "awaiting") return;
    const hint = `${this.#address.href} has loaded, but does not call: ${toCheck()}`;
    this.#attempt(() => (this.onhint ? this.onhint(hint) : console.warn(hint)));
  }

  #wait(milliseconds = DEFAULT_TIMEOUT, what, advice = () => ".") {
    clearTimeout(this.#timer);
    if (milliseconds === Infinity) return;
    this.#timer = setTimeout(() => {
      this.#end(new FrameError("HandshakeTimeout", `${what} within ${milliseconds / 1000} s${advice()}`));
    }, milliseconds);
  }

  #show(visible) {
    if (!this.#iframe || visible === this.visible) return;
    this.#iframe.hidden = !visible;
    this.#iframe.style.display = visible ? "" : "none";
    this.#attempt(() => this.onvisibility?.(visible));
  }

  /** End the setup phase with this result. */
  #settle(result) {
    this.#leave();
    this.#state = "set up";
    this.#phase.resolve(result);
  }

  /** Remove all listeners, timers and popups. */
  #leave() {
    this.#alive.stop();
    clearTimeout(this.#resting);
    clearTimeout(this.#hinting);
    clearTimeout(this.#timer);
    clearInterval(this.#poll);
    window.removeEventListener("message", this.#onMessageEvent);
    this.#iframe?.removeEventListener("load", this.#onLoad);
    this.#removals.disconnect();
    if (!this.#iframe) this.#peer?.close();
  }

  /** End the phase. The end of the transport phase is final, and all pending requests fail. */
  #end(error) {
    const wasOpen = this.#state === "open";
    const inSetup = this.#rules === this.#setupRules;
    this.#leave();
    this.#state = "closed";
    const reason = error?.message ?? "The session was closed before the answer came.";
    const unanswered = [...this.#asked.keys()];
    this.#asked.clear();
    for (const id of unanswered) {
      this.#attempt(() => this.onmessage?.(errorResponse(id, CONNECTION_CLOSED, reason)));
    }
    if (!wasOpen) this.#phase?.reject(error ?? new FrameError("StateError", "The frame was closed while starting."));
    else if (error) this.#report(error);
    if (inSetup) this.#state = "set up";
    else this.#attempt(() => this.onclose?.());
  }

  #reportOrigin(origin) {
    if (this.#strangeOrigins.has(origin)) return; // once per origin, so that a flood is one error
    this.#strangeOrigins.add(origin);
    this.#report(new FrameError("UnexpectedOrigin", `The frame shows a page of ${origin}, not of ${this.origin}.`));
  }

  #report(error) {
    this.#attempt(() => this.onerror?.(error));
  }

  /** Report a message to `onWire`: its text or a function that returns it; null if it was not read. */
  #tell(direction, text, origin, refused = null) {
    if (!this.#onWire) return;
    const wire = { direction, text: typeof text === "function" ? text() : text, origin, refused };
    this.#attempt(() => this.#onWire(wire));
  }

  /** Return the text of a message for `onWire`; null if it is not JSON within the limits. */
  #wireText(data) {
    try {
      return jsonOf(data, this.#limits) ?? null;
    } catch {
      return null;
    }
  }

  /** Call the host; an exception is logged in the console and has no other effect. */
  #attempt(callback) {
    try {
      callback();
    } catch (error) {
      reportError(error);
    }
  }
}

// ---- helpers

const wrongVersion = ({ min, max }) =>
  new FrameError(
    "VersionMismatch",
    `The page speaks version ${min} to ${max} of the postMessage protocol, this host ${PROTOCOL_VERSION}.`,
  );
/** The answer of a page to an origin that it does not allow, and the states in which it ends a phase. */
const ORIGIN_REFUSED = "mcpframe-origin-refused";
const STARTING = ["awaiting", "setting up", "confirming"];
const toCheck = () => `is the address right, does the page serve MCP, and may ${origin} embed it?`;
const notAllowed = () =>
  origin === "null"
    ? "The framed page allows no host of an opaque origin, as files and sandboxed frames have: serve the host's page over http or https, and add its origin to the allowed_origins of the framed page."
    : `The framed page does not allow ${origin}: add it to allowed_origins in its [tool.mcpframe] and build it again, or open this page at an address that it allows.`;
/** Reasons that only `onWire` gets. */
const OTHER_WINDOW = "It came from another window than the one that is talked to.";
const OTHER_ORIGIN = "Pages of this origin are not heard.";
const NOISE = "It is no message of this protocol.";
const clip = (text) => (text.length > 64 ? `${text.slice(0, 64)}…` : text);
const errorResponse = (id, code, message, data) => ({
  jsonrpc: "2.0",
  id,
  error: { code, message, ...(data && { data }) },
});
const idInUse = (id) =>
  new FrameError("UnexpectedMessage", `The id ${JSON.stringify(id).slice(0, 64)} is in use: choose another one.`);
const tooManyPending = ({ maxPending }) =>
  new FrameError("TooManyPending", `${maxPending} requests are already waiting for an answer (maxPending).`);

/** Return the address for a phase: the hash is a list of words, separated by commas; `setup` selects the setup phase. */
function addressFor(address, phase) {
  const words = address.hash.slice(1).split(",");
  const others = words.filter((word) => word && word !== "setup");
  const url = new URL(address);
  url.hash = (phase === "setup" ? ["setup", ...others] : others).join(",");
  return url.href;
}

/** Check the name of a Permissions Policy feature, so that it cannot add another one to the `allow` attribute. */
function checkPermission(name) {
  if (/^[a-z][a-z0-9-]*$/.test(name)) return name;
  throw new FrameError(
    "OriginError",
    `${JSON.stringify(name)} is not the name of a permission, such as clipboard-read.`,
  );
}

/** Open an empty popup in the middle of this window, with a name that no other window has. */
function openPopup() {
  const [width, height] = POPUP_SIZE;
  const left = screenX + Math.max(0, Math.trunc((outerWidth - width) / 2));
  const top = screenY + Math.max(0, Math.trunc((outerHeight - height) / 2));
  const popup = open("", `mcpframe-${randomId()}`, `popup,width=${width},height=${height},left=${left},top=${top}`);
  if (popup) return popup;
  throw new FrameError("PopupBlocked", "The browser blocked the popup: open it by a click, and allow popups here.");
}

/** Return the `color-scheme` for an iframe: empty where a style sheet has one, else that of this page. */
function schemeFor(iframe) {
  const own = iframe.style.colorScheme || getComputedStyle(iframe).colorScheme;
  if (own !== "normal") return iframe.style.colorScheme;
  return /** @type {HTMLMetaElement} */ (document.querySelector("meta[name=color-scheme]"))?.content ?? "light";
}

/** Return an id that cannot be guessed. Pages on plain http have no randomUUID. */
function randomId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
