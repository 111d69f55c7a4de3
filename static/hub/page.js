/**
 * The hub's half in a page: passes on messages of its window and of its frames to `mcpframe.hub.relay.page_relay`, and
 * posts messages for it. Its reports and its functions are described there. It decides nothing.
 *
 * It runs in a world of its own, which no script of the page can reach, and in the page of a tab only. Until it listens it
 * reports nothing, and queues messages of frames: a server announces itself only once.
 */
({ report, most }) => {
  const OWN = 0;
  const MOST_TOOLS = 1000;
  /** The hub's limits: it leaves out a larger tool, and refuses a deeper message. */
  const OF_TOOL = { maxMessageBytes: 64 * 1024, maxNesting: 32 };
  const OF_MESSAGE = { maxMessageBytes: most, maxNesting: 128 };
  const MOST_KEPT = 200;
  const numbers = new Map(); // of frames, by their window
  const frames = new Map();
  let last = OWN;
  let kept = [];
  let listening = false;

  const isServers = (data, channel) =>
    data?.channel === channel && data.type === "mcp" && data.direction === "server-to-client";

  /**
   * Return a message as `textOrReason` does. In a list of tools that has no such text, a tool that is the reason is
   * replaced by its name and the reason: it must not cost the others.
   */
  function textOf(data) {
    const read = textOrReason(data, OF_MESSAGE);
    const { payload } = data;
    const tools = payload?.result?.tools;
    if (typeof read === "string" || !Array.isArray(tools)) return read;
    const taken = tools.slice(0, MOST_TOOLS).map((tool) => {
      const alone = textOrReason(tool, OF_TOOL);
      return Array.isArray(alone) ? { name: `${tool?.name}`.slice(0, 128), unreadable: alone[1] } : tool;
    });
    return textOrReason({ ...data, payload: { ...payload, result: { ...payload.result, tools: taken } } }, OF_MESSAGE);
  }

  function pass(kind, source, { origin = undefined, data = undefined, url = undefined }) {
    const message = kind === "message" ? { origin, url, text: textOf(data) } : {};
    report({ kind, source, ...message });
  }

  function tell(kind, source, message = {}) {
    if (listening) pass(kind, source, message);
    else if (kept.length < MOST_KEPT) kept.push([kind, source, message]);
  }

  function onMessage(event) {
    if (!event.isTrusted) return; // made by a script, with any origin and source
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
    if (isSignal) Object.assign(frame, { signal: message, watched: true }); // until its host is known
    tell("message", frame.number, message);
  }

  function add(source) {
    const elements = [...document.querySelectorAll("iframe, frame, object, embed")];
    const element = elements.find((each) => /** @type {any} */ (each).contentWindow === source) ?? null;
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
      if (listening) this.pause(); // a new hub, or the same one after the back/forward cache
      window.addEventListener("message", onMessage); // a second time changes nothing
      listening = true;
      for (const [kind, source, message] of kept.splice(0)) pass(kind, source, message);
    },

    /** Report nothing until the next `listen`, which reports the frames whose servers have no host. */
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

    /** Report all messages of a frame, or only whether its server is ready. */
    watch(source, on) {
      const frame = frames.get(source);
      if (frame) frame.watched = on;
    },
  };
};
