/**
 * The page around a framed server that speaks plain MCP: JSON-RPC messages as they are. The interface is that of
 * `FrameTransport`, as far as bridge.js uses it; the table is in docs/reference/protocol/plain-mcp.md.
 */

import { FrameError, INTERNAL_ERROR, errorResponse } from "../../host/errors.js";
import { Place } from "../../host/frames.js";
import { DEFAULT_LIMITS } from "../../host/limits.js";
import { checkContent, isId, readInbound, readOutbound, readPayload } from "../../host/messages.js";

const PROBE = { jsonrpc: "2.0", id: "mcpframe/ping", method: "ping" };
/** Milliseconds between two probes: a page listens only some time after it has loaded. */
const REPEAT_INTERVAL = 500;

export class Transport {
  onmessage;
  onerror;
  onclose;
  #place;
  #url;
  #patience;
  #isOpen = false;
  #loads = 0;
  #repeating;
  #deadline;
  #started;

  constructor({ iframe, url, visibility, timeout }) {
    this.#url = new URL(url);
    this.#patience = timeout.handshake;
    this.#place = new Place(iframe, { onShown: () => {} });
    if (visibility !== "required") this.#place.show(false);
  }

  /** Load the page, and ask with a `ping` until it answers. Throws a HandshakeTimeout. */
  start() {
    this.#place.open("", {
      message: (event) => this.#receive(event),
      load: () => this.#loaded(),
      gone: (reason) => this.#end(new FrameError("PeerGone", reason)),
    });
    const text = `The framed page answered no ping of plain MCP within ${this.#patience / 1000} s: does it speak MCP?`;
    this.#deadline = setTimeout(() => this.#end(new FrameError("HandshakeTimeout", text)), this.#patience);
    this.#place.navigate(this.#url.href);
    return new Promise((resolve, reject) => (this.#started = { resolve, reject }));
  }

  async send(message) {
    this.#post(readOutbound(message, DEFAULT_LIMITS));
  }

  #post(payload) {
    this.#place.window.postMessage(payload, this.#url.origin);
  }

  #loaded() {
    this.#loads += 1;
    if (this.#isOpen && this.#loads > 1) {
      return this.#end(new FrameError("PeerGone", "The framed page was reloaded or navigated away."));
    }
    clearInterval(this.#repeating);
    this.#post(PROBE);
    this.#repeating = setInterval(() => this.#post(PROBE), REPEAT_INTERVAL);
  }

  #receive({ source, origin, data }) {
    if (source === null || source !== this.#place.window || origin !== this.#url.origin) return;
    if (data?.jsonrpc !== "2.0") return; // noise, as in every dialect
    if (data.id === PROBE.id)
      return "method" in data ? this.#post({ jsonrpc: "2.0", id: data.id, result: {} }) : this.#open();
    if (!this.#isOpen) return;
    try {
      const { text, message } = readInbound(data, DEFAULT_LIMITS);
      checkContent(text, message);
      this.onmessage?.(readPayload({ payload: message }));
    } catch (error) {
      this.onerror?.(error);
      // Whoever waits for this answer must not wait for ever.
      const reason = `The answer was refused: ${error.message}`;
      if (!("method" in data) && isId(data.id)) this.onmessage?.(errorResponse(data.id, INTERNAL_ERROR, reason));
    }
  }

  #open() {
    clearTimeout(this.#deadline);
    clearInterval(this.#repeating);
    this.#isOpen = true;
    this.#started.resolve();
  }

  #end(error) {
    clearTimeout(this.#deadline);
    clearInterval(this.#repeating);
    this.#place.leave();
    this.#started.reject(error); // nothing if it has started
    this.onerror?.(error);
    this.onclose?.();
  }
}
