// From static/hub, by `python3 build.py scripts`.

import { textOrReason } from "./host-json.js"; // for the first

export const pageHalf = ({ report, most }) => {
  const OWN = 0;
  const MOST_KEPT = 200;
  const numbers = new Map(); // of frames, by their window
  const frames = new Map();
  let last = OWN;
  let kept = [];
  let listening = false;

  const isServers = (data, channel) =>
    data?.channel === channel && data.type === "mcp" && data.direction === "server-to-client";

  function pass(kind, source, { origin, data, url }) {
    const message = kind === "message" ? { origin, url, text: textOrReason(data, { maxMessageBytes: most }) } : {};
    report({ kind, source, ...message });
  }

  function tell(kind, source, message = {}) {
    if (listening) pass(kind, source, message);
    else if (kept.length < MOST_KEPT) kept.push([kind, source, message]);
  }

  function onMessage(event) {
    if (!event.isTrusted) return; // a script has made it, with whatever origin and source it liked
    const { source, origin, data } = event;
    if (source === window) {
      if (listening && isServers(data, "mcp-default")) tell("message", OWN, { origin, data });
      return;
    }
    if (!source || source.parent !== window) return;
    const isSignal = isServers(data, "mcp-iframe") && typeof data.payload === "string";
    const frame = frames.get(numbers.get(source)) ?? (isSignal ? add(source) : null);
    if (!frame || !(isSignal || frame.watched)) return;
    const message = { origin, data, url: isSignal ? addressOf(frame) : "" };
    if (isSignal) Object.assign(frame, { signal: message, watched: true }); // until somebody is known to answer it
    tell("message", frame.number, message);
  }

  function add(source) {
    const elements = [...document.querySelectorAll("iframe, frame, object, embed")];
    const element = elements.find((each) => each.contentWindow === source) ?? null;
    const number = ++last;
    const frame = { number, source, element, watched: true, onLoad: () => tell("loaded", number) };
    element?.addEventListener("load", frame.onLoad);
    numbers.set(source, number);
    frames.set(number, frame);
    if (frames.size === 1) removals.observe(document, { childList: true, subtree: true });
    return frame;
  }

  function addressOf({ element }) {
    return String(element?.src || element?.data || "").split("#")[0];
  }

  function lookForRemoved() {
    for (const { number, source, element, onLoad } of frames.values()) {
      if (!source.closed && source.parent === window) continue;
      element?.removeEventListener("load", onLoad);
      numbers.delete(source);
      frames.delete(number);
      tell("gone", number);
    }
    if (!frames.size) removals.disconnect();
  }
  const removals = new MutationObserver(lookForRemoved);

  window.addEventListener("message", onMessage);

  return {
    listen() {
      if (listening) this.pause(); // for another hub than before, or for the same one after the browser kept the page
      window.addEventListener("message", onMessage); // a second time changes nothing
      listening = true;
      for (const [kind, source, message] of kept.splice(0)) pass(kind, source, message);
    },

    /** Report nothing for a while: whoever listens next hears of the frames whose servers nobody else has answered. */
    pause() {
      listening = false;
      const open = [...frames.values()].filter(({ watched }) => watched);
      kept = open.map(({ number, signal }) => ["message", number, signal]);
    },

    stop() {
      window.removeEventListener("message", onMessage);
      listening = false;
      for (const { element, onLoad } of frames.values()) element?.removeEventListener("load", onLoad);
      removals.disconnect();
      numbers.clear();
      frames.clear();
      kept = [];
    },

    /** Post a message, as JSON text, to a window with a document of this origin. */
    post(source, text, origin) {
      if (source !== OWN) lookForRemoved();
      const target = source === OWN ? window : frames.get(source)?.source;
      target?.postMessage(JSON.parse(text), origin);
    },

    /** Have all messages of a frame be reported, or only whether its server is ready. */
    watch(source, on) {
      const frame = frames.get(source);
      if (frame) frame.watched = on;
    },
  };
};

export const documentTools = () => {
  const MEMBERS = ["name", "title", "description", "inputSchema", "annotations", "origin"];
  const MOST = 1000;
  const running = new Map();
  let context = null;
  let changes = 0;
  let wake = () => {};
  let timer;
  let pause = 250;
  let over = false;

  function changed() {
    changes += 1;
    wake();
  }

  /** A polyfill may come at any time, and nothing says so. */
  function look() {
    let found = null;
    try {
      found = document.modelContext ?? null;
    } catch {}
    if (found !== context) {
      context = found;
      try {
        context?.addEventListener("toolchange", changed);
      } catch {}
      changed();
    }
  }

  function lookAgain() {
    look();
    pause = Math.min(2 * pause, 10_000);
    timer = setTimeout(lookAgain, pause);
  }

  const described = (tool) => {
    const found = {};
    try {
      found.framed = (tool.window ?? window) !== window;
    } catch {}
    for (const name of MEMBERS) {
      try {
        const text = JSON.stringify(tool[name]);
        if (text !== undefined) found[name] = JSON.parse(text);
      } catch {}
    }
    return found;
  };

  /** Return what an async function returns, or how it fails, as JSON. */
  async function outcome(work) {
    try {
      if (!context) throw new DOMException("This document has no modelContext.", "NotFoundError");
      return JSON.stringify({ value: (await work()) ?? null });
    } catch (error) {
      let [kind, message] = ["Error", "an error that cannot be read"];
      try {
        [kind, message] = [String(error?.name ?? "Error"), String(error?.message ?? error)];
      } catch {}
      return JSON.stringify({ kind, message });
    }
  }

  lookAgain();
  addEventListener("DOMContentLoaded", look);
  addEventListener("load", look);

  return {
    /** Return how often the tools have changed, once that is another number than `known`; null at the end. */
    async next(known) {
      while (changes === known && !over) await new Promise((resolve) => (wake = resolve));
      return over ? null : JSON.stringify({ changes, there: context !== null });
    },

    list: () => outcome(async () => [...(await context.getTools({}))].slice(0, MOST).map(described)),

    /** Run the tool of this name; the further one, where several have it. */
    run(id, name, text, further = 0) {
      const ending = new AbortController();
      running.set(id, ending);
      return outcome(async () => {
        const tool = [...(await context.getTools({}))].filter((each) => each.name === name)[further];
        if (!tool) throw new DOMException("The tool is there no more.", "NotFoundError");
        const input = "__isWebMCPPolyfill" in context ? text : JSON.parse(text);
        const answer = await context.executeTool(tool, input, { signal: ending.signal });
        return typeof answer === "string" ? answer : (JSON.stringify(answer ?? null) ?? null);
      }).finally(() => running.delete(id));
    },

    cancel(id) {
      running.get(id)?.abort();
    },

    stop() {
      over = true;
      clearTimeout(timer);
      removeEventListener("DOMContentLoaded", look);
      removeEventListener("load", look);
      try {
        context?.removeEventListener("toolchange", changed);
      } catch {}
      wake();
    },
  };
};
