/** The peer of the calls: the same echo with the official TypeScript SDK, over the shortest correct inner frame. */
import { McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";

const HOST = new URLSearchParams(location.search).get("host");

/** When the last message came. While calls are traced, `traced` gets the milliseconds from there to each answer. */
let came = 0;

/** The inner frame of the SEP's transport phase: handshake, one pinned origin, payloads as they come. */
class InnerFrameTransport {
  start() {
    return new Promise((resolve) => {
      addEventListener("message", (event) => {
        const { source, origin, data } = event;
        if (source !== parent || origin !== HOST) return;
        if (data?.type === "MCP_MESSAGE") {
          came = event.timeStamp;
          this.onmessage?.(data.payload);
        } else if (data?.type === "MCP_TRANSPORT_HANDSHAKE_REPLY" && !this.sessionId) {
          this.sessionId = data.sessionId;
          parent.postMessage({ type: "MCP_TRANSPORT_ACCEPTED", sessionId: data.sessionId }, HOST);
          resolve();
        }
      });
      parent.postMessage({ type: "MCP_TRANSPORT_HANDSHAKE", protocolVersion: "1.0" }, "*");
    });
  }

  async send(payload) {
    parent.postMessage({ type: "MCP_MESSAGE", payload }, HOST);
    globalThis.traced?.push(performance.now() - came);
  }

  async close() {
    this.onclose?.();
  }
}

const server = new McpServer({ name: "echo", version: "0.1.0" });
const inputSchema = z.object({ text: z.string() });
server.registerTool("echo", { description: "Return the text back.", inputSchema }, ({ text }) => ({
  content: [{ type: "text", text }],
}));
await server.connect(new InnerFrameTransport());
