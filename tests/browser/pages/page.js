/**
 * A page that a test plays by hand: it remembers every message it hears, and says what it is told to.
 *
 * `page.html` does nothing by itself. `page.html?inner` plays the inner frame of the SEP in its shortest form: it shakes
 * hands, and answers each `echo` request with its own params.
 */

/** Every message event of this page: what a test looks at to see who was told what. */
const heard = [];
addEventListener("message", ({ origin, data }) => heard.push({ origin, data }));

/** Post JSON text as a message: text, so that keys such as `__proto__` arrive as they are written. */
function say(text, target = parent, targetOrigin = "*") {
  target.postMessage(JSON.parse(text), targetOrigin);
}

/** Frame another page in this one. */
function embed(url) {
  const iframe = document.createElement("iframe");
  iframe.src = url;
  document.body.append(iframe);
}

/** Messages no JSON can spell. */
const oddities = {
  cyclic() {
    const message = { type: "MCP_MESSAGE", payload: { jsonrpc: "2.0", method: "notifications/x", params: {} } };
    message.payload.params.self = message;
    return message;
  },
  shared() {
    let params = {};
    for (let level = 0; level < 60; level++) params = { left: params, right: params };
    return { type: "MCP_MESSAGE", payload: { jsonrpc: "2.0", method: "notifications/x", params } };
  },
  map: () => ({ type: "MCP_MESSAGE", payload: new Map([["jsonrpc", "2.0"]]) }),
  bigint: () => ({ type: "MCP_MESSAGE", payload: { jsonrpc: "2.0", method: "notifications/x", params: { n: 1n } } }),
};

if (location.search === "?inner") {
  addEventListener("message", ({ source, origin, data }) => {
    if (source !== parent) return;
    if (data?.type === "MCP_TRANSPORT_HANDSHAKE_REPLY") {
      parent.postMessage({ type: "MCP_TRANSPORT_ACCEPTED", sessionId: data.sessionId }, origin);
    } else if (data?.type === "MCP_MESSAGE" && data.payload.method === "echo") {
      const { id, params } = data.payload;
      parent.postMessage({ type: "MCP_MESSAGE", payload: { jsonrpc: "2.0", id, result: params ?? {} } }, origin);
    }
  });
  parent.postMessage({ type: "MCP_TRANSPORT_HANDSHAKE", protocolVersion: "1.0" }, "*");
}
