/**
 * The ports and events of the extension, for the hub in its offscreen document: kept from the first byte on, until Python
 * takes them. It decides nothing.
 */
(() => {
  const MOST = 10_000;
  const ports = new Map();
  let kept = [];
  let deliver = null;
  let last = 0;
  let failed = false;

  function put(kind, number, text) {
    if (deliver) deliver(kind, number, text);
    else if (kept.length < MOST) kept.push([kind, number, text]);
    else ports.get(number)?.disconnect(); // its other end connects again
  }

  function open(port, name, external, from) {
    if (failed) {
      port.disconnect();
      return;
    }
    const number = ++last;
    const { id, url, origin, tab, frameId, documentId, documentLifecycle } = from ?? {};
    const sender = {
      id,
      url,
      origin,
      tab: tab?.id,
      frame: frameId,
      document: documentId,
      lifecycle: documentLifecycle,
    };
    ports.set(number, port);
    port.onMessage.addListener((message) => put("message", number, JSON.stringify(message)));
    port.onDisconnect.addListener(() => {
      void chrome.runtime.lastError; // else Chromium logs it
      ports.delete(number);
      put("closed", number, "");
    });
    put("opened", number, JSON.stringify({ name, external, sender }));
  }

  /** A port of the service worker, whose first message names its client outside: see `outside.js`. */
  function openOutside(port) {
    port.onMessage.addListener(function first({ name, from }) {
      port.onMessage.removeListener(first);
      open(port, name, true, from);
    });
  }

  const isWorker = ({ id, url, tab }) => id === chrome.runtime.id && url === chrome.runtime.getURL("worker.js") && !tab;

  chrome.runtime.onConnect.addListener((port) => {
    if (port.name !== "mcpframe-outside") open(port, port.name, false, port.sender);
    else if (isWorker(port.sender)) openOutside(port);
    else port.disconnect();
  });
  chrome.runtime.onMessage.addListener((message, sender) => {
    if (message?.to === "hub" && sender.id === chrome.runtime.id && !sender.tab)
      put("event", 0, JSON.stringify(message));
    return false;
  });

  globalThis.mcpframePorts = {
    /** Calls a function with each event so far and from now on: its kind, the number of its port, and its text. */
    take(callback) {
      deliver = callback;
      const before = kept;
      kept = [];
      for (const each of before) callback(...each);
    },

    /** Posts JSON text; throws if the port has ended. */
    post(number, text) {
      ports.get(number).postMessage(JSON.parse(text));
    },

    close(number) {
      ports.get(number)?.disconnect(); // this end gets no event
      ports.delete(number);
    },

    /** Returns the worker's answer, as JSON text. */
    async ask(text) {
      const message = JSON.parse(text);
      return JSON.stringify((await chrome.runtime.sendMessage({ to: "worker", ...message })) ?? { error: "no answer" });
    },
  };

  // A hub that has failed starts again, later each time. Until then its ports are closed.
  const PAUSE = "mcpframe pause";
  addEventListener("DOMContentLoaded", () => {
    const page = document.getElementById("mcpframe-page");
    new MutationObserver(() => {
      if (page.dataset.state === "ready") sessionStorage.removeItem(PAUSE);
      if (page.dataset.state !== "failed") return;
      failed = true;
      for (const port of ports.values()) port.disconnect();
      ports.clear();
      const pause = Number(sessionStorage.getItem(PAUSE) ?? 500);
      sessionStorage.setItem(PAUSE, `${Math.min(2 * pause, 60_000)}`);
      setTimeout(() => location.reload(), pause);
    }).observe(page, { attributes: true });
  });
})();
