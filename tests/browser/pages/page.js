/**
 * A page that a test plays by hand: it remembers every message it hears, and says what it is told to.
 *
 * `page.html` does nothing by itself. `page.html?inner` plays the inner frame of the SEP in its shortest form: it shakes
 * hands, and answers each `echo` request with its own params; at `#setup` it completes its setup at once.
 * `page.html?plain` is the same in plain MCP: it answers each `ping` and each `echo`.
 * `page.html?handshake` only posts its handshake, and accepts no reply.
 */

/** Every message event of this page: what a test looks at to see who was told what. */
const heard = [];
addEventListener("message", ({ origin, data }) => heard.push({ origin, data }));

/** Post JSON text as a message: text, so that keys such as `__proto__` arrive as they are written. */
function say(text, target = opener ?? parent, targetOrigin = "*") {
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
  sparse() {
    const list = [];
    list[4e9] = 1;
    return { type: "MCP_MESSAGE", payload: { params: { list }, method: "ping", jsonrpc: "2.0", id: "sparse" } };
  },
  endless() {
    let part = {};
    for (let level = 0; level < 60; level++) part = { left: part, right: part };
    return { payload: { jsonrpc: "2.0", id: "endless", method: "ping", params: part }, type: "MCP_MESSAGE" };
  },
  self() {
    const params = {};
    params.self = params;
    return { type: "MCP_MESSAGE", payload: { jsonrpc: "2.0", id: "self", method: "ping", params } };
  },
  number: () => ({ type: "MCP_MESSAGE", payload: { jsonrpc: "2.0", id: "number", method: "ping", params: { n: 1n } } }),
  surrogate: () => ({ type: "MCP_MESSAGE", payload: { jsonrpc: "2.0", id: "surrogate", method: "\ud800" } }),
  map: () => ({ type: "MCP_MESSAGE", payload: new Map([["jsonrpc", "2.0"]]) }),
  bigint: () => ({ type: "MCP_MESSAGE", payload: { jsonrpc: "2.0", method: "notifications/x", params: { n: 1n } } }),
};

if (location.search.startsWith("?inner")) {
  const host = opener ?? parent;
  const isSetup = location.hash.slice(1).split(",").includes("setup");
  addEventListener("message", ({ source, origin, data }) => {
    if (source !== host) return;
    const answer = (message) => host.postMessage(message, origin === "null" ? "*" : origin);
    if (data?.type === "MCP_SETUP_HANDSHAKE_REPLY") {
      const transportVisibility = { requirement: "optional", optionalMessage: "See it" };
      answer({ type: "MCP_SETUP_COMPLETE", status: "success", serverTitle: "A page", transportVisibility });
    } else if (data?.type === "MCP_TRANSPORT_HANDSHAKE_REPLY") {
      answer({ type: "MCP_TRANSPORT_ACCEPTED", sessionId: data.sessionId });
    } else if (data?.type === "MCP_MESSAGE" && data.payload.method === "echo") {
      const { id, params } = data.payload;
      answer({ type: "MCP_MESSAGE", payload: { jsonrpc: "2.0", id, result: params ?? {} } });
    } else if (data?.type === "MCP_MESSAGE" && data.payload.method === "notifications/close") {
      close();
    }
  });
  const requestedPermissions = new URLSearchParams(location.search)
    .getAll("ask")
    .map((name) => ({ name, required: true }));
  const handshake = isSetup
    ? { type: "MCP_SETUP_HANDSHAKE", protocolVersion: "1.0", requiresVisibleSetup: false, requestedPermissions }
    : { type: "MCP_TRANSPORT_HANDSHAKE", protocolVersion: "1.0" };
  host.postMessage(handshake, "*");
}

if (location.search.startsWith("?plain")) {
  addEventListener("message", ({ source, origin, data }) => {
    if (source !== parent || !["ping", "echo"].includes(data?.method)) return;
    parent.postMessage({ jsonrpc: "2.0", id: data.id, result: data.params ?? {} }, origin);
  });
}

if (location.search === "?handshake")
  parent.postMessage({ type: "MCP_TRANSPORT_HANDSHAKE", protocolVersion: "1.0" }, "*");

/** `page.html?client` plays an inner client: it calls one tool of the server around it. */
if (location.search === "?client") {
  const post = (payload) => parent.postMessage({ type: "MCP_MESSAGE", payload: { jsonrpc: "2.0", ...payload } }, "*");
  const steps = [
    () =>
      post({
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "page", version: "1" } },
      }),
    () => {
      post({ method: "notifications/initialized" });
      post({ id: 2, method: "tools/call", params: { name: "greet", arguments: { name: "the page" } } });
    },
    ({ content }) =>
      post({ id: 3, method: "tools/call", params: { name: "done", arguments: { answer: content[0].text } } }),
  ];
  addEventListener("message", ({ source, data }) => {
    if (source !== parent) return;
    if (data?.type === "MCP_TRANSPORT_HANDSHAKE_REPLY") {
      parent.postMessage({ type: "MCP_TRANSPORT_ACCEPTED", sessionId: data.sessionId }, "*");
      steps.shift()();
    } else if (data?.payload?.id) steps.shift()?.(data.payload.result);
  });
  parent.postMessage({ type: "MCP_TRANSPORT_HANDSHAKE", protocolVersion: "1.0" }, "*");
}
