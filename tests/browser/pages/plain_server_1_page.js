/** A framed server of SDK 1.x, over a transport of whoever imports it. Tests bundle it beside its packages. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const ADD = {
  name: "add",
  description: "Add two numbers.",
  inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
};

export const serve = async (transport) => {
  const server = new Server({ name: "by npm", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [ADD] }));
  server.setRequestHandler(CallToolRequestSchema, ({ params: { arguments: args } }) => ({
    content: [{ type: "text", text: `${args.a + args.b}` }],
  }));
  await server.connect(transport);
};
