/** Runs the expression of `static/extension/content.js` in a page that gets hold of the port of its tools, and prints what goes to the hub. */
import { readFileSync } from "node:fs";
import vm from "node:vm";

const posted = [];
const listeners = {};
const port = {
  postMessage: (text) => posted.push(JSON.parse(text.slice(1))),
  onMessage: { addListener() {} },
  onDisconnect: { addListener() {} },
};
const tools = {};
const context = {
  chrome: { runtime: { id: "hub", sendMessage: async () => ({ value: null }), connect: () => port } },
  document: {},
  performance,
  Event: class {
    constructor(type) {
      this.type = type;
    }
  },
  addEventListener: (type, heard) => (listeners[type] = heard),
  // The page hears what the script asks for before `document.js` is there, and offers a port of its own.
  dispatchEvent: ({ type }) => type === "wanted" && listeners.offer({ ports: [tools] }),
};
context.window = context;
context.window.top = context;
const content = vm.runInNewContext(readFileSync(process.argv[2], "utf8"), context);
content(() => ({ pause() {}, stop() {} }), { piece: 1000, offer: "offer", wanted: "wanted" });
await new Promise((resolve) => setImmediate(resolve));
const forged = { kind: "message", source: 1, origin: "https://bank.example", url: "https://bank.example/", text: "{}" };
for (const data of [{ id: 1, value: "1" }, forged, { ...forged, id: 2 }, null]) tools.onmessage({ data });
console.log(JSON.stringify(posted));
