/** Clients of the TypeScript SDK 1.x in a bundle's own tab, whose policy evaluates no text, for a test to drive. */
import { TabClientTransport } from "@mcp-b/transports";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ListToolsResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { CfWorkerJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/cfworker";

async function connected(channelId, options) {
  const client = new Client({ name: "a tab's client", version: "0" }, options);
  await client.connect(new TabClientTransport({ targetOrigin: location.origin, channelId }));
  return client;
}

const names = ({ tools }) => tools.map(({ name }) => name);

globalThis.validating = {
  /** The SDK's own validator makes functions of schemas. */
  async byDefault(channelId) {
    const client = await connected(channelId);
    return client.listTools().then(names, (error) => String(error));
  },

  async interpreting(channelId) {
    const client = await connected(channelId, { jsonSchemaValidator: new CfWorkerJsonSchemaValidator() });
    const tools = names(await client.listTools());
    const { structuredContent } = await client.callTool({ name: "add", arguments: { a: 2, b: 4 } });
    return { tools, structuredContent };
  },

  async withoutValidation(channelId) {
    const client = await connected(channelId);
    return names(await client.request({ method: "tools/list" }, ListToolsResultSchema));
  },
};
