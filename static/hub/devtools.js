/**
 * `page.js` over DevTools: reports go to a binding, long ones in pieces; `mcpframe.kit.hub.tabs.tab_page` calls the
 * functions of `mcpframeHub`. Also reports whether the page is visible and has the focus.
 */
(page, { binding, most, piece }) => {
  if (window !== window.top || globalThis.mcpframeHub) return;

  function report(message) {
    const tell = globalThis[binding];
    if (!tell) return; // the hub has gone
    postInPieces(JSON.stringify(message), piece, tell);
  }

  const see = () => {
    const visible = document.visibilityState === "visible";
    report({ kind: "seen", visible, focused: document.hasFocus(), prerendered: document.prerendering === true });
  };
  document.addEventListener("visibilitychange", see);
  document.addEventListener("prerenderingchange", see);
  for (const name of ["focus", "blur", "pageshow"]) window.addEventListener(name, see);

  const half = page({ report, most });
  let pieces = [];
  globalThis.mcpframeHub = {
    ...half,
    see,

    /** Add a piece of a message that is too long for one call. */
    piece(text) {
      pieces.push(text);
    },

    /** Post a message: the pieces so far and this text. */
    post(source, text, origin) {
      const whole = pieces.join("") + text;
      pieces = [];
      half.post(source, whole, origin);
    },
  };
  see();
};
