/**
 * A server's tools as functions.
 *
 *     import { tools } from "@mcpframe/host/tools";
 *
 *     const { structuredContent } = await tools(client).calculate_pi({ iterations: 1000 });
 *
 * In TypeScript, names, arguments and results are checked with the types that `npx @mcpframe/host types URL > tools.d.ts`
 * writes: `tools<Tools>(client)`.
 */

/** @import { CallToolResult, Client, RequestOptions } from "@modelcontextprotocol/client" */

/** A tool has answered with an error (`isError`); its text is the message. */
export class ToolError extends Error {
  name = "ToolError";

  /**
   * @param {string} tool
   * @param {CallToolResult} result
   */
  constructor(tool, result) {
    const texts = (result.content ?? []).map((block) => (block.type === "text" ? block.text : "")).filter(Boolean);
    super(texts.join("\n") || `${tool} has failed.`);
    /** The whole answer. */
    this.result = result;
  }
}

/**
 * What a call resolves with: the tool's result, whose structured content has the type of its output schema.
 * @template Structured
 * @typedef {{ content: CallToolResult["content"], structuredContent: Structured, _meta?: CallToolResult["_meta"] }} Answer
 */

/**
 * A tool as a function. The arguments may be left out if each is optional.
 * @template Arguments
 * @template Structured
 * @typedef {{} extends Arguments
 *   ? (args?: Arguments, options?: RequestOptions) => Promise<Answer<Structured>>
 *   : (args: Arguments, options?: RequestOptions) => Promise<Answer<Structured>>} Tool
 */

/**
 * The tools of a server, by the schemas that `npx @mcpframe/host types` writes.
 * @template Schemas
 * @typedef {{ [Name in keyof Schemas]: Schemas[Name] extends { arguments: infer Arguments }
 *   ? Tool<Arguments, Schemas[Name] extends { result: infer Structured } ? Structured : unknown>
 *   : never }} ToolsOf
 */

/** @typedef {Record<string, Tool<Record<string, unknown>, any>>} UntypedTools */

/**
 * Return the tools of a server: `tools(client).NAME(arguments, options)` calls the tool NAME. Whether there is one of that
 * name, the server says at the call. (For a tool called `then`, use the client's `callTool`.)
 * @template {object} [Typed=UntypedTools]
 * @param {Pick<Client, "callTool">} client the official client of 2.x
 * @returns {Typed} functions that reject with a `ToolError` if the tool answers with an error, and as `callTool` does
 */
export function tools(client) {
  return /** @type {Typed} */ (
    new Proxy(Object.freeze(Object.create(null)), {
      get(_, name) {
        // What is awaited or returned by an async function is asked for `then`.
        if (typeof name === "symbol" || name === "then") return undefined;
        return async (args = {}, options = undefined) => {
          const result = await client.callTool({ name, arguments: args }, options);
          if (result.isError) throw new ToolError(name, result);
          return result;
        };
      },
    })
  );
}
