import { documentTools, pageHalf } from "./hub-scripts.js";

/**
 * Makes a page without Python one of the tabs of an app whose hub is in another tab (`mcpframe.hub.homes.page.app`): its tools
 * are the hub's, and it can use those of all tabs. Tabs find each other over broadcast channels
 * of their origin; a Web Lock for each port says when its tab has ended, however that happens.
 */

const MOST_BYTES = 16 * 1024 * 1024;
const NUMBER_MS = 1000;
const REDIAL_MS = 5000;

/** A port to the hub, whichever tab that is: `mcpframe.hub.homes.page.dialing` has the states, and `wire` the messages. */
class Port {
  constructor(app, kind, { onOpen = () => {}, onMessage = () => {}, onLost = () => {} }) {
    Object.assign(this, { app, kind, onOpen, onMessage, onLost });
    this.name = (...parts) => ["mcpframe-hub", app, ...parts].join(":");
    this.key = this.name("number", "window");
    this.hub = null;
    this.number = null;
    this.releases = [];
  }

  start() {
    if (this.directory) return;
    this.directory = this.channel(this.name(), (text) => this.heardInDirectory(read(text)));

    if (this.kind === "window" && this.number === null) this.claim();
    else this.dial();
  }

  /** Ends the port. Its number stays with this tab, so that it can be started again. */
  stop() {
    if (!this.directory) return;
    const wasOpen = this.hub !== null;
    this.hangUp();
    this.directory.close();
    this.directory = null;
    if (this.number === null) this.releaseNumber?.();
    if (wasOpen) this.onLost();
  }

  post(text) {
    if (this.hub !== null) this.line.postMessage(`m${text}`);
    return this.hub !== null;
  }

  control(type, more = {}) {
    if (this.hub !== null) this.line.postMessage(`c${JSON.stringify({ type, ...more })}`);
  }

  channel(name, heard) {
    const channel = new BroadcastChannel(name);
    channel.onmessage = ({ origin, data }) => origin === location.origin && typeof data === "string" && heard(data);
    return channel;
  }

  /** Waits for a lock, and holds it until the function that this returns is called. */
  lock(name, held, shared = false) {
    const ending = new AbortController();
    let release;
    const until = new Promise((resolve) => (release = resolve));
    const options = { mode: shared ? "shared" : "exclusive", signal: ending.signal };
    navigator.locks
      .request(name, options, () => {
        if (ending.signal.aborted) return undefined;
        held();
        return until;
      })
      .catch(() => {});
    return () => {
      ending.abort();
      release();
    };
  }

  /** A copy of a tab remembers the same number, and does not get its lock. */
  claim() {
    const known = Number(stored(this.key));
    if (!known) return this.dial();
    const timer = setTimeout(() => {
      this.releaseNumber();
      this.dial();
    }, NUMBER_MS);
    this.releases.push(() => clearTimeout(timer));
    this.releaseNumber = this.lock(this.name("number", known), () => {
      clearTimeout(timer);
      this.number = known;
      this.dial();
    });
  }

  dial() {
    const port = (this.port = Array.from(crypto.getRandomValues(new Uint8Array(16)), hex).join(""));
    this.line = this.channel(this.name("port", port), (text) => this.answered(port, text));
    const call = () =>
      this.directory.postMessage(
        JSON.stringify({ type: "connect", port, kind: this.kind, url: location.href, number: this.number, windowName: name }),
      );
    this.releases.push(
      this.lock(this.name("port", port), () => {
        if (port !== this.port) return;
        this.call = call;
        call();
      }),
    );
    const timer = setInterval(() => this.hub === null && this.call?.(), REDIAL_MS);
    this.releases.push(() => clearInterval(timer));
  }

  heardInDirectory({ type, hub }) {
    if (type !== "hub") return;
    if (this.hub === null) this.call?.();
    else if (hub !== this.hub) this.lose();
  }

  answered(port, text) {
    const { type, hub, number } = read(text.slice(1));
    if (port !== this.port || this.hub !== null || type !== "open" || typeof hub !== "string") return;
    this.hub = hub;
    this.line.close();
    this.line = this.channel(this.name("line", hub, port), (text) => port === this.port && this.heard(text));
    if (Number.isInteger(number) && number !== this.number) {
      this.releaseNumber?.();
      this.number = number;
      this.releaseNumber = this.lock(this.name("number", number), () => {});
      store(this.key, String(number));
    }
    this.releases.push(this.lock(this.name("hub", hub), () => port === this.port && this.lose(), true));
    this.control("ready");
    this.onOpen();
  }

  heard(text) {
    if (text[0] === "m") this.onMessage(text.slice(1));
    else if (read(text.slice(1)).type === "close") this.lose();
  }

  lose() {
    if (this.hub === null) return;
    this.hangUp();
    this.onLost();
    if (this.directory && !this.line) this.dial();
  }

  hangUp() {
    this.control("close");
    this.line?.close();
    this.line = this.hub = this.call = null;
    this.port = "";
    for (const release of this.releases.splice(0).reverse()) release();
  }
}

const hex = (byte) => byte.toString(16).padStart(2, "0");

function read(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

function stored(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null; // a sandbox has no storage
  }
}

function store(key, value) {
  try {
    sessionStorage.setItem(key, value);
  } catch {}
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
 * Joins an app: what this page offers, as a page server (MCP-B) or at its `document.modelContext` (WebMCP), also later, is
 * in the app's hub.
 * @param app the name of the app, as `AppHub` has it
 * @returns a function that leaves the app
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
  const stopWatching = watch(() => port.stop(), () => port.start(), seen);
  port.start();
  return () => {
    stopWatching();
    port.stop();
    port.releaseNumber?.();
    page.stop();
  };
}

/**
 * A transport of the official TypeScript SDK's `Client` to the hub of an app. When another tab leads, the session ends
 * (`onclose`): requests that wait get errors, and the client connects with a new transport.
 */
export class AppHubTransport {
  #port;
  #stopWatching;
  #waiting = [];

  /**
   * @param app the name of the app, as `AppHub` has it
   */
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
    this.#stopWatching = watch(() => this.close(), () => {});
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
