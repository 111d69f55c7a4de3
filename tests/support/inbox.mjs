// inbox.js in windows that the test makes up: prints what becomes of each, as JSON.
import { readFile } from "node:fs/promises";
import { createContext, runInContext } from "node:vm";

const [, , path, data] = process.argv;
const script = await readFile(path, "utf-8");

/** An element, as far as the stand-in for a view needs one. */
const element = () => ({
  dataset: {},
  children: [],
  style: { setProperty() {} },
  appendChild: (child) => child,
  setAttribute() {},
  remove() {},
  getBoundingClientRect: () => ({ height: 7 }),
});
class Observer {
  observe() {}
  disconnect() {}
}

/** A page at an address, framed or opened as a popup, or by itself. */
function opened({ hash = "", search = "", framed = false, popup = false, body = undefined }) {
  const posted = [];
  const listeners = new Set();
  const timers = new Map();
  const host = { postMessage: (message, target) => posted.push([message, target]) };
  const page = {
    location: { hash, search },
    opener: popup ? host : null,
    document: {
      body,
      documentElement: element(),
      createElement: element,
      getElementById: (id) => (id === "mcpframe-inbox" ? { textContent: data } : null),
    },
    ResizeObserver: Observer,
    MutationObserver: Observer,
    requestAnimationFrame: (run) => void run(),
    cancelAnimationFrame() {},
    innerWidth: 300,
    addEventListener: (kind, listener) => kind === "message" && listeners.add(listener),
    removeEventListener: (_kind, listener) => listeners.delete(listener),
    setTimeout: (run, after) => timers.set(run, after) && run,
    clearTimeout: (run) => timers.delete(run),
  };
  createContext(page);
  page.self = runInContext("globalThis", page);
  page.parent = framed ? host : page.self;
  runInContext(script, page);
  const hear = (event) => {
    for (const listener of listeners) listener(event);
  };
  return { page, host, posted, listeners, timers, hear };
}

const said = {};
for (const hash of ["", "#visible", "#nosetup", "#setup", "#visible,setup"]) {
  said[`at ${hash}`] = opened({ hash, framed: true }).posted;
}
for (const search of ["?waitForRenderData=true", "?a=1&waitForRenderData=true&b=2", "?waitForRenderData=trueish"]) {
  said[`at ${search}`] = opened({ search, framed: true }).posted;
}
said.popup = opened({ popup: true }).posted;

const alone = opened({ hash: "#setup" });
said.alone = [alone.posted, alone.listeners.size, alone.timers.size, "mcpframeInbox" in alone.page];

const unread = (number) => ({
  number,
  source: null,
  get data() {
    throw new Error("it was read");
  },
});
const flooded = opened({ framed: true });
for (let number = 0; number < 100_000; number += 1) flooded.hear(unread(number));
const taken = flooded.page.mcpframeInbox.take();
flooded.hear(unread(-1));
said.flooded = {
  kept: taken.events.map(({ number }) => number),
  dropped: taken.dropped,
  called: taken.called,
  replies: taken.replies,
  left: [flooded.listeners.size, flooded.timers.size, "mcpframeInbox" in flooded.page],
};

const failing = (hash) => {
  const page = opened({ hash, framed: true });
  const [[run, after]] = page.timers;
  const openings = page.posted.length;
  page.page.mcpframeInbox.fail();
  run();
  return { posted: page.posted.slice(openings), after };
};
said.failed = { setup: failing("#setup"), transport: failing("") };

const ORIGINS = ["https://chat.example", "https://other.example", "null"];
const ANSWER = { jsonrpc: "2.0", id: "mcpframe/initialize", result: {} };
const partial = (number) => ({
  jsonrpc: "2.0",
  method: "ui/notifications/tool-input-partial",
  params: { arguments: { number } },
});

/** What a page posts to a host that posts these messages to it, and what Python gets. */
const answered = (messages, { origin = ORIGINS[0], fails = false, sender = null } = {}) => {
  const { page, host, posted, hear } = opened({ framed: true, body: element() });
  const calls = posted.length;
  if (fails) page.mcpframeInbox.fail();
  const asked = [];
  const ports = [{ postMessage: (data) => asked.push(data) }];
  const source = sender ?? host;
  hear({ source, origin, data: null, ports });
  for (const data of messages) hear({ source, origin, data, ports: [] });
  const { events, dropped, replies } = page.mcpframeInbox.take();
  const kept = events.slice(1).map(({ data }) => data?.params?.arguments?.number ?? data?.method ?? data);
  return {
    posted: posted.slice(calls).map(([{ method, type }, target]) => [method ?? type, target]),
    asked,
    kept,
    dropped,
    replies,
  };
};
const each = (options) =>
  Object.fromEntries(ORIGINS.map((origin) => [origin, answered([ANSWER], { origin, ...options })]));
said.confirmed = each();
said.failing = each({ fails: true });
said.stranger = answered([ANSWER], { sender: {} });
said.otherVersion = answered([{ ...ANSWER, result: { protocolVersion: "1999-01-01" } }]);
said.otherDialect = answered([{ type: "MCP_TRANSPORT_HANDSHAKE_REPLY" }, ANSWER]);
said.refusal = answered([{ ...ANSWER, result: undefined, error: { code: -32601, message: "No" } }]);
said.partials = answered([
  ANSWER,
  ...Array.from({ length: 1000 }, (_, number) => partial(number)),
  { jsonrpc: "2.0", method: "end" },
]);
said.complete = answered([ANSWER, partial(1), { ...partial(2), method: "ui/notifications/tool-input" }, partial(3)]);
said.early = answered([partial(1), partial(2)]);
console.log(JSON.stringify(said));
