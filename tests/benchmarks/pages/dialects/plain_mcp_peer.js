/** The peer: a framed server with the official transport and the TypeScript SDK. */
import { PostMessageTransport } from "@modelcontextprotocol/ext-apps";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const server = new McpServer({ name: "echo", version: "0.1.0" });
const inputSchema = z.object({ text: z.string() });
server.registerTool("echo", { description: "Return the text back.", inputSchema }, ({ text }) => ({
  content: [{ type: "text", text }],
}));
await server.connect(new PostMessageTransport(parent, parent));
