import { Port } from "./app-port.js";
import { documentTools, pageHalf } from "./hub-scripts.js";

/**
 * Makes a page without Python one of the tabs of an app whose hub is in another tab (`mcpframe.hub.homes.page.app`): its tools
 * are the hub's, and it can use those of all tabs. Tabs find each other over broadcast channels
 * of their origin; a Web Lock for each port says when its tab has ended, however that happens.
 */

const MOST_BYTES = 16 * 1024 * 1024;

function read(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Has functions be called just before the page is frozen or left, and when it runs again. Returns what ends that. */
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
 * Joins an app of several tabs: what this page offers, as a page server (MCP-B) or at its `document.modelContext`
 * (WebMCP), also later, is in the app's hub, which is in a tab that runs Python.
 * @param {string} [app] the name of the app, as `AppHub` has it
 * @returns {() => void} a function that leaves the app
 */
export function joinApp(app = "app") {
  const report = (message) => port.post(JSON.stringify(message));
  const page = pageHalf({ report, most: MOST_BYTES });
  let tools = null; // each hub has its own: to a new one all tools are new
  const seen = () => port.control("seen", { active: document.visibilityState === "visible" && document.hasFocus() });
  const halves = { page: () => page, document: () => tools };
  const port = new Port(app, "window", {
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
 * A transport of the official TypeScript SDK's `Client` to the hub of an app. When another tab leads, the session ends
 * (`onclose`): requests that wait get errors, and the client connects with a new transport.
 */
export class AppHubTransport {
  /** @type {((message: any) => void) | undefined} */
  onmessage;
  /** @type {(() => void) | undefined} */
  onclose;
  /** @type {((error: Error) => void) | undefined} */
  onerror;
  #port;
  #stopWatching;
  #waiting = [];

  /** @param {string} [app] the name of the app, as `AppHub` has it */
  constructor(app = "app") {
    this.#port = new Port(app, "client", {
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

  /** Messages before there is a hub are sent once there is one. */
  async send(message) {
    const text = JSON.stringify(message);
    if (!this.#stopWatching) throw new Error("The session with the app's hub has ended: connect again.");
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
