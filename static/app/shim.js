// A view of MCP Apps that frames a published bundle, and relays JSON-RPC between it and the host, unread and unchanged.
//
// Both ways pass a gate: the window first, then the exact origin. The bundle's is that of its URL, and its messages go
// to that origin only. The host's is pinned with its first message; until then only the bundle's `ui/initialize`, which
// is no secret, is posted to it, for any origin. At an opaque origin (a sandbox without `allow-same-origin`) everything
// in this frame has an opaque origin, too, and there is no other target than "*"; so this ends if the frame navigates.
import { dress, read, standIn } from "./stand-in.js";

const ID = "mcpframe/shim";
/** How long the bundle may take, in ms: for its page to load, and to call for the host after that. */
const LOADING = 30_000;
const CALLING = 3_000;
const MOST_KEPT = 100;

const url = /** @type {HTMLMetaElement} */ (document.querySelector("meta[name=mcpframe-bundle]")).content;
const { origin } = new URL(url);
const isOpaque = self.origin === "null";

let host = null; // the origins of both sides, once they have spoken
let bundle = null;
let answered = false; // whether the host has answered the bundle's `ui/initialize`
let initialId; // the id of that
let loads = 0;
let hear = null; // the stand-in
const early = []; // what the host has said before the bundle has
const past = new Map(); // what the stand-in has to know, by method

const frame = document.createElement("iframe");

const toHost = (data) => parent.postMessage(data, host === null || host === "null" ? "*" : host);
const toBundle = (data) => frame.contentWindow.postMessage(data, bundle === "null" ? "*" : origin);

function fromHost(event) {
  if (host !== null && event.origin !== host) return;
  const message = read(event);
  if (!message) return;
  host ??= event.origin;
  if (hear) {
    hear(message);
    return;
  }
  const { method } = message;
  if (method === undefined && message.id === initialId && message.result) {
    answered = true;
    dress(message.result.hostContext);
  } else if (method === "ui/notifications/host-context-changed") {
    dress(message.params);
  } else if (method === "ui/notifications/tool-result" || method === "ui/notifications/tool-cancelled") {
    past.set("tool", message);
  }
  if (bundle !== null) toBundle(event.data);
  else if (early.length < MOST_KEPT) early.push(event.data);
}

function fromBundle(event) {
  if (bundle === null ? event.origin !== origin && !(isOpaque && event.origin === "null") : event.origin !== bundle)
    return;
  const message = read(event);
  if (!message || hear) return;
  const calls = message.method === "ui/initialize";
  if (calls) initialId = message.id;
  if (host === null && !calls) return;
  bundle ??= event.origin;
  toHost(event.data);
  early.splice(0).forEach(toBundle);
}

function fail(why) {
  if (hear) return;
  frame.remove();
  hear = standIn(document.body, why, toHost, answered ? null : ID).hear;
  if (!answered) {
    const params = { appInfo: { name: "mcpframe", version: "0" }, appCapabilities: {}, protocolVersion: "2026-01-26" };
    toHost({ jsonrpc: "2.0", id: ID, method: "ui/initialize", params });
  }
  for (const message of past.values()) hear(message);
}

addEventListener("message", (event) => {
  if (event.source === parent) fromHost(event);
  else if (event.source === frame.contentWindow) fromBundle(event);
});

const UNREACHED = `The view at ${url} does not answer. It may be unreachable, or not allow this host to frame it.`;
const LEFT = `The view has left its page ${url}.`;

document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => {
  if (effectiveDirective !== "frame-src") return;
  fail(bundle === null ? `The view cannot be shown: this host does not allow it to frame ${origin}.` : LEFT);
});
frame.addEventListener("load", () => {
  loads += 1;
  if (loads > 1 && isOpaque) fail(LEFT);
  else if (bundle === null) setTimeout(() => bundle === null && fail(UNREACHED), CALLING);
});
setTimeout(() => bundle === null && fail(UNREACHED), LOADING);

frame.title = document.title;
frame.allow = "camera; microphone; geolocation; clipboard-write; fullscreen";
frame.src = url;
document.body.append(frame);
