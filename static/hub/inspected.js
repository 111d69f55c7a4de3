/**
 * The hub as a framed server (SEP "postMessage Transport"), for the inspector alone: passes messages on between the window
 * around this page and the hub's socket, and shows the hub's log. The hub's answer to `host` is the origin allowed around
 * it.
 */
const MOST_LINES = 500;
const REPEAT = 500; // milliseconds between handshakes, until the host answers one
const VERSION = "1.0";

const host = await (await fetch("host")).json();
const isSetup = /(^#?|,)setup(?![^,])/.test(location.hash);
const post = (message) => parent.postMessage(message, host);

function connect(sessionId) {
  const socket = new WebSocket("socket");
  const waiting = []; // messages of the host before the socket is open
  const send = (text) => (socket.readyState === WebSocket.OPEN ? socket.send(text) : waiting.push(text));
  socket.addEventListener("open", () => {
    for (const text of waiting.splice(0)) socket.send(text);
  });
  socket.addEventListener("message", ({ data }) => {
    const { message, line } = JSON.parse(data);
    if (message) post({ type: "MCP_MESSAGE", payload: message });
    else show(line);
  });
  socket.addEventListener("close", () =>
    show({ level: "ERROR", time: "", text: "The hub has ended: start mcpframe inspect --hub again, and connect." }),
  );
  post({ type: "MCP_TRANSPORT_ACCEPTED", sessionId });
  return send;
}

function show({ level, time, text }) {
  const list = document.getElementById("log");
  const item = document.createElement("li");
  item.dataset.level = level;
  item.append(Object.assign(document.createElement("time"), { textContent: time }), text);
  list.prepend(item);
  while (list.childElementCount > MOST_LINES) list.lastChild.remove();
}

let send = null;
let answered = false;
const handshake = isSetup
  ? { type: "MCP_SETUP_HANDSHAKE", protocolVersion: VERSION, requiresVisibleSetup: false }
  : { type: "MCP_TRANSPORT_HANDSHAKE", protocolVersion: VERSION };

addEventListener("message", ({ source, origin, data }) => {
  if (source !== parent || origin !== host) return;
  if (data?.type === "MCP_SETUP_HANDSHAKE_REPLY" && isSetup && !answered) {
    answered = true;
    const transportVisibility = { requirement: "optional", optionalMessage: "Shows what tabs and clients do." };
    post({ type: "MCP_SETUP_COMPLETE", status: "success", serverTitle: "Hub", transportVisibility });
  } else if (data?.type === "MCP_TRANSPORT_HANDSHAKE_REPLY" && !isSetup && !answered) {
    answered = true;
    send = connect(data.sessionId);
  } else if (data?.type === "MCP_MESSAGE" && send) send(JSON.stringify(data.payload));
});

if (parent !== window) {
  post(handshake);
  const repeating = setInterval(() => (answered ? clearInterval(repeating) : post(handshake)), REPEAT);
}

export {};
