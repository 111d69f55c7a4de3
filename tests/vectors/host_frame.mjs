// Drives `FrameTransport` of host.js in Node, with as little of a browser as it needs, and writes what came of each case.
// usage: node host_frame.mjs URL_OF_HOST_JS CASES OUTCOMES, where CASES is a file with an array of {role, state, options, asked, message | text | make}
import { readFileSync, writeFileSync } from "node:fs";

const ORIGIN = "https://tools.example";
const SESSION = "5f0c1a52-2f0e-4a55-9d0e-6c1f3f7f6a10"; // as in tests/support/sep.py
const listeners = new Set();
globalThis.window = {
  addEventListener: (_, listener) => listeners.add(listener),
  removeEventListener: (_, listener) => listeners.delete(listener),
};
globalThis.document = { baseURI: "https://chat.example/" };
globalThis.MutationObserver = class {
  observe() {}
  disconnect() {}
};
globalThis.reportError = (error) => {
  throw error;
};
const { FrameTransport } = await import(process.argv[2]);

function makeIframe(posted) {
  const attributes = new Map([["sandbox", "allow-scripts allow-same-origin"]]);
  return {
    contentWindow: { postMessage: (message) => posted.push(structuredClone(message)) },
    style: {},
    hidden: false,
    isConnected: true,
    sandbox: { contains: (word) => attributes.get("sandbox").split(" ").includes(word) },
    hasAttribute: (name) => attributes.has(name),
    setAttribute: (name, value) => attributes.set(name, value),
    removeAttribute: (name) => attributes.delete(name),
    addEventListener() {},
    removeEventListener() {},
    getRootNode: () => ({}),
  };
}

const settled = async () => {
  for (let turn = 0; turn < 20; turn++) await null;
};

const ENTRY = {
  setup: [{ type: "MCP_SETUP_HANDSHAKE", protocolVersion: "1.0", requiresVisibleSetup: false }],
  transport: [
    { type: "MCP_TRANSPORT_HANDSHAKE", protocolVersion: "1.0" },
    { type: "MCP_TRANSPORT_ACCEPTED", sessionId: SESSION },
  ],
};

async function outcomeOf({ role, state, options = {}, asked, message, text, make }) {
  const posted = [];
  const told = [];
  const iframe = makeIframe(posted);
  const timeout = { handshake: Infinity, accept: Infinity };
  const transport = new FrameTransport({ iframe, url: `${ORIGIN}/`, limits: options, timeout, sessionId: SESSION });
  const say = async (data) => {
    for (const listener of [...listeners]) listener({ source: iframe.contentWindow, origin: ORIGIN, data: structuredClone(data) });
    await settled();
  };
  transport.onerror = (error) => told.push({ refused: error.name });
  transport.onsetuprequired = (request) => told.push({ "setup required": request });
  transport.onmessage = (payload) =>
    told.push(payload.error && payload.error.code === -32603 ? { fails: payload.id } : { received: payload });
  const phase = role.split(" ")[1];
  const begun = phase === "setup" ? transport.setup() : transport.start();
  begun.then(
    (result) => (phase === "setup" ? told.push({ "set up": result }) : undefined),
    (error) => told.push({ ended: error.name }),
  );
  const steps = { awaiting: 0, "setting up": 1, confirming: 1, open: 2 }[state];
  for (const step of ENTRY[phase].slice(0, steps)) await say(step);
  for (const id of asked ?? []) await transport.send({ jsonrpc: "2.0", id, method: "ask" });
  posted.length = 0;
  const begin = process.cpuUsage();
  await say(make ? new Function(`return (${make})`)() : text ? JSON.parse(text) : message);
  const { user, system } = process.cpuUsage(begin);
  const sent = posted.map((one) =>
    one.type === "MCP_MESSAGE" ? { answers: one.payload.id, code: one.payload.error?.code } : { sends: one.type },
  );
  const outcome = [...told, ...sent];
  transport.onerror = transport.onmessage = undefined;
  listeners.clear();
  await transport.close().catch(() => {});
  return make ? { outcome, milliseconds: (user + system) / 1000 } : outcome;
}

const outcomes = [];
for (const one of JSON.parse(readFileSync(process.argv[3], "utf8"))) outcomes.push(await outcomeOf(one));
writeFileSync(process.argv[4], JSON.stringify(outcomes));
process.exit(0); // whatever waits for ever in a case waits no longer
