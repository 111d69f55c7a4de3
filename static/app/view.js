// The text of a view of MCP Apps. It shows a published bundle in the best way that its host's policy allows: in a frame of
// the bundle's own; else in this document, which needs WebAssembly; else the text of the tool's result, and why. The
// policy is found by trying: hosts are not recognized by name.
import { LOADING, MOST_KEPT } from "./limits.js";
import { frameBundle, refusesFrames, target } from "./relay.js";
import { allowsWebAssembly, applyHostContext, read, standIn } from "./stand-in.js";

/** The id of the call, and the revisions of MCP Apps: as in `mcpframe.frame.dialects.mcp_apps.messages`. */
const ID = "mcpframe/initialize";
const VERSIONS = ["2026-01-26", "2025-11-21"];

const { content: url, dataset } = /** @type {HTMLMetaElement} */ (document.querySelector("meta[name=mcpframe-bundle]"));
const { origin } = new URL(url);
const first = document.getElementById("mcpframe-first");
const onShown = () => first.remove();

const events = []; // the host's, until there is a listener
let dropped = 0;
const keep = (event) => {
  if (events.length < MOST_KEPT) events.push(event);
  else dropped += 1;
};
let listener = keep;
const onMessage = (event) => event.source === parent && listener(event);
addEventListener("message", onMessage);

/** Passes the host's messages to a listener: those so far, and later ones. */
function hand(to) {
  listener = to;
  events.splice(0).forEach(to);
}

function inFrame() {
  const onRefused = (why, early) => {
    listener = keep;
    events.push(...early);
    inDocument(why);
  };
  hand(frameBundle(url, { onRefused, onLeft: inText, onShown }));
}

/**
 * Calls the host: hosts hide a view until it has confirmed their answer, and the bundle's page comes later.
 * @param {string} name the view's name
 * @param {any} appCapabilities
 */
function call(name, appCapabilities) {
  const params = { appInfo: { name, version: "0" }, appCapabilities, protocolVersion: VERSIONS[0] };
  parent.postMessage({ jsonrpc: "2.0", id: ID, method: "ui/initialize", params }, "*");
}

/**
 * Calls the host in place of the bundle's page, which is about to start in this document, and confirms its answer.
 * @returns {import("./relay.js").Session}
 */
function callEarly() {
  const session = { host: null, id: ID, answer: null, initialized: false, last: null };
  let others = false; // see ../page/inbox.js
  listener = (event) => {
    keep(event);
    const message = read(event);
    others ||= message === null;
    if (session.answer || message?.method !== undefined || message?.id !== ID || !message.result) return;
    session.host = event.origin;
    session.answer = message.result;
    applyHostContext(message.result.hostContext);
    if (others || !VERSIONS.includes(message.result.protocolVersion ?? VERSIONS[0])) return;
    session.initialized = true;
    const confirmation = { jsonrpc: "2.0", method: "ui/notifications/initialized", params: {} };
    parent.postMessage(confirmation, target(session.host));
  };
  call(url.split("/").filter(Boolean).at(-1), { tools: { listChanged: true } });
  return session;
}

/**
 * Starts the bundle's page in this document.
 * @param {string} [noFrame] the reason why there is no frame
 */
async function inDocument(noFrame) {
  let session; // with the host, once it is called
  const fail = (why) =>
    inText(`The view cannot be drawn here: ${[noFrame, why].filter(Boolean).join(", and ")}.`, session);
  if (!allowsWebAssembly()) {
    fail("this host's policy allows no WebAssembly, which Python needs");
    return;
  }
  session = callEarly();
  const refused = [];
  const onViolation = ({ blockedURI }) => blockedURI.startsWith(origin) && refused.push(blockedURI);
  document.addEventListener("securitypolicyviolation", onViolation);
  try {
    const page = fetch(url, { credentials: "omit" }).then((response) =>
      response.ok ? response.text() : Promise.reject(),
    );
    const script = import(new URL("app-inline.js", url).href);
    const late = new Promise((_, reject) => setTimeout(reject, LOADING));
    const [text, { start }] = await Promise.race([Promise.all([page, script]), late]);
    if (start(text, { events: [...events], dropped, onShown, session }) === false) {
      inText(`${url} does not allow this host.`, session);
      return;
    }
    events.length = 0;
    removeEventListener("message", onMessage); // the page has its own listener
  } catch {
    await new Promise((done) => setTimeout(done)); // the event of a violation follows its error
    fail(refused.length ? `this host's policy allows no scripts or requests of ${origin}` : `${url} cannot be loaded`);
  } finally {
    document.removeEventListener("securitypolicyviolation", onViolation);
  }
}

/**
 * Shows the tool's result as text.
 * @param {string} why the reason, for the user
 * @param {Partial<import("./relay.js").Session>} session between the bundle and the host so far
 */
function inText(why, { host = null, last, ...opening } = {}) {
  onShown();
  const post = (data) => parent.postMessage(data, target(host));
  const { hear } = standIn(document.body, why, post, { id: ID, ...opening, url });
  if (opening.id === undefined) call("mcpframe", {});
  if (last) hear(last);
  hand((event) => {
    if (host !== null && event.origin !== host) return;
    const message = read(event);
    if (!message) return;
    host ??= event.origin;
    hear(message);
  });
}

// Frames in a document of opaque origin are opaque, too, and a bundle serves such a page only if its author allows that.
// In this document the bundle would face the host itself.
if (dataset.form === "inline" || (self.origin === "null" && allowsWebAssembly())) inDocument();
else if (refusesFrames(url)) inDocument(`this host's policy allows no frames of ${origin}`);
else inFrame();
