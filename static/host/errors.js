/** The errors of a frame, and calls of the host that must not raise any. */

/** @import { FrameErrorName } from "./host.js" */

/** An error of a frame or a message; `name` is its kind. */
export class FrameError extends Error {
  /** @type {FrameErrorName} */
  name;

  /**
   * @param {FrameErrorName} name the kind of error
   * @param {string} message one sentence: what is wrong and, if possible, what to do
   */
  constructor(name, message) {
    super(message);
    this.name = name;
  }
}

/** Call the host. An exception is logged in the console and has no other effect. */
export function attempt(callback) {
  try {
    callback();
  } catch (error) {
    reportError(error);
  }
}

/** A JSON-RPC error response. */
export const errorResponse = (id, code, message, data) => ({
  jsonrpc: "2.0",
  id,
  error: { code, message, ...(data && { data }) },
});

/** JSON-RPC error codes: the connection was closed (as in both official SDKs), the request is refused, any other error. */
export const CONNECTION_CLOSED = -32000;
export const INVALID_REQUEST = -32600;
export const INTERNAL_ERROR = -32603;

/** What a host checks if a page sends no handshake. */
export const toCheck = () => `is the address right, does the page serve MCP, and may ${origin} embed it?`;
/** What a host does about a page that does not allow its origin. */
export const notAllowed = () =>
  origin === "null"
    ? "The framed page allows no host of an opaque origin, as files and sandboxed frames have: serve the host's page over http or https, and add its origin to the allowed_origins of the framed page."
    : `The framed page does not allow ${origin}: add it to allowed_origins in its [tool.mcpframe] and build it again, or open this page at an address that it allows.`;
