/** The peer: a page server with the official transports and the TypeScript SDK. */
import { IframeChildTransport, TabServerTransport } from "@mcp-b/transports";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const asked = new URLSearchParams(location.search);
const server = new McpServer({ name: "echo", version: "0.1.0" });
const inputSchema = z.object({ text: z.string() });
for (let number = 0; number < Number(asked.get("tools") ?? 1); number += 1) {
  const name = `${asked.get("prefix") ?? ""}echo${number || ""}`;
  server.registerTool(name, { description: "Return the text back.", inputSchema }, ({ text }) => ({
    content: [{ type: "text", text }],
  }));
}
const Transport = parent === window ? TabServerTransport : IframeChildTransport;
const allowed = parent === window ? location.origin : asked.get("host");
globalThis.began = performance.timeOrigin + performance.now();
await server.connect(new Transport({ allowedOrigins: [allowed] }));
