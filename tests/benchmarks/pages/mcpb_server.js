/** The peer of the page servers: the same echo with the official TypeScript SDK, over the official transports of MCP-B. */
import { IframeChildTransport, TabServerTransport } from "@mcp-b/transports";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const HOST = new URLSearchParams(location.search).get("host"); // of a page in a frame; in a tab there is none

const server = new McpServer({ name: "echo", version: "0.1.0" });
const inputSchema = z.object({ text: z.string() });
server.registerTool("echo", { description: "Return the text back.", inputSchema }, ({ text }) => ({
  content: [{ type: "text", text }],
}));
await server.connect(
  parent === self
    ? new TabServerTransport({ allowedOrigins: [location.origin] })
    : new IframeChildTransport({ allowedOrigins: [HOST] }),
);
