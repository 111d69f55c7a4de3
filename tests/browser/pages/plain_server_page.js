/** A framed server that mcpframe has not built: the official SDK over the transport of ext-apps. Tests bundle it. */
import { PostMessageTransport } from "@modelcontextprotocol/ext-apps";
import { Server } from "@modelcontextprotocol/server";

const ADD = {
  name: "add",
  description: "Add two numbers.",
  inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
};

const server = new Server({ name: "by npm", version: "1.0.0" }, { capabilities: { tools: {} } });
server.setRequestHandler("tools/list", () => ({ tools: [ADD] }));
server.setRequestHandler("tools/call", ({ params: { arguments: args } }) => {
  parent.postMessage({ source: "somebody", type: "called" }, "*"); // noise
  return { content: [{ type: "text", text: `${args.a + args.b}` }] };
});
await server.connect(new PostMessageTransport(parent, parent));
