/** Clients and servers of MCP-B with transports of earlier versions and the SDK of their time, for a test to drive. */
import * as transports from "@mcp-b/transports";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { ListToolsResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

globalThis.old = {
  clients: [],
  servers: [],

  /** Serves tools in this window, or to the page around it. */
  async serve(kind, channelId, allowedOrigins) {
    const server = new McpServer({ name: `an old ${kind} server`, version: "0" });
    server.tool("add", { a: z.number(), b: z.number() }, ({ a, b }) => ({
      content: [{ type: "text", text: String(a + b) }],
    }));
    server.tool("fail", () => {
      throw new Error("no luck");
    });
    server.tool("wait", () => new Promise(() => {}));
    const Transport = kind === "tab" ? transports.TabServerTransport : transports.IframeChildTransport;
    await server.connect(new Transport({ allowedOrigins, channelId }));
    return this.servers.push(server) - 1;
  },

  /** Connects a client to a page server in this window, and returns its number. */
  async connect(channelId) {
    const client = new Client({ name: "an old page", version: "0" });
    await client.connect(new transports.TabClientTransport({ targetOrigin: location.origin, channelId }));
    return this.clients.push(client) - 1;
  },

  call: (client, name, args) => old.clients[client].callTool({ name, arguments: args }),

  /** Lists tools, without `listTools`: that makes functions of texts, which no page of ours may. */
  async tools(client) {
    const { tools } = await old.clients[client].request({ method: "tools/list" }, ListToolsResultSchema);
    return tools.map(({ name }) => name);
  },
};
