/**
 * The relay's half in a page: `static/hub/page.js` and, by way of `document.js`, the tools of the document, behind a port
 * to the hub's document. It forwards, and decides nothing.
 *
 * Both directions are JSON text in pieces, as `static/hub/pieces.js` posts them. The port ends with the document. It is
 * opened again when the hub has ended, unless the hub has sent `leave`.
 *
 * A document has one relay: the manifest injects this script, and so does the service worker after an install.
 */
(install, options) => {
  if (window !== window.top || globalThis.mcpframeRelay) return;
  globalThis.mcpframeRelay = true; // an update of the extension has a world of its own, where this is not set
  const [SHORTEST, LONGEST] = [250, 10_000];
  let port = null;
  let pieces = [];
  let tools = null; // the port of `document.js`
  let pause = SHORTEST;
  let since = 0; // when the port was opened
  let hasLeft = false;
  let timer;

  const isOrphan = () => !globalThis.chrome?.runtime?.id; // the extension was updated or removed

  function report(message) {
    try {
      postInPieces(JSON.stringify(message), options.piece, (piece) => port?.postMessage(piece));
    } catch {} // it has ended
  }

  function take(text) {
    pieces.push(text.slice(1));
    if (text[0] !== ".") return;
    const { half, call, arguments: given, id } = JSON.parse(pieces.splice(0).join(""));
    if (call === "leave") leave();
    else if (half === "page") page[call](...given);
    else if (tools) tools.postMessage({ call, given, id });
    else if (id !== undefined) report({ kind: "answer", id, error: "The page's own scripts prevent that." });
  }

  /** Connect again, with a longer delay after each port that has ended soon. */
  function later() {
    clearTimeout(timer);
    if (!isOrphan() && !hasLeft) timer = setTimeout(connect, pause);
    pause = Math.min(2 * pause, LONGEST);
  }

  function leave() {
    hasLeft = true;
    close();
    page.stop();
  }

  function close() {
    clearTimeout(timer);
    port?.disconnect();
    port = null;
    pieces = [];
    page.pause();
  }

  async function connect() {
    if (port || hasLeft || isOrphan()) return;
    try {
      const { error } = await chrome.runtime.sendMessage({ to: "worker", call: "ensureHub" });
      if (error) throw new Error(error);
      if (port || hasLeft) return;
      since = performance.now();
      const opened = chrome.runtime.connect({ name: "mcpframe-relay" });
      port = opened;
      opened.onMessage.addListener((text) => opened === port && take(text));
      opened.onDisconnect.addListener(() => {
        void chrome.runtime.lastError; // else Chromium logs it
        if (opened !== port) return;
        close();
        if (performance.now() - since > LONGEST) pause = SHORTEST;
        later();
      });
    } catch {
      later();
    }
  }

  addEventListener(
    options.offer,
    ({ ports }) => {
      tools ??= ports[0];
      tools.onmessage = ({ data }) => report({ ...data, kind: "answer" });
    },
    { once: true },
  );
  dispatchEvent(new Event(options.wanted));

  const page = install({ report, most: options.most });
  addEventListener("pagehide", close);
  addEventListener("pageshow", ({ persisted }) => persisted && connect());
  if (document.prerendering) document.addEventListener("prerenderingchange", connect, { once: true });
  else connect();
};
