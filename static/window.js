/**
 * The browser's half of mcpframe.kit.playwright_window: one iframe in this page, its message events as data.
 *
 * Playwright evaluates this file in the outer page and keeps the object it gives. Nothing is left where the framed page
 * or a script of the outer page could reach it. There is no protocol here: what is heard is passed on.
 */
({ url, sandbox, allow }) => {
  const iframe = document.createElement("iframe");
  if (sandbox !== null) iframe.setAttribute("sandbox", sandbox);
  if (allow !== null) iframe.setAttribute("allow", allow);
  document.body.append(iframe);
  const peer = iframe.contentWindow;

  let heard = [];
  let wake = () => {};
  let loads = 0;
  let over = false;
  const note = (item) => {
    heard.push(item);
    wake();
  };

  const onMessage = (event) => {
    const fromPeer = event.source !== null && event.source === iframe.contentWindow;
    note({ origin: event.origin, fromPeer, text: fromPeer ? textOf(event.data) : null });
  };
  const textOf = (data) => {
    try {
      return JSON.stringify(data) ?? null;
    } catch {
      return null; // cyclic, or a BigInt: nothing that JSON can carry
    }
  };
  const onLoad = () => {
    loads += 1;
    if (loads > 1) note({ gone: "replaced" });
  };
  const removals = new MutationObserver(() => {
    if (iframe.contentWindow === peer) return;
    removals.disconnect();
    note({ gone: "removed" });
  });

  return {
    iframe,

    /** Listen, and only then load the page: its first message may come before its `load` event. */
    start() {
      addEventListener("message", onMessage);
      iframe.addEventListener("load", onLoad);
      removals.observe(document, { childList: true, subtree: true });
      iframe.src = url;
    },

    /** Give what was heard since the last time, waiting for the first item; null once it is over. */
    async take() {
      if (!heard.length && !over) await new Promise((resolve) => (wake = resolve));
      if (over) return null;
      const items = heard;
      heard = [];
      return items;
    },

    /** Post messages in order; those to a window that is gone are lost. */
    post(items) {
      for (const [text, targetOrigin] of items) iframe.contentWindow?.postMessage(JSON.parse(text), targetOrigin);
    },

    stop() {
      over = true;
      removals.disconnect();
      removeEventListener("message", onMessage);
      wake();
    },

    remove() {
      this.stop();
      iframe.remove();
    },
  };
};
