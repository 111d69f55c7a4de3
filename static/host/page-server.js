/**
 * Makes a page a page server of MCP-B, without any Python in it: frames a bundle, hidden, and relays messages between the
 * bundle and the clients in this window. The bundle has to allow this page's origin.
 * @param url the address of the bundle
 * @returns a function that ends it
 */
export function embedPageServer(url) {
  const { href, origin } = new URL(url, document.baseURI);
  const frame = Object.assign(document.createElement("iframe"), { src: href, title: origin, hidden: true });
  frame.sandbox = "allow-scripts allow-same-origin allow-forms allow-downloads";
  let ready = false; // before, the frame has another document
  const relay = ({ source, origin: sender, data }) => {
    if (data?.type !== "mcp") return;
    const way = `${data.channel} ${data.direction}`;
    if (source === window && sender === location.origin && way === "mcp-default client-to-server") {
      if (ready) frame.contentWindow.postMessage({ ...data, channel: "mcp-iframe" }, origin);
    } else if (source === frame.contentWindow && sender === origin && way === "mcp-iframe server-to-client") {
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
