import type { Client } from "@modelcontextprotocol/client";
import { ToolError, tools } from "@mcpframe/host/tools";
import type { Tools } from "./tools.js"; // npx @mcpframe/host types https://tools.example/pi-calculator/ > tools.d.ts

/** Estimate pi. A renamed tool, argument or result is an error of the compiler. */
export async function pi(client: Client, signal: AbortSignal): Promise<number> {
  const server = tools<Tools>(client);
  try {
    const { structuredContent } = await server.calculate_pi({ iterations: 1000 }, { signal });
    return structuredContent.pi;
  } catch (error) {
    if (error instanceof ToolError) console.warn(error.message, error.result.content);
    throw error;
  }
}
