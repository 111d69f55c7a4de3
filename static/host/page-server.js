/**
 * @typedef {object} PageServerOptions
 * @property {string} [channel] The name of the channel for the clients in this window; `mcp-default` by default.
 * @property {Element} [parent] The element to put the hidden frame into; `document.body` by default.
 */

/**
 * Makes a page a page server of MCP-B, without any Python in it: frames a bundle, hidden, and relays messages between the
 * bundle and the clients in this window. The bundle has to allow this page's origin.
 *
 * When the bundle's page is reloaded, stops or leaves, clients are notified that the server has stopped, and later that it
 * is ready again.
 * @param {string | URL} url the address of the bundle, absolute or relative to the page
 * @param {PageServerOptions} [options]
 * @returns {() => void} a function that ends it: clients are notified that the server has stopped, and the frame is removed
 * @throws {TypeError} if the address has another scheme: such a page could run in this one's origin
 */
export function embedPageServer(url, { channel = "mcp-default", parent = document.body } = {}) {
  const { href, origin, protocol } = new URL(url, document.baseURI);
  if (!/^https?:$/.test(protocol))
    throw new TypeError(`${href} is not an address of a bundle: write one with http or https.`);
  const frame = Object.assign(document.createElement("iframe"), { src: href, title: origin, hidden: true });
  frame.sandbox = "allow-scripts allow-same-origin allow-forms allow-downloads";
  const stopped = { type: "mcp", direction: "server-to-client", payload: "mcp-server-stopped" };
  const check = { type: "mcp", direction: "client-to-server", payload: "mcp-check-ready" };
  const isFor = (data, name, { direction }) =>
    data?.type === "mcp" && data.channel === name && data.direction === direction;
  const say = (message) => window.postMessage({ ...message, channel }, location.origin);
  const ask = (message) => frame.contentWindow?.postMessage({ ...message, channel: "mcp-iframe" }, origin);
  let ready = false; // otherwise the frame may have another document
  let loads = 0;
  const relay = ({ source, origin: sender, data }) => {
    if (source === window && sender === location.origin) {
      if (ready && isFor(data, channel, check)) ask(data);
    } else if (source && source === frame.contentWindow && sender === origin) {
      if (!isFor(data, "mcp-iframe", stopped)) return;
      ready = data.payload !== stopped.payload;
      say(data);
    }
  };
  const restart = () => {
    loads += 1;
    if (loads === 1) return;
    ready = false;
    say(stopped);
    ask(check);
  };
  addEventListener("message", relay);
  frame.addEventListener("load", restart);
  parent.append(frame);
  return () => {
    removeEventListener("message", relay);
    frame.remove();
    if (ready) say(stopped);
    ready = false;
  };
}
