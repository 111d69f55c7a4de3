/**
 * The connection to a framed page: its gate, its states, their deadlines, and what waits for answers. What differs between
 * dialects is a `Dialect`: that of host.js is in sep.js.
 */

import {
  CONNECTION_CLOSED,
  FrameError,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  attempt,
  errorResponse,
  notAllowed,
  toCheck,
} from "./errors.js";
import { Exchange } from "./exchange.js";
import { randomId } from "./frames.js";
import { outlineOf } from "./host-json.js";
import { DEFAULT_LIMITS, DEFAULT_TIMEOUT, HINT_AFTER } from "./limits.js";
import { Alive } from "./liveness.js";
import * as messages from "./messages.js";
import { HandedPorts } from "./ports.js";
import { cut } from "./visible.js";
import { WireReports } from "./wire.js";

/** @import { Dialect } from "./dialect.js" */

/** Sent by a page to a host of an origin that it does not allow (`refusal.py`), and the states in which it ends a phase. */
const ORIGIN_REFUSED = "mcpframe-origin-refused";
const STARTING = ["awaiting", "setting up", "confirming"];
/** Reasons that only `onWire` gets. */
const OTHER_WINDOW = "Sent by a window other than the peer.";
const OTHER_ORIGIN = "Not from an allowed origin.";
const NOISE = "Not a message of this protocol.";

export class Connection {
  /** @type {string} */
  state = "idle";
  /** @type {"setup" | "transport" | null} */
  phase = null;
  /** How long to wait before the page is loaded, in milliseconds. */
  rest = 0;

