/** A client of MCP-B with the official transports: of a page server in a frame, or in this window. */
import { IframeParentTransport, TabClientTransport } from "@mcp-b/transports";
import { Client } from "@modelcontextprotocol/client";
import { callEcho } from "../calling.js";

const clients = new Map();

async function connect(transport) {
  const client = new Client({ name: "benchmark", version: "1.0.0" });
  await client.connect(transport);
  return client;
}

function frame(url) {
  const iframe = document.body.appendChild(document.createElement("iframe"));
  iframe.allow = "tools";
  const transport = new IframeParentTransport({ iframe, targetOrigin: new URL(url).origin });
  const connected = connect(transport);
  iframe.src = url;
  return connected;
}

globalThis.bench = {
  async start(url, name, args) {
    const began = performance.now();
    const client = await frame(url);
    const answer = await client.callTool({ name, arguments: args });
    return { answer, answered: performance.now() - began };
  },
  async open(peer, url) {
    clients.set(peer, await frame(url));
  },
  /** Connects to the page server in this window. */
  async openTab(peer) {
    clients.set(peer, await connect(new TabClientTransport({ targetOrigin: location.origin })));
  },
  /** Connects to it, lists its tools, and returns how long that took. */
  async register(peer) {
    const began = performance.now();
    await bench.openTab(peer);
    await clients.get(peer).listTools();
    return performance.now() - began;
  },
  /** Returns the text of a tool's answer, which is JSON. */
  async ask(peer, name, args) {
    return JSON.parse((await clients.get(peer).callTool({ name, arguments: args })).content[0].text);
  },
  calls: (peer, ...given) => callEcho(clients.get(peer), ...given),
};
