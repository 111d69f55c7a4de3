// The frame of a published bundle inside a view, and the relay between it and the host: JSON-RPC, unread and unchanged.
//
// Both ways pass a gate: the window first, then the exact origin. The bundle's is that of its URL, and its messages go
// to that origin only. The host's is pinned with its first message; until then only the bundle's `ui/initialize`, which
// is no secret, is posted to it, for any origin. At an opaque origin (a sandbox without `allow-same-origin`) everything
// in this frame has an opaque origin, too, and there is no other target than "*"; so this ends if the frame navigates.
//
// A page that does not allow this origin reports that at a port it is given, before Python runs (../page/inbox.js).
import { CALLING, DRAWING, LOADING, MOST_HELD, MOST_KEPT, STARTING } from "./limits.js";
import { applyHostContext, read, textOf } from "./stand-in.js";

/**
 * Frames the bundle.
 * @param {string} url the address of its page
 * @param {object} listeners
 * @param {(why: string, early: MessageEvent[]) => void} listeners.onRefused there is no frame, and nothing was posted to
 *   the host; `early` are its messages so far
 * @param {(why: string, session: Session) => void} listeners.onLeft the bundle has left its page, does not allow this
 *   origin, or does not start
 * @param {() => void} listeners.onShown the frame can be seen
 * @returns {(event: MessageEvent) => void} to be called with each message event of the host
 *
 * @typedef {{ host: string | null, id: any, answer: any, initialized: boolean, last: any }} Session The host's origin, the
 *   id of the bundle's `ui/initialize`, the host's answer to it, whether that is confirmed, and the host's last message
 *   about the end of the tool call
 */
export function frameBundle(url, { onRefused, onLeft, onShown }) {
  const { origin } = new URL(url);
  const isOpaque = self.origin === "null";
  const frame = document.createElement("iframe");
  const early = []; // messages of the host before the bundle's first one
  /** @type {Session} */
  const session = { host: null, id: undefined, answer: null, initialized: false, last: null };
  let bundle = null; // its origin, once it has called
  let runs = false;
  let loads = 0;
  let ended = false;

  const toHost = (data) => parent.postMessage(data, target(session.host));
  const toBundle = (data) => frame.contentWindow.postMessage(data, target(bundle));

  function end(inform, ...details) {
    if (ended) return;
    ended = true;
    removeEventListener("message", fromFrame);
    document.removeEventListener("securitypolicyviolation", onViolation);
    frame.remove();
    inform(...details);
  }
  const left = () => end(onLeft, `The view has left its page ${url}.`, session);
  const disallowed = () =>
    runs ||
    end(
      onLeft,
      `${url} does not allow this host, whose views are of ${self.origin}: its allowed_origins have to list that.`,
      session,
    );
  const unstarted = () => runs || end(onLeft, `${url} does not start for this host, or does not allow it.`, session);
  const refused = (why) => end(onRefused, why, early);
  const unanswered = () => {
    if (bundle !== null) return;
    refused(`${url} does not answer: it may be unreachable, or not allow this host to frame it`);
  };

  function show() {
    frame.style.opacity = "1";
    onShown();
  }

  function ask() {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = disallowed;
    frame.contentWindow.postMessage(null, target(bundle), [port2]);
  }

  function fromHost(event) {
    if (session.host !== null && event.origin !== session.host) return;
    const message = read(event);
    if (!message) return;
    session.host ??= event.origin;
    const { method } = message;
    if (method === undefined && message.id === session.id && message.result) {
      session.answer = message.result;
      setTimeout(unstarted, STARTING);
      applyHostContext(message.result.hostContext);
    } else if (method === "ui/notifications/host-context-changed") {
      applyHostContext(message.params);
    } else if (method === "ui/notifications/tool-result" || method === "ui/notifications/tool-cancelled") {
      session.last = runs ? held(message) : message;
    }
    if (bundle !== null) toBundle(event.data);
    else if (early.length < MOST_KEPT) early.push(event);
  }

  function fromFrame(event) {
    if (event.source !== frame.contentWindow) return;
    if (bundle === null ? event.origin !== origin && !(isOpaque && event.origin === "null") : event.origin !== bundle)
      return;
    const message = read(event);
    if (!message) return;
    const calls = message.method === "ui/initialize";
    if (calls) session.id = message.id;
    if (session.host === null && !calls) return;
    if (bundle === null) {
      bundle = event.origin;
      ask();
      setTimeout(show, DRAWING);
    }
    toHost(event.data);
    for (const { data } of early.splice(0)) toBundle(data);
    if (message.method === "ui/notifications/initialized") {
      session.initialized = true; // Python may not run yet
    } else if (message.method === "ui/notifications/size-changed") {
      runs = true;
      session.last = session.last && held(session.last);
      show();
    }
  }

  function onViolation({ effectiveDirective }) {
    if (effectiveDirective !== "frame-src") return;
    if (bundle !== null) left();
    else refused(`this host's policy allows no frames of ${origin}`);
  }

  addEventListener("message", fromFrame);
  document.addEventListener("securitypolicyviolation", onViolation);
  frame.addEventListener("load", () => {
    loads += 1;
    if (loads > 1 && isOpaque) left();
    else setTimeout(unanswered, CALLING);
  });
  setTimeout(unanswered, LOADING);

  frame.id = "mcpframe-view";
  frame.title = document.title;
  frame.allow = "camera; microphone; geolocation; clipboard-write; fullscreen";
  frame.style.opacity = "0"; // hides a browser's error page
  frame.src = url;
  document.body.append(frame);
  return fromHost;
}

/**
 * Returns what is kept of the message that ends the tool call, should the bundle leave its page: its text, unless that is
 * long.
 */
function held({ method, params }) {
  if (method === "ui/notifications/tool-cancelled") return { method, params };
  const text = textOf(params);
  return text.length > MOST_HELD ? null : { method, params: { content: [{ type: "text", text }] } };
}

/** Returns the target origin of a message: "*" for an unknown or opaque one. */
export const target = (origin) => (origin === null || origin === "null" ? "*" : origin);

/** Returns whether a meta element's policy certainly refuses frames of an address; in doubt, the browser decides. */
export function refusesFrames(url) {
  const { protocol } = new URL(url);
  const others = (source) =>
    /^'(none|self)'$/i.test(source) || (/^[a-z][a-z0-9+.-]*:$/i.test(source) && !schemes(source));
  const schemes = (source) =>
    source.toLowerCase() === protocol || (source.toLowerCase() === "http:" && protocol === "https:");
  return [...document.querySelectorAll('meta[http-equiv="Content-Security-Policy" i]')].some((meta) => {
    const directives = new Map(
      /** @type {HTMLMetaElement} */ (meta).content
        .split(";")
        .map((text) => text.trim().split(/\s+/))
        .reverse() // the first directive of a name applies
        .map(([name, ...sources]) => [name.toLowerCase(), sources]),
    );
    const sources = directives.get("frame-src") ?? directives.get("child-src") ?? directives.get("default-src");
    return sources?.every(others) ?? false;
  });
}
