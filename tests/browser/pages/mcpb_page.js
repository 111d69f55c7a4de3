/** Clients and servers of MCP-B with the official transports and the TypeScript SDK, for a test to drive. */
import {
  ExtensionClientTransport,
  IframeChildTransport,
  IframeParentTransport,
  TabClientTransport,
  TabServerTransport,
} from "@mcp-b/transports";
import { Client } from "@modelcontextprotocol/client";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const posted = [];
addEventListener("message", ({ data, origin }) => {
  if (data?.type === "mcp") posted.push({ ...data, origin });
});

const heard = [];
let wake = () => {};
const note = (client, what) => {
  heard.push([client, what]);
  wake();
};

/** Connects a client, and returns its number. */
async function connect(transport, mode) {
  const capabilities = { elicitation: {}, sampling: {} };
  const options = { capabilities, ...(mode ? { versionNegotiation: { mode } } : {}) };
  const client = new Client({ name: "a page", version: "1" }, options);
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "a person" } }));
  client.setRequestHandler("sampling/createMessage", () => ({
    role: "assistant",
    model: "a model",
    content: { type: "text", text: "a model" },
  }));
  const number = mcpb.clients.push(client) - 1;
  client.onerror = (error) => note(number, `error: ${error.message}`);
  client.onclose = () => note(number, "closed");
  client.setNotificationHandler("notifications/tools/list_changed", () => note(number, "list_changed"));
  await client.connect(transport);
  return number;
}

globalThis.mcpb = {
  clients: [],
  servers: [],
  controllers: [],
  posted,

  /** Connects a client to a page server in this window. */
  tabClient: (mode, channelId) => connect(new TabClientTransport({ targetOrigin: location.origin, channelId }), mode),

  /** Connects a client to another extension. */
  extensionClient: (extensionId, mode) => connect(new ExtensionClientTransport({ extensionId }), mode),

  /** Connects a client over any transport. */
  use: connect,

  /** Frames a page server, unless a frame is there, and connects a client to it. */
  iframeClient(url, mode) {
    const iframe = document.querySelector("iframe") ?? document.body.appendChild(document.createElement("iframe"));
    const transport = new IframeParentTransport({ iframe, targetOrigin: new URL(url).origin });
    const connected = connect(transport, mode);
    if (!iframe.src) iframe.src = url;
    return connected;
  },

  /** Serves tools in this window, or to the page around it. */
  async serve(kind, allowedOrigins) {
    const server = new McpServer({ name: `a ${kind} server`, version: "2" }, { capabilities: { logging: {} } });
    server.registerTool(
      "add",
      { description: "Adds", inputSchema: z.object({ a: z.number(), b: z.number() }) },
      ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }),
    );
    server.registerTool("fail", { description: "Fails" }, () => {
      throw new Error("no luck");
    });
    server.registerTool("wait", { description: "Never answers" }, () => new Promise(() => {}));
    server.registerTool("grow", { description: "Adds a tool" }, () => {
      server.registerTool("more", { description: "More" }, () => ({ content: [] }));
      return { content: [] };
    });
    const Transport = kind === "tab" ? TabServerTransport : IframeChildTransport;
    await server.connect(new Transport({ allowedOrigins }));
    return this.servers.push(server) - 1;
  },

  /** Calls a tool whose progress and end are heard, until `abort`. */
  watch(client, name, args) {
    const controller = new AbortController();
    this.controllers[client] = controller;
    const onprogress = ({ progress, total, message }) => note(client, `progress: ${progress} of ${total}, ${message}`);
    this.clients[client].callTool({ name, arguments: args }, { onprogress, signal: controller.signal }).then(
      ({ content }) => note(client, `watched: ${content[0].text}`),
      (error) => note(client, `watched: error ${error.message}`),
    );
  },

  abort: (client) => mcpb.controllers[client].abort(),
  everything: () => heard,

  /** Waits until a client has heard something. */
  async heard(client, what) {
    for (;;) {
      const at = heard.findIndex(([number, each]) => number === client && each.startsWith(what));
      if (at >= 0) return heard.splice(at, 1)[0][1];
      await new Promise((resolve) => {
        wake = resolve;
      });
    }
  },

  /** Calls a method of a client; returns its result, or its error. */
  async call(client, method, ...parameters) {
    try {
      return { result: (await this.clients[client][method](...parameters)) ?? null };
    } catch (error) {
      return { error: error.message, code: error.code ?? null };
    }
  },
};
if (location.hash.startsWith("#serve=")) mcpb.serve("iframe", [location.hash.slice("#serve=".length)]);
document.documentElement.dataset.state = "loaded";
