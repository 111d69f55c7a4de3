import { Port } from "./hub-port.js";
import { documentTools, pageHalf } from "./hub-scripts.js";

/**
 * A page without Python as a tab of a hub that is in another tab (`mcpframe.hub.homes.page.page_hub`): it offers its tools
 * to the hub, and can use those of all tabs. Tabs find each other over broadcast channels of their origin; a Web Lock for
 * each port is released when its tab ends, for whatever reason.
 */

/** `HUB_MESSAGE_BYTES` of `mcpframe.hub.core.limits`. */
const MOST_BYTES = 16 * 1024 * 1024;

function read(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Calls these on freeze and resume; returns unsubscribe. */
function watch(away, back, seen = () => {}) {
  const ending = new AbortController();
  const on = (target, type, act) => target.addEventListener(type, act, { signal: ending.signal });
  on(document, "freeze", away);
  on(document, "resume", back);
  on(window, "pagehide", away);
  on(window, "pageshow", ({ persisted }) => persisted && back());
  on(document, "visibilitychange", seen);
  for (const type of ["focus", "blur"]) on(window, type, seen);
  return () => ending.abort();
}

/**
 * Joins the hub of several tabs: the hub, in a tab that runs Python, gets the tools that this page offers now and
 * later, as a page server (MCP-B) or at its `document.modelContext` (WebMCP).
 * @param {string} [name] the name of the hub, as `PageHub` has it
 * @returns {() => void} a function that leaves the hub
 */
export function joinHub(name = "hub") {
  const report = (message) => port.post(JSON.stringify(message));
  const page = pageHalf({ report, most: MOST_BYTES });
  let tools = null; // one per hub: a new hub knows none of the tools
  const seen = () => port.control("seen", { active: document.visibilityState === "visible" && document.hasFocus() });
  const halves = { page: () => page, document: () => tools };
  const port = new Port(name, "window", {
    onOpen: () => {
      tools = documentTools();
      seen();
    },
    onMessage: async (text) => {
      const { half, call, arguments: given, id } = read(text);
      try {
        const value = await halves[half]()[call](...given);
        if (id !== undefined) report({ kind: "answer", id, value: value ?? null });
      } catch (error) {
        if (id !== undefined) report({ kind: "answer", id, error: String(error) });
      }
    },
    onLost: () => {
      page.pause();
      tools.stop();
    },
  });
  const stopWatching = watch(
    () => port.pause(),
    () => port.start(),
    seen,
  );
  port.start();
  return () => {
    stopWatching();
    port.pause();
    port.stop();
    page.stop();
  };
}

/**
 * A transport of the official TypeScript SDK's `Client` to the hub of several tabs. When another tab takes over the hub, the
 * session ends (`onclose`): pending requests fail, and the client connects with a new transport.
 */
export class PageHubTransport {
  /** @type {((message: any) => void) | undefined} */
  onmessage;
  /** @type {(() => void) | undefined} */
  onclose;
  /** @type {((error: Error) => void) | undefined} */
  onerror;
  #port;
  #stopWatching;
  #waiting = [];

  /** @param {string} [name] the name of the hub, as `PageHub` has it */
  constructor(name = "hub") {
    this.#port = new Port(name, "client", {
      onOpen: () => {
        for (const text of this.#waiting.splice(0)) this.#port.post(text);
      },
      onMessage: (text) => this.onmessage?.(JSON.parse(text)),
      onLost: () => this.close(),
    });
  }

  async start() {
    this.#stopWatching = watch(
      () => this.close(),
      () => {},
    );
    this.#port.start();
  }

  /** Queues messages until there is a hub. */
  async send(message) {
    const text = JSON.stringify(message);
    if (!this.#stopWatching) throw new Error("The session with the hub has ended: connect again.");
    if (!this.#port.post(text)) this.#waiting.push(text);
  }

  async close() {
    if (!this.#stopWatching) return;
    this.#stopWatching();
    this.#stopWatching = null;
    this.#port.stop();
    this.onclose?.();
  }
}
