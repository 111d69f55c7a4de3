/**
 * The relay's half in a page: `static/hub/window.js`, whose reports go over a port to the hub's document, and back.
 *
 * The port ends with the document. It is opened again where the hub has ended, unless the hub has said to leave.
 */
(install, options) => {
  if (window !== window.top || globalThis.mcpframeLeft) return;
  const [SHORTEST, LONGEST] = [250, 10_000];
  const CALLS = ["see", "listen", "stop", "piece", "post"];
  let port = null;
  let pause = SHORTEST;
  let timer;

  const isOrphan = () => !globalThis.chrome?.runtime?.id; // the extension was updated or removed

  globalThis[options.binding] = (text) => {
    try {
      port?.postMessage(text);
    } catch {} // it has ended
  };

  function take({ call, given }) {
    pause = SHORTEST;
    if (call === "leave") leave();
    else if (CALLS.includes(call)) globalThis.mcpframeHub[call](...given);
  }

  function later() {
    clearTimeout(timer);
    if (!isOrphan() && !globalThis.mcpframeLeft) timer = setTimeout(connect, pause);
    pause = Math.min(2 * pause, LONGEST);
  }

  function leave() {
    globalThis.mcpframeLeft = true;
    close();
  }

  function close() {
    clearTimeout(timer);
    port?.disconnect();
    port = null;
    globalThis.mcpframeHub.stop();
  }

  async function connect() {
    if (port || isOrphan()) return;
    try {
      const { error } = await chrome.runtime.sendMessage({ to: "worker", call: "ensureHub" });
      if (error) throw new Error(error);
      if (port) return;
      const opened = (port = chrome.runtime.connect({ name: "mcpframe-relay" }));
      opened.onMessage.addListener((message) => opened === port && take(message));
      opened.onDisconnect.addListener(() => {
        void chrome.runtime.lastError; // else Chromium logs it
        if (opened !== port) return;
        port = null;
        globalThis.mcpframeHub.stop();
        later();
      });
    } catch {
      later();
    }
  }

  install(options);
  addEventListener("pagehide", close);
  addEventListener("pageshow", ({ persisted }) => persisted && connect());
  if (document.prerendering) document.addEventListener("prerenderingchange", connect, { once: true });
  else connect();
};
