/**
 * The client of the TypeScript SDK 1.x over a transport that has a `sessionId`: it never initializes.
 *
 * Arguments: the program that serves at its standard streams, and its arguments. Prints one line of JSON.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { InitializeResultSchema } from "@modelcontextprotocol/sdk/types.js";

const [command, ...args] = process.argv.slice(2);
const transport = new StdioClientTransport({ command, args });
const sent = [];
const { send } = transport;
transport.send = (message) => {
  sent.push(message.method);
  return send.call(transport, message);
};
transport.sessionId = "known";

const clientInfo = { name: "resumed", version: "1.0.0" };
const client = new Client(clientInfo);
await client.connect(transport);
const { tools } = await client.listTools();
const call = () => client.callTool({ name: "greet", arguments: { name: "you" } });
const { content } = await call();
const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
const { protocolVersion } = await client.request({ method: "initialize", params }, InitializeResultSchema);
const again = await call();
console.log(
  JSON.stringify({ sent, tools: tools.map(({ name }) => name), content, protocolVersion, again: again.content }),
);
await client.close();
