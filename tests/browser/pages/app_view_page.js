/** A view of MCP Apps with the official `App`, for a test to drive. */
import { App } from "@modelcontextprotocol/ext-apps";

const notes = [];
let wake = () => {};
const note = (kind, value) => {
  notes.push({ kind, value });
  wake();
};

const app = new App(
  { name: "An official view", version: "7" },
  { tools: { listChanged: true }, availableDisplayModes: ["inline", "fullscreen"] },
);
app.ontoolinputpartial = (params) => note("partial", params.arguments);
app.ontoolinput = (params) => note("input", params.arguments);
app.ontoolresult = (params) => note("result", params);
app.ontoolcancelled = (params) => note("cancelled", params);
app.onhostcontextchanged = (params) => note("context", params);
app.onteardown = async (params) => {
  await app.sendLog({ level: "info", data: { last: params.reason ?? "words" } });
  return {};
};
app.onlisttools = async () => ({
  tools: [
    {
      name: "zoom",
      description: "Zoom the map",
      inputSchema: { type: "object", properties: { by: { type: "number" } } },
    },
  ],
});
app.oncalltool = async ({ name, arguments: given }) => ({
  content: [{ type: "text", text: `${name} ${JSON.stringify(given)}` }],
});

window.view = {
  app,
  origin: self.origin,

  /** Calls a method of the app. */
  async call(method, ...given) {
    try {
      return { result: (await app[method](...given)) ?? null };
    } catch (error) {
      return { error: error.message, code: error.code ?? null };
    }
  },

  /** Sends a request that the app has no method for. */
  async raw(method, params) {
    const id = `raw ${Math.random()}`;
    const answered = new Promise((resolve) => {
      addEventListener("message", function heard({ data }) {
        if (data?.id !== id || data.method) return;
        removeEventListener("message", heard);
        resolve(data);
      });
    });
    parent.postMessage({ jsonrpc: "2.0", id, method, params }, "*");
    return answered;
  },

  /** The next note of a kind that has not been taken yet. */
  async taken(kind) {
    for (;;) {
      const at = notes.findIndex((each) => each.kind === kind);
      if (at >= 0) return notes.splice(at, 1)[0].value;
      await new Promise((resolve) => {
        wake = resolve;
      });
    }
  },
};
await app.connect();
document.documentElement.dataset.state = "connected";
