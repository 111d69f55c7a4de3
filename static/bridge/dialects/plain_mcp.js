/**
 * The page around a framed page that speaks plain MCP: JSON-RPC messages as they are. The table is in
 * docs/reference/protocol/plain-mcp.md.
 */

import { FrameError } from "../../host/errors.js";
import { outlineOf } from "../../host/host-json.js";
import { isJsonRpc } from "../../host/messages.js";
import { FrameTransport } from "../../host/session.js";

/** @import { Dialect } from "../../host/dialect.js" */

/** What a port is handed over with: pages over `mcp-browser-transport` of npm wait for it. To all others it is noise. */
const HANDOVER = "init";
const PROBE = { jsonrpc: "2.0", id: "mcpframe/ping", method: "ping" };
/** Milliseconds between two probes: a page listens only some time after it has loaded. */
const REPEAT_INTERVAL = 500;
/** The requests by which a client begins; from 2026-07-28 on, any one with the revision. */
const BEGIN = ["initialize", "server/discover"];
const REVISION = "io.modelcontextprotocol/protocolVersion";
/** The starts of the methods of a client's other requests. */
const OF_MCP = ["tools/", "resources/", "prompts/", "completion/", "logging/"];

/** The dialect of one connection. */
class PlainMcp {
  silence = "The framed page answered no ping of plain MCP, neither to its window nor over a port that it was handed,";
  #connection;
  #repeating;
  #probes = 0;

  /** @type {Dialect["rules"]} */
  rules = {
    transport: {
      ping: this.#rule({
        check: (payload) => payload.id === PROBE.id || this.#connection.checkReceived(payload),
        awaiting: ({ id }) => this.#answer(id),
        open: (payload) => (payload.id === PROBE.id ? this.#answer(payload.id) : this.#connection.deliver(payload)),
      }),
      "answer to our ping": this.#rule({ awaiting: () => this.#connection.opened(), open: () => {} }),
      "first request": this.#rule({
        awaiting: (payload) => this.#begin(payload),
        // A client that was made anew begins as the one before did: one answer is for both.
        check: (payload) => this.#beginsAgain(payload) || this.#connection.checkReceived(payload),
        open: (payload) => this.#beginsAgain(payload) || this.#connection.deliver(payload),
      }),
      message: this.#rule({ awaiting: (payload) => this.#beginsOverPort(payload) && this.#begin(payload) }),
    },
  };

  constructor(connection) {
    this.#connection = connection;
  }

  addressFor({ href }) {
    return href;
  }

  outlineOf(data) {
    return data?.jsonrpc === "2.0" ? { ...outlineOf({ payload: data }), carries: true } : null;
  }

  kindOf(message) {
    const { id, method, params } = message;
    if (!("method" in message)) return id === PROBE.id ? "answer to our ping" : "message";
    if (!("id" in message)) return "message";
    if (method === PROBE.method) return "ping";
    return BEGIN.includes(method) || params?._meta?.[REVISION] !== undefined ? "first request" : "message";
  }

  wrap(payload) {
    return payload;
  }

  /** Ask with a `ping` until the page answers, and every other time over a port, too. */
  loaded() {
    clearTimeout(this.#repeating);
    if (this.#connection.state !== "awaiting") return;
    this.#connection.post(PROBE);
    this.#probes += 1;
    if (this.#probes % 2 === 0) this.#connection.handOver(HANDOVER, PROBE);
    this.#repeating = setTimeout(() => this.loaded(), REPEAT_INTERVAL);
  }

  left() {
    clearTimeout(this.#repeating);
  }

  #rule(acts) {
    const shape = (message) => {
      if (isJsonRpc(message)) return message;
      throw new FrameError("MalformedMessage", "The message is not JSON-RPC, as MCP has it.");
    };
    const check = (payload) => this.#connection.checkReceived(payload);
    return { shape, check, open: (payload) => this.#connection.deliver(payload), ...acts };
  }

  #begin(payload) {
    this.#connection.opened();
    this.#connection.deliver(payload);
  }

  /** Whether a client begins with this: it initializes nothing where its transport has an id of a session. */
  #beginsOverPort({ id, method }) {
    return this.#connection.overPort && id !== undefined && OF_MCP.some((start) => method?.startsWith(start));
  }

  #beginsAgain(payload) {
    return BEGIN.includes(payload.method) && this.#connection.waitsFor(payload);
  }

  #answer(id) {
    this.#connection.post({ jsonrpc: "2.0", id, result: {} });
  }
}

export class Transport extends FrameTransport {
  constructor(options) {
    super(/** @type {any} */ ({ ...options, dialect: PlainMcp }));
  }
}
