/**
 * A small host: it frames the page named in config.json, connects the official TypeScript client to it, and shows a form
 * for each tool. `<html data-state>` is `connecting`, `ready` or `failed`.
 */

import { Client } from "./mcp-client.js";
import { FrameTransport } from "./host.js";
import { callOnSubmit } from "./element-call.js";
import { makeForm } from "./element-form.js";
import { make } from "./element-parts.js";
import { visible } from "./visible.js";

const $ = (id) => document.getElementById(id);

function show(state, text) {
  document.documentElement.dataset.state = state;
  $("status").textContent = visible(text);
}

/** Create a card with a tool's name, description, form and last result. */
function toolCard(client, tool, at) {
  const form = makeForm(tool.inputSchema, `tool-${at}`);
  for (const { name, input } of form.fields) input.name = name;
  const button = make("button", { type: "submit" }, "Call");
  const result = make("div", { class: "result", "aria-live": "polite" });
  form.element.append(button);
  callOnSubmit(
    form,
    (args, options) => client.callTool({ name: tool.name, arguments: args }, options),
    (state, parts) => {
      button.disabled = state === "calling";
      result.dataset.state = state;
      result.replaceChildren(...(button.disabled ? ["Calling…"] : parts));
    },
    (text) => {
      result.textContent = visible(`Calling… ${text}`);
    },
  );
  const description = make("p", { class: "description", hidden: !tool.description }, tool.description ?? "");
  return make(
    "article",
    { "data-tool": tool.name },
    make("h3", {}, tool.title ?? tool.name),
    description,
    form.element,
    result,
  );
}

async function main() {
  const { url } = await (await fetch("config.json")).json();
  $("outer-origin").textContent = location.origin;
  $("inner-origin").textContent = new URL(url).origin;

  const client = new Client({ name: "mcpframe-demo", version: "0.1.0" });
  const transport = new FrameTransport({ iframe: document.querySelector("iframe"), url, timeout: 90_000 });
  await client.connect(transport);

  const server = client.getServerVersion();
  const name = visible(server?.title ?? server?.name ?? "MCP server");
  $("title").textContent = name;
  $("session").textContent = transport.frameSessionId;
  $("frame").title = name;
  document.title = `${name} · mcpframe demo host`;
  const { tools } = await client.listTools();
  $("tools").replaceChildren(...tools.map((tool, at) => toolCard(client, tool, at)));
  client.onclose = () => show("failed", "The framed page is gone. Reload to start again.");
  show("ready", `Connected: ${tools.length} ${tools.length === 1 ? "tool" : "tools"}.`);
}

main().catch((error) => {
  console.error(error);
  show("failed", `Could not connect: ${error.message}`);
});