  #host;
  #place;
  #permissions;
  #address;
  #target;
  #timeout;
  /** @type {Dialect} */
  #dialect;
  #limits;
  #wire;
  #alive;
  #exchange;
  #url;
  #settled;
  #loads = 0;
  #deadline;
  #hinting;
  #resting;
  #strangeOrigins = new Set();
  #ports = new HandedPorts((data, port) => this.#attempt(() => this.#take(data, this.#host.origin, port)));
  /** The port of the message that is handled; once open, the peer's. */
  #port = null;
  #events = {
    message: (event) => this.#attempt(() => this.#receive(event)),
    load: () => this.#loaded(),
    gone: (reason) => this.end(new FrameError("PeerGone", reason)),
  };

  /**
   * @param {import("./session.js").FrameTransport} host whose functions are called back
   * @param {import("./frames.js").Place} place
   * @param {import("./setup.js").Permissions} permissions
   * @param {URL} address
   * @param {new (connection: Connection, host: any, permissions: any, timeout: any) => Dialect} Dialect
   * @param {Pick<import("./host.js").FrameOptions, "limits" | "onWire"> & { timeout: import("./host.js").FrameTimeouts, unresponsiveAfter: number }} options
   */
  constructor(host, place, permissions, address, Dialect, { timeout, limits, onWire, unresponsiveAfter }) {
    this.#host = host;
    this.#place = place;
    this.#permissions = permissions;
    this.#address = address;
    this.#target = host.origin === "null" ? "*" : host.origin;
    this.#timeout = timeout;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#wire = new WireReports(onWire, this.#limits);
    this.#alive = new Alive({
      after: unresponsiveAfter / 2,
      id: `mcpframe-ping-${randomId()}`,
      waits: () => this.state === "open" && this.#exchange.waits,
      ask: (payload) => this.postPayload(payload),
      tell: (unresponsive) => attempt(() => this.#tellUnresponsive(unresponsive)),
    });
    this.#exchange = new Exchange(this.#limits.maxPending, this.#alive);
    this.#dialect = new Dialect(this, host, permissions, timeout);
  }

  /** Whether the page does not answer. */
  get silent() {
    return this.#alive.silent;
  }

  // ---- the page's life

  /**
   * Begin a phase with a new page. The promise is settled by `settle`, `opened` or `end`.
   * @param {"setup" | "transport"} phase
   */
  async begin(phase) {
    this.#place.check();
    this.phase = phase;
    this.#url = this.#dialect.addressFor(this.#address, phase);
    this.#place.open(this.#permissions.allowed(phase), this.#events);
    this.#awaitHandshake();
    const settled = new Promise((resolve, reject) => (this.#settled = { resolve, reject }));
    if (this.#place.used) {
      this.state = "clearing";
      this.#place.clear();
    } else {
      this.#rested();
    }
    return settled;
  }

  #rested() {
    if (!this.rest) return this.#navigate();
    this.state = "resting";
    clearTimeout(this.#deadline); // the page's deadline begins when it is loaded
    this.#resting = setTimeout(() => {
      this.#awaitHandshake();
      this.#navigate();
    }, this.rest);
    this.rest = 0;
  }

  #awaitHandshake() {
    this.wait(this.#timeout.handshake, this.#dialect.silence, () => `: ${toCheck()}`);
  }

  #navigate() {
    this.state = "awaiting";
    this.#loads = 0;
    this.#place.navigate(this.#url);
  }

  #loaded() {
    if (this.state === "clearing") return this.#rested();
    this.#loads += 1;
    clearTimeout(this.#hinting);
    if (this.state === "awaiting") {
      this.#hinting = setTimeout(() => this.#hint(), HINT_AFTER);
      this.#dialect.loaded?.();
    }
    if (this.#loads > 1 && this.state === "open") {
      this.end(new FrameError("PeerGone", "The framed page was reloaded or navigated away."));
    }
  }

  #hint() {
    if (this.state !== "awaiting") return;
    const hint = `${this.#address.href} has loaded, but does not call: ${toCheck()}`;
    attempt(() => (this.#host.onhint ? this.#host.onhint(hint) : console.warn(hint)));
  }

  /** Wait for the next step of the handshake, and end the phase at its deadline. */
  wait(milliseconds = DEFAULT_TIMEOUT, what, advice = () => ".") {
    clearTimeout(this.#deadline);
    if (milliseconds === Infinity) return;
    this.#deadline = setTimeout(() => {
      this.end(new FrameError("HandshakeTimeout", `${what} within ${milliseconds / 1000} s${advice()}`));
    }, milliseconds);
  }

  /** Show the page, as it needs to be seen. */
  show() {
    this.#place.show(true);
  }

  /** End the setup phase with this result. */
  settle(result) {
    this.#leave();
    this.state = "set up";
    this.#settled.resolve(result);
  }

  /** Remove all listeners, timers and popups. */
  #leave() {
    this.#alive.stop();
    this.#dialect.left?.();
    for (const timer of [this.#resting, this.#hinting, this.#deadline]) clearTimeout(timer);
    this.#ports.close();
    this.#place.leave();
  }

  /** End the phase. The end of the transport phase is final, and all pending requests fail. */
  end(error) {
    const wasOpen = this.state === "open";
    this.#leave();
    this.state = "closed";
    const reason = error?.message ?? "The session was closed before the answer came.";
    for (const id of this.#exchange.end()) this.#fail(id, CONNECTION_CLOSED, reason);
    if (!wasOpen) this.#settled?.reject(error ?? new FrameError("StateError", "The frame was closed while starting."));
    else if (error) this.#report(error);
    if (this.phase === "setup") this.state = "set up";
    else attempt(() => this.#host.onclose?.());
  }

  // ---- inbound

  #attempt(act) {
    try {
      act();
    } catch (error) {
      this.#report(error);
    }
  }

  #receive(event) {
    if (this.state === "clearing" || this.state === "resting") return;
    const { origin } = event;
    if (event.source === null || event.source !== this.#place.window) {
      return this.#wire.report("received", origin, { refused: OTHER_WINDOW });
    }
    if (origin !== this.#host.origin) {
      this.#wire.report("received", origin, { refused: OTHER_ORIGIN });
      return this.#reportOrigin(origin);
    }
    const { data } = event;
    if (outlineOf(data).type !== ORIGIN_REFUSED || !STARTING.includes(this.state)) return this.#take(data, origin);
    this.#wire.report("received", origin, { data });
    this.end(new FrameError("HandshakeRefused", notAllowed()));
  }

  /**
   * Take a message of the page through the rest of the gate.
   * @param {MessagePort | null} port over which it came; null for the window
   */
  #take(data, origin, port = null) {
    if (this.state === "open" && port !== this.#port) {
      return this.#wire.report("received", origin, { refused: OTHER_WINDOW });
    }
    const outline = this.#dialect.outlineOf(data);
    if (!outline) return this.#wire.report("received", origin, { data, refused: NOISE });
    /** @type {{ text: any, message?: any }} */
    let read = { text: null };
    let act;
    try {
      read = messages.readInbound(data, this.#limits);
      act = this.#actOn(read);
    } catch (error) {
      this.#wire.report("received", origin, { text: read.text, refused: error.message });
      this.#failWhoWaits(outline, error);
      throw error;
    }
    this.#wire.report("received", origin, { text: read.text });
    this.#port = port;
    act();
    if (this.state !== "open") this.#port = null;
  }

  /** Check a message of the framed page, and return the action for it. */
  #actOn({ text, message = undefined }) {
    const kind = this.#dialect.kindOf(message);
    messages.checkContent(text, message);
    const rules = this.#dialect.rules[this.phase];
    const rule = Object.hasOwn(rules, kind) && rules[kind];
    if (!rule)
      throw new FrameError("UnexpectedMessage", `${cut(kind, 64)} is not a message that a framed page sends here.`);
    const body = rule.shape(message);
    rule.check?.(body);
    const act = rule[this.state];
    if (!act) throw new FrameError("UnexpectedMessage", `${kind} does not belong here: the frame is ${this.state}.`);
    return () => act(body);
  }

  /** Open the session. */
  opened() {
    clearTimeout(this.#deadline);
    this.#ports.close(this.#port);
    this.state = "open";
    this.#settled.resolve();
  }

  /** Whether the message that is handled came over a port. */
  get overPort() {
    return this.#port !== null;
  }

  /** Check a payload of the page; see `Exchange.checkReceived`. */
  checkReceived(payload) {
    this.#exchange.checkReceived(payload);
  }

  /** Whether the page waits for the answer to a request of the same id and method. */
  waitsFor(request) {
    return this.#exchange.waitsFor(request);
  }

  /** Hand a payload of the page to the SDK. */
  deliver(payload) {
    if (this.#alive.heard(payload) || !this.#exchange.received(payload)) return;
    this.#host.onmessage?.(payload);
  }

  /**
   * Settle what waits for a refused message: a request gets an error response, and the request of ours that it answers fails.
   */
  #failWhoWaits(outline, error) {
    if (this.#dialect.refused?.(outline, error)) return;
    const { carries, kind, id } = outline;
    if (!carries || this.state !== "open") return;
    if (kind === "request") {
      const code = error.name === "TooManyPending" ? INTERNAL_ERROR : INVALID_REQUEST;
      const known = typeof id === "string" || typeof id === "number" ? id : null;
      this.postPayload(errorResponse(known, code, error.message));
    } else if (kind === "response" && this.#exchange.fails(id)) {
      this.#host.onmessage?.(errorResponse(id, INTERNAL_ERROR, `The answer was refused: ${error.message}`));
    }
  }

  // ---- outbound

  /** Send a message of the SDK. */
  send(message) {
    let payload;
    try {
      payload = messages.readOutbound(message, this.#limits);
      this.#exchange.sending(payload);
    } catch (error) {
      const data = this.#dialect.wrap(message);
      this.#wire.report("sent", this.#target, { data, refused: error.message });
      // The page must not wait forever for this response.
      if (!("method" in message) && this.#exchange.owes(message.id)) {
        this.postPayload(errorResponse(message.id, INTERNAL_ERROR, error.message));
      }
      throw error;
    }
    this.postPayload(payload);
  }

  /** Cancel the pending calls of tools; each fails at once. */
  stopCalls(reason) {
    for (const id of this.#exchange.asked("tools/call")) {
      this.#exchange.cancel(id);
      this.postPayload({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason } });
      this.#fail(id, CONNECTION_CLOSED, reason, { reason: "stopped" });
    }
  }

  /** Answer a request of the SDK with an error. */
  #fail(id, code, reason, data) {
    attempt(() => this.#host.onmessage?.(errorResponse(id, code, reason, data)));
  }

  /** Post JSON-RPC. */
  postPayload(payload) {
    this.post(this.#dialect.wrap(payload));
  }

  /** Post a message of the dialect. */
  post(message) {
    if (this.#port) this.#port.postMessage(message);
    else this.#place.window.postMessage(message, this.#target);
    this.#wire.report("sent", this.#target, { data: message });
  }

  /**
   * Hand over a port of a new channel with a message, and post another one over it. Whoever answers first is the peer: the
   * window, or a port.
   */
  handOver(message, first) {
    const { port1, port2 } = new MessageChannel();
    this.#ports.hold(port1);
    this.#place.window.postMessage(message, this.#target, [port2]);
    this.#wire.report("sent", this.#target, { data: message });
    port1.postMessage(first);
    this.#wire.report("sent", this.#target, { data: first });
  }

  // ---- reports to the host

  #tellUnresponsive(unresponsive) {
    if (this.#host.onunresponsive) this.#host.onunresponsive(unresponsive);
    else if (unresponsive)
      console.warn(`${this.#address.href} does not answer: end the session, or reload() the page.`);
  }

  #reportOrigin(origin) {
    if (this.#strangeOrigins.has(origin)) return; // once per origin, so that a flood is one error
    this.#strangeOrigins.add(origin);
    const reason = `The frame shows a page of ${origin}, not of ${this.#host.origin}.`;
    this.#report(new FrameError("UnexpectedOrigin", reason));
  }

  #report(error) {
    attempt(() => this.#host.onerror?.(error));
  }
}
