// Hands over ports with the bridge's page around plain MCP, on a stage with as little of a browser as it needs.
// usage: node ports_in_node.mjs URL_OF_MODULE RESULTS: a file
import { writeFileSync } from "node:fs";

const ORIGIN = "https://tools.example";
const PONG = { jsonrpc: "2.0", id: "mcpframe/ping", result: {} };
const CALL = { jsonrpc: "2.0", id: 1, method: "sampling/createMessage", params: {} };
const listeners = new Set();
globalThis.location = { origin: "https://chat.example" };
globalThis.origin = location.origin;
globalThis.window = {
  addEventListener: (_, listener) => listeners.add(listener),
  removeEventListener: (_, listener) => listeners.delete(listener),
};
globalThis.document = { baseURI: "https://chat.example/" };
globalThis.getComputedStyle = () => ({ colorScheme: "light" });
globalThis.MutationObserver = class {
  observe() {}
  disconnect() {}
};
let timers = [];
globalThis.setTimeout = (call, milliseconds) => timers.push({ call, milliseconds });
globalThis.clearTimeout = (number) => {
  if (number) timers[number - 1].call = null;
};
let ports = [];
globalThis.MessageChannel = class {
  constructor() {
    this.port1 = { posted: [], closed: false, postMessage: (message) => this.port1.posted.push(message) };
    this.port1.close = () => (this.port1.closed = true);
    this.port2 = { of: ports.push(this.port1) - 1 };
  }
};
const [module, resultsFile] = process.argv.slice(2);
const { Transport } = await import(module);
const settled = async () => {
  for (let turn = 0; turn < 20; turn++) await null;
};

/** One transport, after so many probes. */
async function staged(probes) {
  [timers, ports] = [[], []];
  listeners.clear();
  const posted = [];
  const loads = [];
  const contentWindow = {
    postMessage: (message, target, [port] = []) => posted.push([message, target, port?.of ?? null]),
  };
  const iframe = {
    contentWindow,
    style: {},
    isConnected: true,
    sandbox: { contains: () => true },
    hasAttribute: (name) => name === "sandbox",
    setAttribute() {},
    addEventListener: (_, listener) => loads.push(listener),
    removeEventListener() {},
    getRootNode: () => ({}),
  };
  const transport = new Transport({ iframe, url: `${ORIGIN}/`, timeout: 60_000 });
  const received = [];
  let failed = null;
  transport.onmessage = ({ method }) => received.push(method);
  transport.start().then(
    () => {},
    ({ message }) => (failed = message),
  );
  await settled();
  if (probes) loads[0]();
  for (let number = 1; number < probes; number++)
    timers
      .filter(({ milliseconds }) => milliseconds === 500)
      .at(-1)
      .call();
  return {
    transport,
    posted,
    async hear(data, port = null) {
      if (port !== null) ports[port].onmessage?.({ data });
      else for (const listener of [...listeners]) listener({ source: contentWindow, origin: ORIGIN, data });
      await settled();
    },
    async expire() {
      timers.find(({ milliseconds }) => milliseconds === 60_000).call();
      await settled();
    },
    seen: () => ({ posted, received, failed, ports: ports.map(({ posted, closed }) => ({ posted, closed })) }),
  };
}

const results = {};
const note = async (name, probes, act) => {
  const stage = await staged(probes);
  await act(stage);
  await stage.transport.send({ jsonrpc: "2.0", method: "notifications/initialized" }).catch(() => {});
  results[name] = stage.seen();
};
await note("no answer", 4, ({ expire }) => expire());
await note("the window first", 4, async ({ hear }) => {
  await hear(PONG);
  for (const way of [0, 1, null]) await hear(CALL, way);
});
await note("a port first", 4, async ({ hear }) => {
  await hear(PONG, 1);
  for (const way of [0, null, 1]) await hear(CALL, way);
});
await note("an earlier port, late", 6, ({ hear }) => hear(PONG, 0));
await note("the window at once", 1, ({ hear }) => hear(PONG));
await note("many probes", 40, ({ hear }) => hear(PONG, 12));
await note("closed", 4, async ({ hear, transport }) => {
  await hear(PONG, 0);
  await transport.close();
});
writeFileSync(resultsFile, JSON.stringify(results));
process.exit(0); // what waits for ever waits no longer
