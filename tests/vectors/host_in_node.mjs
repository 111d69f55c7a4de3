// host.js on a stage in Node, with as little of a browser as it needs: see host_driver.mjs.
// usage: node host_in_node.mjs URL_OF_MODULE ROLES CASES RESULTS: files; the module is host.js, or that of another dialect;
// in RESULTS is null for a case that is not played
import { readFileSync, writeFileSync } from "node:fs";
import { play, plays } from "./host_driver.mjs";

const ORIGIN = "https://tools.example";
const STRANGER = "https://stranger.example";
const listeners = new Set();
globalThis.location = { origin: "https://chat.example" };
globalThis.origin = location.origin;
globalThis.window = {
  addEventListener: (_, listener) => listeners.add(listener),
  removeEventListener: (_, listener) => listeners.delete(listener),
};
globalThis.document = { baseURI: "https://chat.example/" };
globalThis.getComputedStyle = () => ({ colorScheme: "light" });
const observers = new Set();
globalThis.MutationObserver = class {
  constructor(look) {
    this.look = look;
  }
  observe() {
    observers.add(this);
  }
  disconnect() {
    observers.delete(this);
  }
};
// Time passes only where a case says so.
let timers = new Map();
globalThis.setTimeout = (call, milliseconds) => timers.set(timers.size + 1, { call, milliseconds }).size;
globalThis.clearTimeout = (timer) => {
  if (timers.has(timer)) timers.get(timer).call = null;
};
globalThis.reportError = (error) => {
  throw error;
};
const [module, rolesFile, casesFile, resultsFile] = process.argv.slice(2);
const { FrameTransport, Transport = FrameTransport } = await import(module);

let channels = [];
globalThis.MessageChannel = class {
  port2 = {};
  constructor() {
    this.port1 = { channel: this, close: () => (this.closed = true), postMessage: (message) => this.hear(message) };
    channels.push(this);
  }
};

class NodeStage {
  #posted = [];
  #loads = [];
  /** What is no message, by its name in a case. */
  happenings = {
    "deadline has passed": () => {
      for (const { call } of [...timers.values()]) call?.();
    },
    "peer's document replaced": () => {
      for (let time = 0; time < 2; time++) for (const loaded of this.#loads) loaded(); // the first one is its own
    },
    "peer's window removed": () => {
      this.iframe.contentWindow = null;
      for (const { look } of [...observers]) look();
    },
  };

  constructor({ opaque }) {
    this.origin = opaque ? "null" : ORIGIN;
    const attributes = new Map([["sandbox", opaque ? "allow-scripts" : "allow-scripts allow-same-origin"]]);
    this.iframe = {
      contentWindow: {
        postMessage: (message, target, [port] = []) => {
          if (target !== "*" && target !== this.origin) throw new Error(`posted to ${target}`);
          this.#posted.push({ message: structuredClone(message), to: target === "*" ? "*" : "peer" });
          for (const channel of channels) {
            if (channel.port2 === port) channel.hear = (said) => this.#posted.push({ message: said, to: "port" });
          }
        },
      },
      style: {},
      hidden: false,
      isConnected: true,
      sandbox: { contains: (word) => attributes.get("sandbox").split(" ").includes(word) },
      hasAttribute: (name) => attributes.has(name),
      setAttribute: (name, value) => attributes.set(name, value),
      removeAttribute: (name) => attributes.delete(name),
      addEventListener: (_, listener) => this.#loads.push(listener),
      removeEventListener: (_, listener) => (this.#loads = this.#loads.filter((one) => one !== listener)),
      getRootNode: () => ({}),
    };
  }

  async say({ data, make, from = "peer" }) {
    if (from === "port") return this.#sayOverPort(data);
    const origin = { "another origin": STRANGER, "opaque origin": "null" }[from] ?? this.origin;
    const source = from === "another window" ? {} : this.iframe.contentWindow;
    const clone = structuredClone(make ? new Function(`return (${make})`)() : data);
    for (const listener of [...listeners]) listener({ source, origin, data: clone });
  }

  /** Post over the first port that is handed over, if any is: no case is about what comes before. */
  #sayOverPort(data) {
    for (const loaded of this.#loads) loaded();
    for (let time = 0; time < 3 && !channels.length; time++)
      for (const { call } of [...timers.values()].slice(-1)) call?.();
    this.#posted = [];
    for (const { port1, closed } of channels) if (!closed) port1.onmessage?.({ data: structuredClone(data) });
  }

  async posted() {
    return this.#posted.splice(0);
  }

  clock() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}

const about = JSON.parse(readFileSync(rolesFile, "utf8"));
const results = [];
for (const one of JSON.parse(readFileSync(casesFile, "utf8"))) {
  timers = new Map();
  channels = [];
  const stage = new NodeStage(one);
  results.push(plays(one, stage) ? await play(Transport, stage, about, one) : null);
}
writeFileSync(resultsFile, JSON.stringify(results));
process.exit(0); // what waits for ever in a case waits no longer
