/**
 * A tab's port to the hub of several tabs, in whichever tab it is. The same in Python is `mcpframe.hub.homes.page.dialing`, which
 * describes the states; `wire` beside it describes the messages. `tests/vectors/hub_tabs` holds for both.
 */

// As in `mcpframe.hub.core.limits`, which says why.
const PING_MS = 5000;
const STRIKES = 3;
const NUMBER_MS = 1000;
const LONGEST_NAME = 2000;
const LONGEST_CONTROL = 65536;
const LONGEST_MESSAGE = 64 * 1024 * 1024;

export class Port {
  /**
   * @param {string} hub the name of the hub
   * @param {"window" | "client"} kind
   * @param {Partial<Record<"onOpen" | "onMessage" | "onControl" | "onLost" | "onUnresponsive", (...given: any[]) => any>>} [handlers]
   */
  constructor(hub, kind, { onOpen, onMessage, onControl, onLost, onUnresponsive } = {}) {
    this.kind = kind;
    this.onOpen = onOpen;
    this.onMessage = onMessage;
    this.onControl = onControl;
    this.onLost = onLost;
    this.onUnresponsive = onUnresponsive;
    this.name = (...parts) => ["mcpframe-hub", hub, ...parts].join(":");
    this.key = this.name("number", kind);
    this.directory = null;
    this.line = null;
    this.hub = null; // its id; null while there is none
    this.port = "";
    this.number = null;
    this.isLocked = false;
    this.strikes = 0;
    this.timer = null;
    this.releases = [];
    this.releaseNumber = () => {};
  }

  /** Looks for the hub, for as long as it takes. Starting again does nothing. */
  start() {
    if (this.directory) return;
    this.directory = channel(this.name(), (text) => this.#heardInDirectory(text));
    this.#claim();
  }

  /** Ends the port as if the hub had ended. It can be started again, and keeps its number until then. */
  pause() {
    const wasOpen = this.hub !== null;
    this.#off();
    if (wasOpen) this.onLost?.();
  }

  /** Ends the port, without a call of `onLost`. It can be started again. */
  stop() {
    this.#off();
    this.releaseNumber();
    this.number = null;
  }

  /** Posts a message to the hub. Returns whether there is one; otherwise the message is dropped. */
  post(text) {
    return this.#say(`m${text}`);
  }

  control(type, more = {}) {
    return this.#say(`c${JSON.stringify({ type, ...more })}`);
  }

  #say(text) {
    if (this.hub !== null) this.line?.postMessage(text);
    return this.hub !== null;
  }

  #off() {
    if (!this.directory) return;
    this.#hangUp();
    this.directory.close();
    this.directory = null;
    if (this.number === null) this.releaseNumber();
  }

  /** Gets the lock of the number that this tab remembers, and dials. A copy of a tab does not get it. */
  #claim() {
    const known = this.kind === "window" && this.number === null ? (stored(this.key) ?? "") : "";
    const number = /^[0-9]{1,9}$/.test(known) ? Number(known) : 0;
    if (!number) return this.#dial();
    const without = () => {
      clearTimeout(this.timer);
      this.releaseNumber();
      store(this.key, ""); // it is another tab's, also for this page when it is loaded again
      this.#dial();
    };
    const held = () => {
      clearTimeout(this.timer);
      this.number = number;
      this.#dial();
    };
    this.timer = setTimeout(without, NUMBER_MS);
    this.releaseNumber = lock(this.name("number", number), held, without);
  }

  /** Notes the number that the hub has given to this tab. */
  #numbered(number) {
    if (number === this.number) return;
    this.releaseNumber();
    this.number = number;
    this.releaseNumber = lock(this.name("number", number), () => {});
    store(this.key, String(number));
  }

  #dial() {
    const port = newId();
    this.port = port;
    const held = () => {
      if (port !== this.port) return;
      this.isLocked = true;
      this.#call();
    };
    this.strikes = 0;
    this.#setTimer();
    this.line = channel(this.name("port", port), (text) => this.#answered(port, text));
    this.releases.push(lock(this.name("port", port), held));
  }

  #call() {
    if (!this.directory || !this.isLocked) return;
    const { port, kind, number } = this;
    const call = {
      type: "connect",
      port,
      kind,
      url: location.href,
      number,
      windowName: /** @type {any} */ (globalThis).name ?? "",
    };
    this.directory.postMessage(JSON.stringify(call));
  }

  #heardInDirectory(text) {
    const { type, hub } = read(text);
    if (type !== "hub" || !isName(hub)) return;
    if (this.hub === null) this.#call();
    else if (hub !== this.hub) this.#lose();
  }

  #answered(port, text) {
    const { type, hub, number } = text[0] === "c" ? read(text.slice(1)) : {};
    if (port !== this.port || this.hub !== null || type !== "open" || !isName(hub)) return;
    this.hub = hub;
    this.line.close();
    this.line = channel(this.name("line", hub, port), (text) => this.#heard(port, text));
    if (Number.isInteger(number)) this.#numbered(number);
    this.releases.push(
      lock(
        this.name("hub", hub),
        () => port === this.port && this.#lose(),
        () => {},
        "shared",
      ),
    );
    this.strikes = 0;
    this.control("ready");
    this.onOpen?.();
  }

  #heard(port, text) {
    if (port !== this.port) return;
    this.strikes = 0;
    if (text[0] === "m") {
      if (text.length <= LONGEST_MESSAGE) this.onMessage?.(text.slice(1));
      return;
    }
    const said = text[0] === "c" ? read(text.slice(1)) : {};
    if (said.type === "close") this.#lose();
    else if (said.type !== "pong" && said.type !== undefined) this.onControl?.(said);
  }

  #setTimer() {
    this.timer = setTimeout(() => this.#ping(), PING_MS);
  }

  #ping() {
    this.#setTimer();
    if (this.strikes >= STRIKES) {
      this.strikes = 0;
      this.onUnresponsive?.();
      this.#lose();
      return;
    }
    this.strikes += 1;
    if (!this.control("ping")) this.#call();
  }

  #lose() {
    if (this.hub === null) return;
    this.#hangUp();
    this.onLost?.();
    if (this.directory && !this.line) this.#dial();
  }

  #hangUp() {
    this.control("close");
    this.line?.close();
    this.line = this.hub = null;
    this.port = "";
    this.isLocked = false;
    clearTimeout(this.timer);
    for (const release of this.releases.splice(0).reverse()) release();
  }
}

function channel(name, heard) {
  const channel = new BroadcastChannel(name);
  channel.onmessage = ({ origin, data }) => origin === location.origin && typeof data === "string" && heard(data);
  return channel;
}

/**
 * Waits for a lock, and holds it until the function that this returns is called. `lost` is called if it is not granted.
 * @param {LockMode} [mode]
 */
function lock(name, held, lost = () => {}, mode = "exclusive") {
  const ending = new AbortController();
  let release;
  const until = new Promise((resolve) => (release = resolve));
  navigator.locks
    .request(name, { mode, signal: ending.signal }, () => {
      if (ending.signal.aborted) return undefined;
      held();
      return until;
    })
    .catch(() => ending.signal.aborted || lost());
  return () => {
    ending.abort();
    release();
  };
}

const newId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
const isName = (value) => typeof value === "string" && value.length > 0 && value.length <= LONGEST_NAME;

/** Returns the parsed object, or {}. */
function read(text) {
  try {
    const value = text.length <= LONGEST_CONTROL ? JSON.parse(text) : null;
    return value && typeof value === "object" ? value : {};
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
