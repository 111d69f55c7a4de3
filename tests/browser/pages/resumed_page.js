/**
 * The client of the TypeScript SDK 1.x. Over a transport that has a `sessionId` it never sends `initialize`. Tests bundle
 * it. As a host page it frames a server; in a frame (`resumed.html?client`) it uses the server around it.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { FrameTransport } from "./host.js";

async function connected(transport) {
  const client = new Client({ name: "resumed", version: "1.0.0" });
  const { send } = transport;
  transport.sent = [];
  transport.send = (message) => {
    transport.sent.push(message.method);
    return send.call(transport, message);
  };
  await client.connect(transport);
  return client;
}

window.resumed = {
  async use(url, name, args, resumes = true) {
    const iframe = document.body.appendChild(document.createElement("iframe"));
    const transport = new FrameTransport({ iframe, url, timeout: { handshake: 90_000 } });
    transport.sessionId = resumes ? transport.frameSessionId : undefined;
    const client = await connected(transport);
    const { tools } = await client.listTools();
    const { content } = await client.callTool({ name, arguments: args });
    await client.close();
    return { sent: transport.sent, tools: tools.map((tool) => tool.name), content };
  },
};

/** The inner frame of the SEP in its shortest form, as a transport of the SDK. */
class InnerTransport {
  start() {
    return new Promise((resolve) => {
      addEventListener("message", ({ source, data }) => {
        if (source !== parent) return;
        if (data?.type === "MCP_TRANSPORT_HANDSHAKE_REPLY") {
          this.sessionId = data.sessionId;
          parent.postMessage({ type: "MCP_TRANSPORT_ACCEPTED", sessionId: data.sessionId }, "*");
          resolve();
        } else if (data?.type === "MCP_MESSAGE") this.onmessage?.(data.payload);
      });
      parent.postMessage({ type: "MCP_TRANSPORT_HANDSHAKE", protocolVersion: "1.0" }, "*");
    });
  }
  async send(payload) {
    parent.postMessage({ type: "MCP_MESSAGE", payload }, "*");
  }
  async close() {
    this.onclose?.();
  }
}

if (location.search === "?client") {
  const transport = new InnerTransport();
  const client = await connected(transport);
  const { tools } = await client.listTools();
  const { content } = await client.callTool({
    name: "greet",
    arguments: { name: tools.map(({ name }) => name).join() },
  });
  const answer = `${content[0].text} after ${transport.sent.join()}`;
  await client.callTool({ name: "done", arguments: { answer } });
}
