/**
 * The hub's half in a page: passes on messages between its page server and `mcpframe.kit.hub.tab_page`.
 *
 * It runs in a world of its own, whose names and objects no script of the page sees, and in the page of a tab only, not
 * in frames. Until it is told to listen, it reports whether the page is looked at and nothing else.
 */
({ binding, channel, most, piece }) => {
  if (window !== window.top || globalThis.mcpframeHub) return;

  function report(kind, more = {}) {
    const tell = globalThis[binding];
    if (!tell) return; // the hub has gone
    const text = JSON.stringify({ kind, ...more });
    let start = 0;
    for (; text.length - start > piece; start += piece) tell(`+${text.slice(start, start + piece)}`);
    tell(`.${text.slice(start)}`);
  }

  const onMessage = ({ source, origin, data }) => {
    if (source !== window || data?.channel !== channel || data.type !== "mcp") return;
    if (data.direction !== "server-to-client") return;
    report("message", { origin, text: textOrReason(data, { maxMessageBytes: most }) });
  };

  const see = () => {
    const visible = document.visibilityState === "visible";
    report("seen", { visible, focused: document.hasFocus(), prerendered: document.prerendering === true });
  };
  document.addEventListener("visibilitychange", see);
  document.addEventListener("prerenderingchange", see);
  for (const name of ["focus", "blur", "pageshow"]) window.addEventListener(name, see);

  let pieces = [];
  globalThis.mcpframeHub = {
    see,

    listen() {
      window.addEventListener("message", onMessage); // a second time changes nothing
    },

    stop() {
      window.removeEventListener("message", onMessage);
    },

    /** Add a piece of a message that is too long for one call. */
    piece(text) {
      pieces.push(text);
    },

    /** Post a message to the page: the pieces so far and this text. */
    post(text, origin) {
      const whole = pieces.join("") + text;
      pieces = [];
      window.postMessage(JSON.parse(whole), origin);
    },
  };
  see();
};
