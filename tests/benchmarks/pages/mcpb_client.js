/**
 * The clients of page servers, with the official transports and the TypeScript SDK: on a page of their own they frame a
 * server, in a server's page they use its window.
 */
import { IframeParentTransport, TabClientTransport } from "@mcp-b/transports";
import { Client } from "@modelcontextprotocol/client";

async function connect(transport) {
  const client = new Client({ name: "benchmark", version: "1.0.0" });
  await client.connect(transport);
  return client;
}

async function echo(client, text) {
  const sent = performance.now();
  const { content, isError } = await client.callTool({ name: "echo", arguments: { text } });
  const received = performance.now();
  if (isError || content.length !== 1 || content[0].text !== text) throw new Error("echo gave a wrong answer");
  return received - sent;
}

globalThis.mcpbBench = {
  /** Connects to the page server in this window. */
  tab: () => connect(new TabClientTransport({ targetOrigin: location.origin })),

  /** Frames a page server and connects to it. */
  frame(url) {
    const iframe = document.body.appendChild(document.createElement("iframe"));
    const transport = new IframeParentTransport({ iframe, targetOrigin: new URL(url).origin });
    const connected = connect(transport);
    iframe.src = url;
    return connected;
  },

  /** Milliseconds from setting the frame's address until it is connected, and until `echo` has answered. */
  async start(url) {
    const began = performance.now();
    const client = await this.frame(url);
    const connected = performance.now() - began;
    await echo(client, "first");
    return { connected, answered: performance.now() - began };
  },

  /** Milliseconds of so many calls of `echo`, one after the other, with texts of so many characters. */
  async calls(client, count, length) {
    const samples = [];
    for (let number = 0; number < count; number += 1) {
      samples.push(await echo(client, `${number} ${"x".repeat(length)}`.slice(0, length)));
    }
    return samples;
  },
};
