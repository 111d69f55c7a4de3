/** The transport: what the SDK and the host use of a framed page. */

import { Connection } from "./connection.js";
import { FrameError, attempt } from "./errors.js";
import { Place, randomId } from "./frames.js";
import { BLOCKED_PROCESS_END, DEFAULT_LIMITS, DEFAULT_SILENCE, MOST_DECISIONS } from "./limits.js";
import { checkSessionId } from "./messages.js";
import { Sep } from "./sep.js";
import { Permissions } from "./setup.js";

/** @import { FrameTransportOptions, PermissionRequest, SetupRequest, SetupResult } from "./host.js" */

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
   * Called with true if the page does not answer while requests wait, or after one was cancelled, and with false once it does: offer
   * `reload()`. Without this function the first is logged as a warning.
   * @type {((unresponsive: boolean) => void) | undefined}
   */
  onunresponsive;
  /**
   * The page has loaded, and has sent no handshake for 2 s: a sentence on what to check. The deadline still applies.
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

  #place;
  #permissions;
  #connection;
  #visibility;
  /** @type {any} */
  #options;
  /** @type {Promise<void> | null} */
  #prepared = null;
  /** Messages of a prepared page, until `start()`. */
  #early = [];

  /**
   * @param {FrameTransportOptions} options
   * @throws {FrameError} OriginError for an address, a sandbox or a permission that cannot work
   */
  constructor(options) {
    const {
      iframe,
      popup = false,
      url,
      handed,
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
      dialect = Sep, // only the bridge's page has others
    } = /** @type {any} */ (options);
    if (!iframe === !popup) throw new FrameError("StateError", "Pass either an iframe or popup: true.");
    const address = new URL(handed ? (handed.address ?? "about:srcdoc") : url, document.baseURI);
    if (handed && !opaque && [location.origin, "null"].includes(address.origin)) {
      throw new FrameError(
        "OriginError",
        "A page that is handed over would have this page's origin: pass opaque: true, or its address elsewhere.",
      );
    }
    if (handed?.address && opaque) {
      throw new FrameError("OriginError", "A page that is handed over to an address has an origin: leave out opaque.");
    }
    if ((!handed || handed.address) && address.protocol !== "http:" && address.protocol !== "https:") {
      throw new FrameError("OriginError", `A framed page needs an http or https address, not ${address.protocol}//…`);
    }
    this.#place = new Place(iframe, {
      sandbox,
      colorScheme,
      handed,
      onShown: (visible) => attempt(() => this.onvisibility?.(visible)),
    });
    if (this.#place.opaque !== opaque) {
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
    this.origin = opaque ? "null" : address.origin;
    this.#visibility = visibility;
    this.#permissions = new Permissions(permissions);
    this.permissions = this.#permissions.granted;
    this.frameSessionId = sessionId ?? randomId();
    checkSessionId(this.frameSessionId);
    this.#options = {
      iframe,
      popup,
      url: address,
      handed,
      timeout,
      limits,
      opaque,
      unresponsiveAfter,
      onWire,
      colorScheme,
      dialect,
    };
    const timeouts = typeof timeout === "number" ? { handshake: timeout, accept: timeout } : timeout;
    const followed = { timeout: timeouts, limits, unresponsiveAfter, onWire };
    this.#connection = new Connection(this, this.#place, this.#permissions, address, dialect, followed);
  }

  /** Whether this is the state now: it may have changed since a comparison, while something was awaited. */
  #is(state) {
    return this.#connection.state === state;
  }

  /**
   * Run the page's setup phase. Comes before `connect()`; an iframe is shown as long as the page needs to be seen.
   * @param {{ signal?: AbortSignal | undefined }} [options] to give it up
   * @returns {Promise<SetupResult>} with an `error` where it failed or was cancelled
   * @throws {FrameError} HandshakeTimeout, HandshakeRefused, VersionMismatch, PeerGone, PopupBlocked, PermissionsDenied,
   *   StateError
   */
  async setup({ signal } = {}) {
    if (this.#connection.state !== "idle")
      throw new FrameError("StateError", `No setup now: the frame is ${this.#connection.state}.`);
    if (this.#options.handed) throw new FrameError("StateError", "A page that is handed over has no setup phase.");
    signal?.throwIfAborted();
    const wasVisible = this.visible;
    const abandon = () => this.#connection.end(signal.reason);
    signal?.addEventListener("abort", abandon);
    try {
      for (let decisions = 0; decisions < MOST_DECISIONS; decisions++) {
        const result = await this.#connection.begin("setup");
        if (!result.undecided) {
          if (!result.error) this.#visibility = result.visibility;
          return result;
        }
        await this.#permissions.decide(result.undecided, this.onpermissions?.bind(this), this.origin);
        signal?.throwIfAborted();
        if (this.#is("closed")) throw new FrameError("StateError", "The frame was closed during its setup.");
      }
      throw new FrameError("PermissionsDenied", "The page asks for other permissions whenever it is loaded.");
    } finally {
      signal?.removeEventListener("abort", abandon);
      if (!this.#is("closed")) this.#connection.state = "idle";
      this.#connection.phase = null;
      this.#place.clear(); // its setup is over, and so is its page
      this.#place.show(wasVisible);
    }
  }

  /**
   * Load the page and shake hands with it. The SDK calls this in `connect()`.
   * @returns {Promise<void>} settled once both sides may send
   * @throws {FrameError} HandshakeTimeout, HandshakeRefused, VersionMismatch, PeerGone, PopupBlocked, StateError
   */
  async start() {
    const prepared = this.#prepared;
    this.#prepared = null;
    const started = prepared ?? this.#begin();
    if (this.#visibility === "required") this.#place.show(true);
    await started;
    if (!prepared) return;
    if (this.#is("closed")) throw new FrameError("PeerGone", "The prepared page has gone: make a new FrameTransport.");
    for (const message of this.#early.splice(0)) this.onmessage?.(message);
  }

  /**
   * Load the page ahead of `connect()`, hidden, and shake hands with it: for a server that is likely to be used. `connect()`
   * then answers at once. Needs an iframe. A prepared page costs what an open one does; `close()` gives it up.
   * @returns {Promise<void>} settled as that of `start()`, which also reports a failure: it need not be awaited
   * @throws {FrameError} StateError
   */
  prepare() {
    if (this.#options.popup) throw new FrameError("StateError", "A popup cannot be prepared: it would be seen.");
    const prepared = this.#begin();
    prepared.catch(() => {});
    const given = this.onmessage; // the SDK calls what it finds, too, once it has set its own
    this.onmessage = (message, extra) => (this.#prepared ? this.#keep(message) : given?.(message, extra));
    this.#prepared = prepared;
    return prepared;
  }

  /** Keep what the page sends before `start()`. */
  #keep(message) {
    if (this.#early.push(message) > DEFAULT_LIMITS.maxPending)
      this.#connection.end(new FrameError("TooManyPending", "The prepared page sends too much before it is used."));
  }

  #begin() {
    const { state } = this.#connection;
    if (state !== "idle")
      throw new FrameError("StateError", `A FrameTransport starts once, and is ${state}: make a new one.`);
    return this.#connection.begin("transport");
  }

  /**
   * Send one JSON-RPC message. The SDK calls this.
   * @param {object} message
   * @throws {FrameError} StateError when not open; MessageTooLarge, MessageTooDeep, PrototypeKey, TooManyPending
   */
  async send(message) {
    if (this.#connection.state !== "open")
      throw new FrameError("StateError", `The frame is ${this.#connection.state}, not open.`);
    this.#connection.send(message);
  }

  /** End the session. Pending requests fail; an iframe stays as it is, for the host to hide or remove, a popup closes. */
  async close() {
    if (this.#connection.state === "closed") return;
    const inSetup = this.#connection.phase === "setup";
    this.#connection.end();
    if (!inSetup) return;
    this.#connection.state = "closed";
    attempt(() => this.onclose?.());
  }

  /**
   * Stop the page's tools: their calls fail at once with -32000 and `data.reason` "stopped", and the page is told. The
   * session continues. A server in a worker ends what computes. Before and after the session nothing happens.
   * @param {string} [reason] a sentence for the caller and for the server
   */
  stop(reason = "The host's user has stopped it.") {
    if (this.#connection.state === "open") this.#connection.stopCalls(reason);
  }

  /**
   * End this session, for a page that is unresponsive or has stopped, and make the transport of the next one: it loads the
   * page anew, in the same place and with the same session id. Connect another client to it. A popup is opened anew: call
   * this in answer to a click.
   * @returns {FrameTransport}
   */
  reload() {
    if (this.#connection.state !== "closed") this.#connection.end();
    const sessionId = this.#options.opaque ? undefined : this.frameSessionId;
    const { permissions } = this;
    const next = new FrameTransport({ ...this.#options, sessionId, permissions, visibility: this.#visibility });
    next.#permissions.continue(this.#permissions);
    if (this.#connection.silent) next.#connection.rest = BLOCKED_PROCESS_END;
    for (const hook of ["onsetuprequired", "onvisibility", "onunresponsive", "onhint", "onpermissions"])
      next[hook] = this[hook];
    return next;
  }

  /** Whether the framed page is shown. */
  get visible() {
    return this.#place.visible;
  }

  /** Show the iframe, or bring the popup to the front. */
  show() {
    this.#place.show(true);
    this.#place.focus();
  }

  /** Hide the iframe; its page goes on running. A popup can't be hidden. */
  hide() {
    this.#place.show(false);
  }
}
