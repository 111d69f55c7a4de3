/**
 * The bridge's host page: one framed server, and JSON-RPC as text in and out.
 *
 * `mcpframe.kit.bridge.tab` calls `bridge` from outside and is told what happens through its binding `mcpframeBridge`: a
 * line of JSON that says what it is, and the message's text after it.
 */

import { FrameTransport } from "../host/host.js";

const INTERNAL_ERROR = -32603;
const CONNECTION_CLOSED = -32000;

let transport;
/** Pieces of a long message that is on its way in. */
let pieces = [];
/** Answers of a session that may be ending. */
let failed = [];
/** Pieces in which a long message goes out, in characters. */
const PIECE = 4_000_000;

function tell(head, text = "") {
  let start = 0;
  for (; text.length - start > PIECE; start += PIECE) {
    mcpframeBridge(`{"kind":"piece"}\n${text.slice(start, start + PIECE)}`);
  }
  mcpframeBridge(`${JSON.stringify(head)}\n${text.slice(start)}`);
}

function deliver(message) {
  const { id, method } = message;
  tell({ kind: "message", id, method }, JSON.stringify(message));
}

/**
 * When a session ends, host.js fails what waits before it says so. The bridge has to know first, and fails that itself:
 * a client that has its error may ask again at once, and is not to ask a page that is no more.
 */
function deliverOpen(message) {
  if (message.error?.code !== CONNECTION_CLOSED) return deliver(message);
  failed.push(message);
  queueMicrotask(() => failed.splice(0).forEach(deliver)); // the session goes on: it was the server's own answer
}

function make({ url, sessionId, visibility, permissions, timeout }) {
  const iframe = document.body.appendChild(document.createElement("iframe"));
  iframe.title = "MCP server";
  transport = new FrameTransport({ iframe, url, sessionId, visibility, permissions, timeout });
  transport.onmessage = deliverOpen;
  transport.onerror = ({ name, message }) => tell({ kind: "error", name, message });
  transport.onclose = () => {
    failed = [];
    tell({ kind: "closed" });
  };
  transport.onsetuprequired = (request) => tell({ kind: "setup required", ...request });
}

globalThis.bridge = {
  /** Frame the server and shake hands with it. */
  async open(options) {
    try {
      make(options);
      await transport.start();
      tell({ kind: "open" });
    } catch ({ name, message }) {
      tell({ kind: "failed", name, message });
    }
  },

  /** Run the server's setup, in front of a person. */
  async setup(options) {
    try {
      make(options);
      transport.onpermissions = (requested) => {
        const wanted = requested.map(({ name, purpose }) => (purpose ? `${name}: ${purpose}` : name));
        return confirm(`The server asks for:\n${wanted.join("\n")}`) ? requested.map(({ name }) => name) : [];
      };
      const result = await transport.setup();
      tell({ kind: "set up", ...result, permissions: transport.permissions });
    } catch ({ name, message }) {
      tell({ kind: "failed", name, message });
    }
  },

  /** Take a piece of a message that is too long for one call. */
  piece(text) {
    pieces.push(text);
  },

  /** Send one JSON-RPC message: the pieces before, and this. What cannot be sent is answered with an error. */
  async send(text) {
    const message = JSON.parse(pieces.length ? pieces.join("") + text : text);
    pieces = [];
    try {
      await transport.send(message);
    } catch (error) {
      if ("method" in message && "id" in message) {
        deliver({ jsonrpc: "2.0", id: message.id, error: { code: INTERNAL_ERROR, message: error.message } });
      } else {
        tell({ kind: "error", name: error.name, message: error.message });
      }
    }
  },
};

tell({ kind: "hello" });
