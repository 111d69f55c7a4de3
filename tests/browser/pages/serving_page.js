/** A page around an assistant: the official TypeScript server, outside, over host.js. Tests bundle it. */
import { McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import { FrameTransport } from "./host.js";

function makeServer() {
  const server = new McpServer({ name: "studio", title: "Studio", version: "1.0.0" });
  const about = { description: "Who is signed in.", inputSchema: z.object({}) };
  server.registerTool("getCurrentUser", about, () => ({
    content: [{ type: "text", text: '{"name": "Grace Okafor"}' }],
  }));
  return server;
}

window.lab = {
  async serve(url) {
    const iframe = document.body.appendChild(document.createElement("iframe"));
    iframe.title = "Copilot";
    const timeout = { handshake: 90_000 };
    this.server = makeServer();
    await this.server.connect(new FrameTransport({ iframe, url, visibility: "required", timeout }));
  },

  /** End the session, and leave the frame where it is. */
  async hangUp() {
    await this.server.close();
  },
};
