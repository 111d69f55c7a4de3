// In the page itself, before everything else: listens from the first byte, and calls for the host before Python runs. It
// judges nothing. What it hears is kept unread and passes the gate once Python takes over (`take_inbox` in
// mcpframe.frame.browser.window); what it posts, and for which address, the build has computed. None of it is secret.
(() => {
  const host = parent === self ? opener : parent;
  if (!host) return; // opened by itself
  const { phases, most, patience } = JSON.parse(document.getElementById("mcpframe-inbox").textContent);
  const isAsked = ({ fragment, query }) =>
    new RegExp(fragment).test(location.hash) && new RegExp(query).test(location.search);
  const { openings, failures } = phases.find(isAsked);
  let events = [];
  let dropped = 0;
  const keep = (event) => {
    if (events.length < most) events.push(event);
    else dropped += 1;
  };
  addEventListener("message", keep);
  const post = (messages) => messages.forEach((message) => host.postMessage(message, "*"));
  post(openings);
  /** Tells a host that has answered and has no deadline that this page does not start; at the latest after `patience`. */
  const fail = () => post(failures.splice(0));
  const timer = setTimeout(fail, patience);

  globalThis.mcpframeInbox = {
    fail,

    /** Hands over to Python: what came so far, how many messages did not fit, and whether the host was called. */
    take() {
      removeEventListener("message", keep);
      clearTimeout(timer);
      delete globalThis.mcpframeInbox;
      const taken = { events, dropped, called: openings.length > 0 };
      events = [];
      return taken;
    },
  };
})();
