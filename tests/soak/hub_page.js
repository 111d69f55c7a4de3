/** A page server of MCP-B by hand, for the hub's soak. What it answers says which page it is: its address's query. */
const me = location.search.slice(1);
const waiting = new Set();
let tools = ["echo", "wait", "grow"];

const say = (payload) =>
  window.postMessage({ channel: "mcp-default", type: "mcp", direction: "server-to-client", payload }, location.origin);
const text = (value) => ({ content: [{ type: "text", text: value }] });

function call(id, { name, arguments: given, _meta }) {
  if (name === "wait") {
    waiting.add(id);
    const params = { progressToken: _meta?.progressToken ?? id, progress: 1 };
    return say({ jsonrpc: "2.0", method: "notifications/progress", params });
  }
  if (name === "grow") {
    tools = tools.length > 3 ? tools.slice(0, 3) : [...tools, "more"];
    say({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  }
  return say({ jsonrpc: "2.0", id, result: text(`${me}: ${waiting.size} ${given.text ?? ""}`) });
}

window.addEventListener("message", ({ data }) => {
  if (data?.type !== "mcp" || data.direction !== "client-to-server") return;
  const { payload } = data;
  if (payload === "mcp-check-ready") return say("mcp-server-ready");
  const { id, method, params } = payload;
  if (method === "initialize") {
    const capabilities = { tools: { listChanged: true } };
    const serverInfo = { name: "soaked", version: "1" };
    say({ jsonrpc: "2.0", id, result: { protocolVersion: "2025-11-25", capabilities, serverInfo } });
  } else if (method === "tools/list") {
    const listed = tools.map((name) => ({ name, description: me, inputSchema: { type: "object" } }));
    say({ jsonrpc: "2.0", id, result: { tools: listed } });
  } else if (method === "tools/call") {
    call(id, params);
  } else if (method === "notifications/cancelled") {
    waiting.delete(params.requestId);
  }
});
say("mcp-server-ready");
