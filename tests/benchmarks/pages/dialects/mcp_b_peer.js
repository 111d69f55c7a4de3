/** The peer: a page server with the official transports and the TypeScript SDK. */
import { IframeChildTransport, TabServerTransport } from "@mcp-b/transports";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const server = new McpServer({ name: "echo", version: "0.1.0" });
const inputSchema = z.object({ text: z.string() });
server.registerTool("echo", { description: "Return the text back.", inputSchema }, ({ text }) => ({
  content: [{ type: "text", text }],
}));
const Transport = parent === window ? TabServerTransport : IframeChildTransport;
const allowed = parent === window ? location.origin : new URLSearchParams(location.search).get("host");
await server.connect(new Transport({ allowedOrigins: [allowed] }));
