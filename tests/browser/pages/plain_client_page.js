/** A framed assistant by npm: the official `Client`, for a test to drive. Tests bundle it, for each version of the SDK. */
import { Client } from "@modelcontextprotocol/client";
import { PostMessageTransport } from "@modelcontextprotocol/ext-apps";

const client = new Client(
  { name: "an assistant", version: "1.0.0" },
  { versionNegotiation: { mode: location.hash.slice(1) || "legacy" } }, // which only 2.x has
);
await client.connect(new PostMessageTransport(parent, parent), { timeout: 60_000 });

window.assistant = {
  client,
  server: client.getServerVersion()?.name, // none over a port: nothing is initialized there
  tools: (await client.listTools()).tools.map(({ name }) => name),
  /** Returns the text of a tool's result, or of the error. */
  call: (name, args) =>
    client.callTool({ name, arguments: args }).then(
      ({ content }) => content[0].text,
      ({ message }) => message,
    ),
};
