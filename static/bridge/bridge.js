/**
 * The bridge's host page: frames one server and carries JSON-RPC messages as text.
 *
 * `mcpframe.kit.bridge.chromium.bridge_page` calls the methods of `bridge`, and gets events through the binding
 * `mcpframeBridge`: a line of JSON with the kind of the event, then the text of the message, if there is one.
 */

import { visible } from "../host/visible.js";

const INTERNAL_ERROR = -32603;
const CONNECTION_CLOSED = -32000;

let transport;
/** The pieces so far of a long message to the server. */
let pieces = [];
/** Error responses of a session that may be ending. */
let failed = [];
/** The length of the pieces of a long message from the server, in characters: see `_PIECE` in bridge_page.py. */
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
 * Deliver a message of the open session. When a session ends, host.js first fails the pending requests and then calls
 * `onclose`. The bridge needs the opposite order: a client may repeat a failed request at once, and must not reach a page
 * that is gone. So such errors are held back, and the bridge itself fails the requests of a closed session.
 */
function deliverOpen(message) {
  if (message.error?.code !== CONNECTION_CLOSED) return deliver(message);
  failed.push(message);
  queueMicrotask(() => failed.splice(0).forEach(deliver)); // if the session has not closed, the server itself sent this error
}

async function make({ dialect, url, sessionId, visibility, permissions, timeout }) {
  const { Transport } = await import(`./dialects/${dialect}.js`);
  const iframe = document.body.appendChild(document.createElement("iframe"));
  iframe.title = "MCP server";
  transport = new Transport({ iframe, url, sessionId, visibility, permissions, timeout });
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
      await make(options);
      await transport.start();
      tell({ kind: "open" });
    } catch ({ name, message }) {
      tell({ kind: "failed", name, message });
    }
  },

  /** Run the server's setup, which a person can see. */
  async setup(options) {
    try {
      await make(options);
      transport.onpermissions = (requested) => {
        const lines = requested.map(({ name, purpose }) => (purpose ? `${name}: ${purpose}` : name));
        return confirm(`The server asks for:\n${visible(lines.join("\n"))}`) ? requested.map(({ name }) => name) : [];
      };
      const result = await transport.setup();
      tell({ kind: "set up", ...result, permissions: transport.permissions });
    } catch ({ name, message }) {
      tell({ kind: "failed", name, message });
    }
  },

  /** Add a piece of a message that is too long for one call. */
  piece(text) {
    pieces.push(text);
  },

  /** Send one JSON-RPC message: the pieces so far and this text. A request that cannot be sent gets an error response. */
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

tell({ kind: "hello", query: location.search });
