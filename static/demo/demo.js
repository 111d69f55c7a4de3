/**
 * A small host: it frames the page named in config.json, connects the official TypeScript client to it, and shows a form
 * for each tool. `<html data-state>` is `connecting`, `ready` or `failed`.
 */

import { Client } from "./mcp-client.js";
import { FrameTransport } from "./host.js";
import { makeForm } from "./form.js";
import { showResult } from "./result.js";
import { visible } from "./visible.js";

const $ = (id) => document.getElementById(id);

function show(state, text) {
  document.documentElement.dataset.state = state;
  $("status").textContent = visible(text);
}

function element(name, text, attributes = {}) {
  const created = document.createElement(name);
  if (text) created.textContent = visible(text);
  for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, value);
  return created;
}

/** Create a card with a tool's name, description, form and last result. */
function toolCard(client, tool) {
  const card = element("article", "", { "data-tool": tool.name });
  const form = makeForm(tool.inputSchema, tool.name);
  const button = element("button", "Call", { type: "submit" });
  const result = element("div", "", { class: "result", "aria-live": "polite" });
  form.element.append(button);
  form.element.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    result.dataset.state = "pending";
    const waiting = element("p", "Calling…");
    result.replaceChildren(waiting);
    const onprogress = ({ progress, total, message }) => {
      waiting.textContent = visible(`Calling… ${message ?? (total ? `${progress} of ${total}` : progress)}`);
    };
    try {
      const answer = await client.callTool({ name: tool.name, arguments: form.read() }, { onprogress });
      showResult(result, answer);
    } catch (error) {
      showResult(result, { isError: true, content: [{ type: "text", text: error.message }] });
    } finally {
      button.disabled = false;
    }
  });
  card.append(element("h3", tool.title ?? tool.name));
  if (tool.description) card.append(element("p", tool.description, { class: "description" }));
  card.append(form.element, result);
  return card;
}

async function main() {
  const { url } = await (await fetch("config.json")).json();
  $("outer-origin").textContent = location.origin;
  $("inner-origin").textContent = new URL(url).origin;

  const client = new Client({ name: "mcpframe-demo", version: "0.1.0" });
  const transport = new FrameTransport({ iframe: $("frame"), url, timeout: 90_000 });
  await client.connect(transport);

  const server = client.getServerVersion();
  const name = visible(server?.title ?? server?.name ?? "MCP server");
  $("title").textContent = name;
  $("session").textContent = transport.frameSessionId;
  $("frame").title = name;
  document.title = `${name} · mcpframe demo host`;
  const { tools } = await client.listTools();
  $("tools").replaceChildren(...tools.map((tool) => toolCard(client, tool)));
  client.onclose = () => show("failed", "The framed page is gone. Reload to start again.");
  show("ready", `Connected: ${tools.length} ${tools.length === 1 ? "tool" : "tools"}.`);
}

main().catch((error) => {
  console.error(error);
  show("failed", `Could not connect: ${error.message}`);
});
