// In the page itself, before everything else: listens from the first byte, and calls for the host before Python runs. It
// judges nothing. What it hears is kept unread and passes the gate once Python takes over (`take_inbox` in
// mcpframe.frame.browser.window); what it posts, and for which address, the build has computed. None of it is secret.
// Only if this page does not start, it reads messages, to stand in for the view that a host waits for.
import { allowsWebAssembly, read, standIn } from "../app/stand-in.js";

/**
 * @param {{ events?: MessageEvent[], dropped?: number }} kept what the page's window has heard before: the messages, and
 *   how many more there were
 */
export function listen({ events = [], dropped = 0 } = {}) {
  const host = parent === self ? opener : parent;
  if (!host) return; // opened by itself
  const { phases, most, patience } = JSON.parse(document.getElementById("mcpframe-inbox").textContent);
  const isAsked = ({ fragment, query }) =>
    new RegExp(fragment).test(location.hash) && new RegExp(query).test(location.search);
  const { openings, failures, standIn: view } = phases.find(isAsked);
  let standing = null;
  const keep = (event) => {
    if (events.length < most) events.push(event);
    else dropped += 1;
    standing?.take(event);
  };
  addEventListener("message", keep);
  const post = (messages) => {
    for (const message of messages) host.postMessage(message, "*");
  };
  post(openings);

  const isHost = (origin) => view.hosts.includes(origin) || (view.hosts.includes("*") && origin !== "null");

  /** Stands in for the view once a host of an allowed origin has answered, which is pinned. */
  const stand = () => {
    if (!globalThis.mcpframeInbox) return; // Python runs
    let origin = null;
    const reply = (message) => host.postMessage(message, origin === "null" ? "*" : origin);
    const { hear, stop } = standIn(document.body, "", reply, view);
    const take = (event) => {
      if (event.source !== host || (origin === null ? !isHost(event.origin) : event.origin !== origin)) return;
      const message = read(event);
      if (!message || (origin === null && !(message.id === view.id && message.result))) return;
      origin = event.origin;
      hear(message);
    };
    standing = { take, stop };
    events.forEach(take);
  };

  /** Tells a host that has answered and has no deadline that this page does not start; at the latest after `patience`. */
  let failed = false;
  const fail = () => {
    post(failures.splice(0));
    if (failed || !view) return;
    failed = true;
    if (document.body) stand();
    else addEventListener("DOMContentLoaded", stand);
  };
  const timer = setTimeout(fail, patience);
  // The page's script, which says what else is wrong, is blocked or missing.
  const onError = ({ target }) => {
    if (target?.tagName !== "SCRIPT") return;
    document.getElementById("mcpframe-stalled").style.cssText = "animation: none; visibility: visible";
    fail();
  };
  addEventListener("error", onError, true);

  globalThis.mcpframeInbox = {
    fail,

    /** Hands over to Python: what came so far, how many messages did not fit, and whether the host was called. */
    take() {
      removeEventListener("message", keep);
      removeEventListener("error", onError, true);
      clearTimeout(timer);
      delete globalThis.mcpframeInbox;
      standing?.stop();
      const taken = { events, dropped, called: openings.length > 0 };
      events = [];
      return taken;
    },
  };

  // Where WebAssembly is blocked, nothing can run: the host is told at once, not when the downloads are complete.
  if (!allowsWebAssembly()) fail();
}
