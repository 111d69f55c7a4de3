/**
 * The connection to a framed page: its gate, its states in both phases, and their deadlines. The table is in host.js.
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
import { DEFAULT_LIMITS, DEFAULT_TIMEOUT, HINT_AFTER, SETUP_TIMEOUT } from "./limits.js";
import { Alive } from "./liveness.js";
import * as messages from "./messages.js";
import { addressFor } from "./setup.js";
import { WireReports } from "./wire.js";

/** Sent by a page to a host of an origin that it does not allow, and the states in which it ends a phase. */
const ORIGIN_REFUSED = "mcpframe-origin-refused";
const STARTING = ["awaiting", "setting up", "confirming"];
/** Reasons that only `onWire` gets. */
const OTHER_WINDOW = "Sent by a window other than the peer.";
const OTHER_ORIGIN = "Not from an allowed origin.";
const NOISE = "Not a message of this protocol.";

const clip = (text) => (text.length > 64 ? `${text.slice(0, 64)}…` : text);
const wrongVersion = ({ min, max }) =>
  new FrameError(
    "VersionMismatch",
    `The page speaks version ${min} to ${max} of the postMessage protocol, this host ${messages.PROTOCOL_VERSION}.`,
  );

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
  #events = {
    message: (event) => {
      try {
        this.#receive(event);
      } catch (error) {
        this.#report(error);
      }
    },
    load: () => this.#loaded(),
    gone: (reason) => this.end(new FrameError("PeerGone", reason)),
  };

  /**
   * What each message does in each state of a phase; in a state that is missing, the message is refused.
   * `shape` reads the message, `check` compares it with earlier ones; both throw a FrameError.
   */
  #rules = {
    setup: {
      MCP_SETUP_HANDSHAKE: {
        shape: messages.readSetupHandshake,
        check: (offer) => this.#checkRepetition(offer),
        awaiting: (offer) => this.#answerSetupHandshake(offer),
        "setting up": (offer) => this.#answerSetupHandshake(offer),
      },
      MCP_SETUP_COMPLETE: {
        shape: messages.readSetupComplete,
        "setting up": (result) => this.#settle(result),
      },
    },
    transport: {
      MCP_TRANSPORT_HANDSHAKE: {
        shape: messages.readHandshake,
        check: (offer) => this.#checkRepetition(offer),
        awaiting: (offer) => this.#answerHandshake(offer),
        confirming: (offer) => this.#answerHandshake(offer),
        open: () => this.end(new FrameError("PeerGone", "The framed page was reloaded or replaced: it began anew.")),
      },
      MCP_TRANSPORT_ACCEPTED: {
        shape: messages.readAccepted,
        check: (sessionId) => this.#checkSession(sessionId),
        confirming: () => this.#accepted(),
        open: () => {},
      },
      MCP_MESSAGE: {
        shape: messages.readPayload,
        check: (payload) => this.#exchange.checkReceived(payload),
        open: (payload) => this.#deliver(payload),
      },
      MCP_SETUP_REQUIRED: {
        shape: messages.readSetupRequired,
        open: (request) => this.#host.onsetuprequired?.(request),
      },
    },
  };

  /**
   * @param {import("./session.js").FrameTransport} host whose functions are called back
   * @param {import("./frames.js").Place} place
   * @param {import("./setup.js").Permissions} permissions
   * @param {URL} address
   * @param {Pick<import("./host.js").FrameOptions, "limits" | "onWire"> & { timeout: import("./host.js").FrameTimeouts, unresponsiveAfter: number }} options
   */
  constructor(host, place, permissions, address, { timeout, limits, onWire, unresponsiveAfter }) {
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
      ask: (payload) => this.#postPayload(payload),
      tell: (unresponsive) => attempt(() => this.#tellUnresponsive(unresponsive)),
    });
    this.#exchange = new Exchange(this.#limits.maxPending, this.#alive);
  }

  /** Whether the page does not answer. */
  get silent() {
    return this.#alive.silent;
  }

  // ---- the page's life

  /**
   * Begin a phase with a new page. The promise is settled by `#settle`, `#accepted` or `end`.
   * @param {"setup" | "transport"} phase
   */
  async begin(phase) {
    this.#place.check();
    this.phase = phase;
    this.#url = addressFor(this.#address, phase);
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
    this.#wait(this.#timeout.handshake, "The framed page sent no handshake", () => `: ${toCheck()}`);
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
    if (this.state === "awaiting") this.#hinting = setTimeout(() => this.#hint(), HINT_AFTER);
    if (this.#loads > 1 && this.state === "open") {
      this.end(new FrameError("PeerGone", "The framed page was reloaded or navigated away."));
    }
  }

  #hint() {
    if (this.state !== "awaiting") return;
    const hint = `${this.#address.href} has loaded, but does not call: ${toCheck()}`;
    attempt(() => (this.#host.onhint ? this.#host.onhint(hint) : console.warn(hint)));
  }

  #wait(milliseconds = DEFAULT_TIMEOUT, what, advice = () => ".") {
    clearTimeout(this.#deadline);
    if (milliseconds === Infinity) return;
    this.#deadline = setTimeout(() => {
      this.end(new FrameError("HandshakeTimeout", `${what} within ${milliseconds / 1000} s${advice()}`));
    }, milliseconds);
  }

  /** End the setup phase with this result. */
  #settle(result) {
    this.#leave();
    this.state = "set up";
    this.#settled.resolve(result);
  }

  /** Remove all listeners, timers and popups. */
  #leave() {
    this.#alive.stop();
    clearTimeout(this.#resting);
    clearTimeout(this.#hinting);
    clearTimeout(this.#deadline);
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
    const outline = outlineOf(data);
    if (outline.type === ORIGIN_REFUSED && STARTING.includes(this.state)) return this.#refused(data, origin);
    if (!outline.type?.startsWith("MCP_")) return this.#wire.report("received", origin, { data, refused: NOISE });
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
    act();
  }

  /** End a phase whose page does not allow this origin: see `mcpframe.frame.core.refusal`. */
  #refused(data, from) {
    this.#wire.report("received", from, { data });
    this.end(new FrameError("HandshakeRefused", notAllowed()));
  }

  /** Check a message of the framed page, and return the action for it. */
  #actOn({ text, message = undefined }) {
    const { type } = message;
    messages.checkContent(text, message);
    const rules = this.#rules[this.phase];
    const rule = Object.hasOwn(rules, type) && rules[type];
    if (!rule)
      throw new FrameError("UnexpectedMessage", `${clip(type)} is not a message that a framed page sends here.`);
    const body = rule.shape(message);
    rule.check?.(body);
    const act = rule[this.state];
    if (!act) throw new FrameError("UnexpectedMessage", `${type} does not belong here: the frame is ${this.state}.`);
    return () => act(body);
  }

  #answerSetupHandshake(offer) {
    if (!messages.speaksOurVersion(offer)) return this.end(wrongVersion(offer));
    if (this.state === "awaiting") {
      const undecided = this.#permissions.undecided(offer.permissions, Boolean(this.#host.onpermissions));
      if (undecided.length) {
        this.#settle({ undecided });
        this.state = "deciding";
        return;
      }
      this.#permissions.note(offer.permissions);
      this.state = "setting up";
      this.#wait(this.#timeout.setup ?? SETUP_TIMEOUT, "The setup was not completed");
      if (offer.requiresVisible) this.#place.show(true);
    }
    this.#reply("MCP_SETUP_HANDSHAKE_REPLY");
  }

  #answerHandshake(offer) {
    if (!messages.speaksOurVersion(offer)) return this.end(wrongVersion(offer));
    if (this.state === "awaiting") {
      this.state = "confirming";
      const { handshake, accept = handshake } = this.#timeout;
      this.#wait(
        accept,
        "The framed page did not accept the session (it has not started, or does not allow this origin)",
      );
    }
    this.#reply("MCP_TRANSPORT_HANDSHAKE_REPLY");
  }

  #checkRepetition(offer) {
    if ((this.state === "setting up" || this.state === "confirming") && !messages.speaksOurVersion(offer)) {
      throw new FrameError("UnexpectedMessage", "A repeated handshake has another version than the first.");
    }
  }

  #checkSession(sessionId) {
    if (this.state === "confirming" && sessionId !== this.#host.frameSessionId) {
      throw new FrameError("UnexpectedMessage", "MCP_TRANSPORT_ACCEPTED has another session id.");
    }
  }

  #accepted() {
    clearTimeout(this.#deadline);
    this.state = "open";
    this.#settled.resolve();
  }

  #deliver(payload) {
    if (this.#alive.heard(payload) || !this.#exchange.received(payload)) return;
    this.#host.onmessage?.(payload);
  }

  /**
   * Settle what waits for a refused message: a request gets an error response, the request of ours that it answers fails,
   * and a setup that the page considers complete ends.
   */
  #failWhoWaits({ type = undefined, kind, id = undefined }, error) {
    if (type === "MCP_SETUP_COMPLETE" && this.state === "setting up")
      return this.#settle(messages.unreadableSetup(error));
    if (type !== "MCP_MESSAGE" || this.state !== "open") return;
    if (kind === "request") {
      const code = error.name === "TooManyPending" ? INTERNAL_ERROR : INVALID_REQUEST;
      const known = typeof id === "string" || typeof id === "number" ? id : null;
      this.#postPayload(errorResponse(known, code, error.message));
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
      const data = { type: "MCP_MESSAGE", payload: message };
      this.#wire.report("sent", this.#target, { data, refused: error.message });
      // The page must not wait forever for this response.
      if (!("method" in message) && this.#exchange.owes(message.id)) {
        this.#postPayload(errorResponse(message.id, INTERNAL_ERROR, error.message));
      }
      throw error;
    }
    this.#postPayload(payload);
  }

  /** Cancel the pending calls of tools; each fails at once. */
  stopCalls(reason) {
    for (const id of this.#exchange.asked("tools/call")) {
      this.#exchange.cancel(id);
      this.#postPayload({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason } });
      this.#fail(id, CONNECTION_CLOSED, reason, { reason: "stopped" });
    }
  }

  /** Answer a request of the SDK with an error. */
  #fail(id, code, reason, data) {
    attempt(() => this.#host.onmessage?.(errorResponse(id, code, reason, data)));
  }

  #reply(type) {
    this.#post({ type, sessionId: this.#host.frameSessionId, protocolVersion: messages.PROTOCOL_VERSION });
  }

  #postPayload(payload) {
    this.#post({ type: "MCP_MESSAGE", payload });
  }

  #post(message) {
    this.#place.window.postMessage(message, this.#target);
    this.#wire.report("sent", this.#target, { data: message });
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
    this.#report(
      new FrameError("UnexpectedOrigin", `The frame shows a page of ${origin}, not of ${this.#host.origin}.`),
    );
  }

  #report(error) {
    attempt(() => this.#host.onerror?.(error));
  }
}
