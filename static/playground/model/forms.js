// The two forms in which models are spoken to over HTTP: OpenAI's chat completions, which most local servers have too, and
// Anthropic's messages. By `fetch` alone: headers of an SDK would fail in the preflight of some. Everything that comes back
// is a stranger's.

const MOST_TOKENS = 4_096; // of an answer
const NAME = /[^a-zA-Z0-9_-]/g; // neither form allows others in the name of a tool
const LONGEST_NAME = 64;

/**
 * @typedef {{ id: string, name: string, args: Record<string, unknown> }} Call of a tool, by its name for the model
 * @typedef {{ text: string, calls: Call[], raw: any }} Answer raw: the turn as the form sends it back
 * @typedef {{ id: string, text: string, images: { type: string, data: string }[], isError: boolean }} Result
 * @typedef {{ name: string, description: string, schema: object }} Tool
 * @typedef {object} Form
 * @property {string} title
 * @property {string} address of the usual service
 * @property {(key: string) => Record<string, string>} headers
 * @property {(model: string, tools: Tool[], turns: any[]) => object} body
 * @property {(answer: any) => Answer} read throws if it has another shape
 * @property {(question: string) => any[]} ask returns turns
 * @property {(results: Result[]) => any[]} give returns turns
 */

/** Returns the names of tools for a model, each of which is unique. @param {string[]} names @returns {Map<string, string>} by the model's, the server's */
export function namesFor(names) {
  const byName = new Map();
  for (const name of names) {
    const plain = name.replace(NAME, "_").slice(0, LONGEST_NAME) || "tool";
    let own = plain;
    for (let number = 2; byName.has(own); number += 1) {
      const suffix = `_${number}`;
      own = plain.slice(0, LONGEST_NAME - suffix.length) + suffix;
    }
    byName.set(own, name);
  }
  return byName;
}

/** Returns a tool's schema as both forms take it: an object, without alternatives at its root. */
export function schemaFor(schema) {
  const { anyOf: _, oneOf: __, allOf: ___, $schema: ____, ...rest } = schema ?? {};
  return { ...rest, type: "object", properties: rest.properties ?? {} };
}

/** Returns a result of a tool for a model. @param {string} id @param {any} result of MCP @returns {Result} */
export function resultFor(id, { content = [], structuredContent, isError = false }) {
  const texts = content.flatMap((part) => {
    if (part.type === "text") return [part.text];
    if (part.type === "image") return [];
    return [JSON.stringify(part)];
  });
  const images = content.filter(({ type }) => type === "image").map(({ mimeType, data }) => ({ type: mimeType, data }));
  if (structuredContent !== undefined && !texts.length) texts.push(JSON.stringify(structuredContent));
  return { id, text: texts.join("\n"), images, isError };
}

const isText = (value) => typeof value === "string";

function argumentsOf(value) {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new Error("The model called a tool with arguments that are no object.");
}

/** @type {Form} */
const chat = {
  title: "Chat completions (OpenAI and most others)",
  address: "https://api.openai.com/v1/chat/completions",
  headers: (key) => (key ? { Authorization: `Bearer ${key}` } : {}),
  body: (model, tools, turns) => ({
    model,
    messages: turns,
    ...(tools.length && {
      tools: tools.map(({ name, description, schema }) => ({
        type: "function",
        function: { name, description, parameters: schema },
      })),
    }),
  }),
  read(answer) {
    const message = answer?.choices?.[0]?.message;
    if (typeof message !== "object" || message === null) throw new Error("The answer has no message.");
    const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: text } }) => ({
      id,
      name,
      args: argumentsOf(JSON.parse(text || "{}")),
    }));
    return { text: isText(message.content) ? message.content : "", calls, raw: message };
  },
  ask: (question) => [{ role: "user", content: question }],
  give(results) {
    const turns = results.map(({ id, text, isError }) => ({
      role: "tool",
      tool_call_id: id,
      content: isError ? `Error: ${text}` : text,
    }));
    const images = results.flatMap((result) => result.images); // which a tool's turn cannot have
    if (!images.length) return turns;
    const parts = images.map(({ type, data }) => ({
      type: "image_url",
      image_url: { url: `data:${type};base64,${data}` },
    }));
    return [...turns, { role: "user", content: [{ type: "text", text: "The pictures of these results:" }, ...parts] }];
  },
};

/** @type {Form} */
const messages = {
  title: "Messages (Anthropic)",
  address: "https://api.anthropic.com/v1/messages",
  headers: (key) => ({
    "x-api-key": key,
    "anthropic-version": "2023-06-01",
    "anthropic-dangerous-direct-browser-access": "true", // the user's own key, which stays in this page
  }),
  body: (model, tools, turns) => ({
    model,
    max_tokens: MOST_TOKENS,
    messages: turns,
    ...(tools.length && {
      tools: tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
    }),
  }),
  read(answer) {
    if (!Array.isArray(answer?.content)) throw new Error("The answer has no content.");
    const texts = answer.content.filter(({ type, text }) => type === "text" && isText(text));
    const calls = answer.content
      .filter(({ type }) => type === "tool_use")
      .map(({ id, name, input }) => ({ id, name, args: argumentsOf(input) }));
    return {
      text: texts.map(({ text }) => text).join("\n"),
      calls,
      raw: { role: "assistant", content: answer.content },
    };
  },
  ask: (question) => [{ role: "user", content: question }],
  give: (results) => [
    {
      role: "user",
      content: results.map(({ id, text, images, isError }) => ({
        type: "tool_result",
        tool_use_id: id,
        is_error: isError,
        content: [
          ...(text || !images.length ? [{ type: "text", text: text || "(empty)" }] : []),
          ...images.map(({ type, data }) => ({ type: "image", source: { type: "base64", media_type: type, data } })),
        ],
      })),
    },
  ],
};

/** @type {Record<string, Form>} */
export const FORMS = { chat, messages };
