/**
 * @typedef {object} PageServerOptions
 * @property {string} [channel] The name of the channel for the clients in this window; `mcp-default` by default.
 * @property {Element} [parent] The element to put the hidden frame into; `document.body` by default.
 * @property {"mcp_b" | "plain_mcp"} [dialect] What the framed page speaks: `mcp_b`, as bundles do, by default. With
 *   `plain_mcp` it is any page that posts MCP's messages as they are.
 */

const SERVER = { type: "mcp", direction: "server-to-client" };
const CLIENT = { type: "mcp", direction: "client-to-server" };
const READY = { ...SERVER, payload: "mcp-server-ready" };
const STOPPED = { ...SERVER, payload: "mcp-server-stopped" };
const CHECK = { ...CLIENT, payload: "mcp-check-ready" };
const PING = { jsonrpc: "2.0", id: "mcpframe/ping", method: "ping" };
/** Milliseconds between two pings of a page that does not listen yet, and their number. */
const REPEAT_INTERVAL = 500;
const MOST_PINGS = 120;

const isFor = (data, channel, { type, direction }) =>
  data?.type === type && data.channel === channel && data.direction === direction;

/** How a message to the frame is written, and one of the frame is read, by dialect; null for noise. */
const WIRES = {
  mcp_b: {
    write: (message) => ({ ...message, channel: "mcp-iframe" }),
    read: (data) => (isFor(data, "mcp-iframe", SERVER) ? data : null),
  },
  plain_mcp: {
    write: ({ payload }) => (payload === CHECK.payload ? PING : payload),
    read(data) {
      if (data?.jsonrpc !== "2.0") return null;
      return data.id === PING.id && !("method" in data) ? READY : { ...SERVER, payload: data };
    },
  },
};

/**
 * Makes a page a page server of MCP-B, without any Python in it: frames a bundle, or another page that serves MCP, hidden,
 * and relays messages between it and the clients in this window. It has to allow this page's origin.
 *
 * When the framed page is reloaded, stops or leaves, clients are notified that the server has stopped, and later that it
 * is ready again.
 * @param {string | URL} url the address of the framed page, absolute or relative to the page
 * @param {PageServerOptions} [options]
 * @returns {() => void} a function that ends it: clients are notified that the server has stopped, and the frame is removed
 * @throws {TypeError} if the address has another scheme: such a page could run in this one's origin; or for another dialect
 */
export function embedPageServer(url, { channel = "mcp-default", parent = document.body, dialect = "mcp_b" } = {}) {
  if (!Object.hasOwn(WIRES, dialect))
    throw new TypeError(`A framed page does not speak ${dialect} here, only: ${Object.keys(WIRES).join(", ")}.`);
  const wire = WIRES[dialect];
  const { href, origin, protocol } = new URL(url, document.baseURI);
  if (!/^https?:$/.test(protocol))
    throw new TypeError(`${href} is not an address of a bundle: write one with http or https.`);
  const frame = Object.assign(document.createElement("iframe"), { src: href, title: origin, hidden: true });
  frame.sandbox = "allow-scripts allow-same-origin allow-forms allow-downloads";
  const say = (message) => window.postMessage({ ...message, channel }, location.origin);
  const ask = (message) => frame.contentWindow?.postMessage(wire.write(message), origin);
  let ready = false; // otherwise the frame may have another document
  let loads = 0;
  let repeating;
  const relay = ({ source, origin: sender, data }) => {
    if (source === window && sender === location.origin) {
      if (ready && isFor(data, channel, CLIENT)) ask(data);
    } else if (source && source === frame.contentWindow && sender === origin) {
      const message = wire.read(data);
      if (!message || (dialect === "plain_mcp" && !ready && message !== READY)) return;
      ready = message.payload !== STOPPED.payload;
      say(message);
    }
  };
  /** Ask a page that announces nothing by itself until it answers. */
  const ping = (number = 1) => {
    if (ready) return;
    if (number > MOST_PINGS)
      return console.error(
        `${href} has answered no ping of plain MCP: does it speak MCP, and may ${location.origin} frame it?`,
      );
    ask(CHECK);
    repeating = setTimeout(ping, REPEAT_INTERVAL, number + 1);
  };
  const restart = () => {
    loads += 1;
    if (loads > 1) {
      ready = false;
      say(STOPPED);
    }
    clearTimeout(repeating);
    if (dialect === "plain_mcp") ping();
    else if (loads > 1) ask(CHECK);
  };
  addEventListener("message", relay);
  frame.addEventListener("load", restart);
  parent.append(frame);
  return () => {
    removeEventListener("message", relay);
    frame.remove();
    clearTimeout(repeating);
    if (ready) say(STOPPED);
    ready = false;
  };
}
