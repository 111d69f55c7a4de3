/**
 * The host page of `mcpframe dev`: frames the server, and reloads it with the same session id after every build.
 *
 * It learns of builds from the channel that config.json names (see mcpframe/kit/dev/reload_channel.py).
 */
import { FrameTransport } from "./host.js";
import { visible } from "./visible.js";

const LINES = 1000; // how many lines of the server's output are kept
const SAID = 4000; // how many characters of a line the terminal is told
const PROTOCOL = "2025-11-25";
const element = (id) => document.getElementById(id);
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

sessionStorage.session ??= crypto.randomUUID();
const sessionId = sessionStorage.session;
element("session").textContent = sessionId;

let transport = null;
let current = 0; // counts connections, so that events of earlier ones are ignored
let url = null;
let built = 0; // the number of the framed build
let told = Promise.resolve(); // the lines that the terminal is told
let channel = ""; // the URL of the channel without the rest of its query; each run has its own token

function show(state, text) {
  document.documentElement.dataset.state = state;
  element("status").textContent = visible(text);
}

/** Append a log message of the server, or a line that it has printed, to the log, and show it in the terminal. */
function print({ level = "info", data = "" }) {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  const line = `${level === "info" ? "" : `${level}: `}${text}`;
  const log = element("log");
  log.append(visible(`${line}\n`));
  while (log.childNodes.length > LINES) log.firstChild.remove();
  log.hidden = false;
  const said = encodeURIComponent(line.slice(0, SAID).toWellFormed());
  const send = () => fetch(`${channel}said=${said}`);
  told = told
    .then(send)
    .then(Boolean, Boolean)
    .then(() => {}); // in order; mcpframe dev may have stopped
}

async function connect({ setup = false } = {}) {
  const mine = ++current;
  const mineBuilt = built;
  await transport?.close();
  show("connecting", "Starting the server…");
  const started = performance.now();
  const own = new FrameTransport({
    url,
    iframe: document.querySelector("iframe"),
    sessionId,
    timeout: { handshake: 120_000 },
  });
  transport = own;
  const waiting = new Map();
  own.onmessage = (message) => {
    if (message.method === "notifications/message") print(message.params ?? {});
    else waiting.get(message.id)?.(message);
  };
  own.onclose = () => mine === current && show("closed", "The session is over.");
  own.onsetuprequired = (request) => show("setup", `The server needs its setup: ${request.message}`);
  const ask = (id, method, params) =>
    new Promise((resolve) => {
      waiting.set(id, resolve);
      own.send({ jsonrpc: "2.0", id, method, params });
    });
  try {
    if (setup) {
      show("setup", "Setting the server up…");
      const result = await own.setup();
      if (result.error) throw new Error(`The setup ended with ${result.error.code}: ${result.error.message}`);
    }
    await own.start();
    const clientInfo = { name: "mcpframe dev", version: "1" };
    const begun = await ask(1, "initialize", { protocolVersion: PROTOCOL, capabilities: {}, clientInfo });
    await own.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    if (begun.result?.capabilities.logging) await ask(3, "logging/setLevel", { level: "info" });
    const answer = await ask(2, "tools/list", {});
    if (mine !== current) return;
    fetch(`${channel}running=${mineBuilt}`).catch(() => {}); // mcpframe dev has stopped, which follow() shows
    element("tools").textContent = visible(answer.result?.tools.map((tool) => tool.name).join(", ") || "none");
    show("ready", `Connected in ${((performance.now() - started) / 1000).toFixed(1)} s.`);
  } catch (error) {
    if (mine === current) show("failed", error.message);
  }
}

async function follow() {
  for (let version = 0; ; ) {
    let state;
    try {
      channel ||= (await (await fetch("config.json")).json()).state;
      state = await (await fetch(`${channel}after=${version}`)).json();
    } catch {
      channel = "";
      show("stopped", "mcpframe dev has stopped: start it again.");
      await sleep(1000);
      continue;
    }
    if (state.version === version) continue;
    const restarted = state.version < version; // another run of mcpframe dev
    version = restarted ? 0 : state.version;
    if (restarted) {
      built = 0;
      continue;
    }
    element("error").hidden = !state.error;
    element("error").textContent = visible(state.error ?? "");
    document.documentElement.dataset.version = `${version}`;
    const isNew = state.built !== built && state.fails !== "start";
    ({ url, built } = state);
    if (isNew) connect();
    else if (state.fails === "start") {
      current += 1; // the frame shows the server's error; the connection is given up
      show("broken", "The server does not start after the last change.");
    } else if (state.fails) show("broken", "The last change does not build; the server is still the one before it.");
  }
}

element("setup").addEventListener("click", () => url && connect({ setup: true }));
follow();
