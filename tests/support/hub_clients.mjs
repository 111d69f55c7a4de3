/**
 * Clients of the TypeScript SDK at one server over Streamable HTTP, for a test to drive.
 *
 * Arguments: the server's address, and the clients: `modern` and `legacy` for the SDK 2 in each era, `sdk1` for the SDK 1.
 * Reads and writes lines of JSON. `{id, client, tool, arguments}` calls a tool, `{cancel: id}` cancels a call. It writes
 * `{id, result}` or `{id, error}`, and `{client, tools}` with the names of the tools at the start and after each change.
 */
import { createInterface } from "node:readline";

import * as sdk2 from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [address, ...kinds] = process.argv.slice(2);
const clients = new Map();
const calls = new Map();
const info = { name: "a client in TypeScript", version: "1" };

const write = (message) => console.log(JSON.stringify(message));
const writeTools = (client, tools) => write({ client, tools: tools.map(({ name }) => name) });

async function connect(kind) {
  const listed = async () => writeTools(kind, (await clients.get(kind).listTools()).tools);
  if (kind === "sdk1") {
    const client = new Client1(info);
    client.setNotificationHandler(ToolListChangedNotificationSchema, listed);
    clients.set(kind, client);
    await client.connect(new Transport1(new URL(address)));
  } else {
    const versionNegotiation = { mode: kind === "modern" ? "auto" : "legacy" };
    const onChanged = (error, tools) => error || writeTools(kind, tools);
    const client = new sdk2.Client(info, { versionNegotiation, listChanged: { tools: { onChanged } } });
    clients.set(kind, client);
    await client.connect(new sdk2.StreamableHTTPClientTransport(new URL(address)));
  }
  await listed();
}

async function call({ id, client, tool, arguments: given }) {
  const cancelling = new AbortController();
  calls.set(id, cancelling);
  const parameters = { name: tool, arguments: given };
  const options = { signal: cancelling.signal };
  try {
    const called = clients.get(client);
    const result = await (client === "sdk1"
      ? called.callTool(parameters, undefined, options)
      : called.callTool(parameters, options));
    write({ id, result });
  } catch (error) {
    write({ id, error: { code: error?.code, data: error?.data, message: String(error?.message ?? error) } });
  }
}

for (const kind of kinds) await connect(kind);
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if ("cancel" in message) calls.get(message.cancel).abort();
  else call(message);
}
process.exit(0);
