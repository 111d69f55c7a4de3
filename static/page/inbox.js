// The first script of the page: queues messages from the first byte, and posts the openings before Python runs. The queue
// passes the gate once Python takes over (`take_inbox` in mcpframe.frame.browser.window). The build has computed what is
// posted, and to which origin; none of it is secret. A host of an origin that no dialect allows gets one message about that
// (mcpframe.frame.core.refusal). Only messages of hosts that may show the page as a view are read: their answer is
// confirmed, because hosts hide a view until then, and if this page does not start, it stands in for the view.
import { allowsWebAssembly, applyHostContext, read, standIn } from "../app/stand-in.js";

const PARTIAL = "ui/notifications/tool-input-partial";
const INPUTS = [PARTIAL, "ui/notifications/tool-input"];

/** Returns whether a list of hosts has an origin. */
export const allows = (hosts, origin) =>
  hosts.includes(origin) ||
  (origin !== "null" && (hosts.includes("*") || (hosts.includes("self") && origin === self.origin)));

/**
 * @param {object} before messages of the page's window so far
 * @param {MessageEvent[]} [before.events] the messages
 * @param {number} [before.dropped] how many more there were
 * @param {any} [before.called] the id with which a host was called for a view
 * @param {boolean} [before.confirmed] whether its answer was confirmed
 */
export function listen({ events: earlier = [], dropped = 0, called, confirmed = false } = {}) {
  const host = parent === self ? opener : parent;
  if (!host) return; // a tab of its own
  const { phases, most, patience } = JSON.parse(document.getElementById("mcpframe-inbox").textContent);
  const isAsked = ({ fragment, query }) =>
    new RegExp(fragment).test(location.hash) && new RegExp(query).test(location.search);
  const { openings, hosts, failures, standIn: view } = phases.find(isAsked);
  let events = [];
  let answer = null; // of a host to the view's call, with its origin, which is pinned
  let others = false; // whether a message of another dialect has come, whose session Python may begin
  let partial = null; // the event with the latest part of a tool's arguments
  let standing = null;
  let failed = false;
  let refused = false; // whether the host was told that its origin is not allowed

  const post = (messages, origin = "*") => {
    for (const message of messages) host.postMessage(message, origin === "null" ? "*" : origin);
  };

  /** Returns a message of a host that may show this page as a view; null for all else, which stays unread. */
  const readHost = (event) => {
    if (!view || event.source !== host) return null;
    if (answer) return event.origin === answer.origin ? read(event) : null;
    const isAllowed = allows(view.hosts, event.origin);
    if (event.ports.length) {
      if (!isAllowed) event.ports[0].postMessage("refused"); // a view's text has asked, see ../app/relay.js
      return null;
    }
    if (!isAllowed) return null;
    const message = read(event);
    others ||= message === null;
    return message;
  };

  /** Reports once to a host that its origin is not allowed. A host with a port gets it there: see `readHost`. */
  const refuse = ({ source, origin, ports }) => {
    if (refused || answer || source !== host || ports.length || allows(hosts, origin)) return;
    refused = true;
    post([{ type: "mcpframe-origin-refused", origin }], origin);
  };

  const keep = (event) => {
    refuse(event);
    if (events.length === most && !answer) {
      dropped += 1;
      return;
    }
    const message = readHost(event);
    if (answer && INPUTS.includes(message?.method)) {
      events = events.filter((each) => each !== partial); // this one has it all
      partial = message.method === PARTIAL ? event : null;
    }
    if (events.length < most) events.push(event);
    else dropped += 1;
    if (message) hear(message, event.origin);
  };

  const hear = (message, origin) => {
    if (answer) {
      standing?.hear(message);
    } else if (message.method === undefined && message.id === view.id && message.result) {
      answer = { origin, result: message.result };
      const isSpoken = view.versions.includes(answer.result.protocolVersion ?? view.versions[0]);
      if (isSpoken && !others) confirm();
      stand();
    }
  };

  const confirm = () => {
    if (confirmed) return;
    confirmed = true;
    applyHostContext(answer.result.hostContext);
    post([view.confirmation], answer.origin);
  };

  /** Stands in for the view if this page does not start and a host has answered. */
  const stand = () => {
    if (!failed || !answer || standing || !document.body || !globalThis.mcpframeInbox) return; // or Python runs
    confirm();
    const reply = (message) => post([message], answer.origin);
    standing = standIn(document.body, "", reply, { ...view, answer: answer.result, initialized: true });
    for (const message of events.map(readHost)) if (message) standing.hear(message);
  };

  /** Reports to a host that has answered, and has no deadline, that this page does not start; at most `patience` later. */
  const fail = () => {
    post(failures.splice(0));
    if (failed || !view) return;
    failed = true;
    if (document.body) stand();
    else addEventListener("DOMContentLoaded", stand);
  };

  addEventListener("message", keep);
  earlier.forEach(keep);
  post(openings.filter(({ id }) => called === undefined || id !== called));
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

    /** Hands over to Python: the queue, how many messages did not fit, and what was posted in Python's place. */
    take() {
      removeEventListener("message", keep);
      removeEventListener("error", onError, true);
      clearTimeout(timer);
      delete globalThis.mcpframeInbox;
      standing?.stop();
      const replies = confirmed ? [JSON.stringify(view.confirmation)] : [];
      const taken = { events, dropped, called: openings.length > 0, replies, refused };
      events = [];
      partial = null;
      return taken;
    },
  };

  // If WebAssembly is blocked, Python cannot run: report that at once, not after the downloads.
  if (!allowsWebAssembly()) fail();
}
