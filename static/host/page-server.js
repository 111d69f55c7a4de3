/**
 * Makes a page a page server of MCP-B, without any Python in it: frames a bundle, hidden, and relays messages between the
 * bundle and the clients in this window. The bundle has to allow this page's origin.
 * @param url the address of the bundle
 * @returns a function that ends it
 * @throws TypeError if the address has another scheme: such a page could run in this one's origin
 */
export function embedPageServer(url) {
  const { href, origin, protocol } = new URL(url, document.baseURI);
  if (!/^https?:$/.test(protocol)) throw new TypeError(`${href} is no address of a bundle: write one with http or https.`);
  const frame = Object.assign(document.createElement("iframe"), { src: href, title: origin, hidden: true });
  frame.sandbox = "allow-scripts allow-same-origin allow-forms allow-downloads";
  let ready = false; // before, the frame has another document
  const isFor = (data, channel, direction) =>
    data?.type === "mcp" && data.channel === channel && data.direction === direction;
  const relay = ({ source, origin: sender, data }) => {
    if (source === window && sender === location.origin) {
      if (!ready || !isFor(data, "mcp-default", "client-to-server")) return;
      frame.contentWindow?.postMessage({ ...data, channel: "mcp-iframe" }, origin);
    } else if (source && source === frame.contentWindow && sender === origin) {
      if (!isFor(data, "mcp-iframe", "server-to-client")) return;
      ready = true;
      window.postMessage({ ...data, channel: "mcp-default" }, location.origin);
    }
  };
  addEventListener("message", relay);
  document.body.append(frame);
  return () => {
    removeEventListener("message", relay);
    frame.remove();
  };
}
