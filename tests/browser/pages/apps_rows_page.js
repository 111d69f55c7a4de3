/** A view with the official `App`, for a test to drive: `view` is what it heard, and the way to its host. */
import { App } from "@modelcontextprotocol/ext-apps";

const TOOLS = [
  { name: "add", inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } } },
  { name: "work", inputSchema: { type: "object" } },
];
const app = new App({ name: "A view", version: "1.2" }, { tools: { listChanged: true } });
const heard = [];
const note = (kind) => (value) => {
  heard.push([kind, value ?? null]);
};
let raws = 0;

app.ontoolinputpartial = note("partial");
app.ontoolinput = note("input");
app.ontoolresult = note("result");
app.ontoolcancelled = note("cancelled");
app.onhostcontextchanged = note("context");
app.onteardown = async (params) => {
  note("teardown")(params);
  await app.sendLog({ level: "info", data: "last words" });
  return {};
};
app.onlisttools = async () => ({ tools: TOOLS });
app.oncalltool = async ({ name, arguments: given }, extra) => {
  const { signal, notify, sendNotification } = extra.mcpReq ?? extra;
  if (name === "add") {
    const sum = given.a + given.b;
    return { content: [{ type: "text", text: String(sum) }], structuredContent: { result: sum } };
  }
  const progressToken = (extra.mcpReq ?? extra)._meta?.progressToken;
  const params = { progressToken, progress: 1, total: 2, message: "on it" };
  await (notify ?? sendNotification)({ method: "notifications/progress", params });
  return new Promise((_, fail) =>
    signal.addEventListener("abort", () => {
      note("stopped")(name);
      fail(new Error("stopped"));
    }),
  );
};
app.fallbackNotificationHandler = async ({ method }) => note(method)(null);

const outcome = async (promise) => {
  try {
    return { result: (await promise) ?? null };
  } catch (error) {
    return { error: String(error.message ?? error), code: error.code ?? null };
  }
};

globalThis.view = {
  heard,
  connected: app.connect().then(() => ({
    host: app.getHostVersion(),
    capabilities: app.getHostCapabilities(),
    context: app.getHostContext(),
  })),
  /** Calls a method of the app. */
  call: (method, ...given) => outcome(app[method](...given)),
  /** Calls a tool of the server, noting its progress. */
  callTool: (params) => outcome(app.callServerTool(params, { onprogress: note("progress") })),
  /** Begins a request, for `cancel`. */
  begin(method, params) {
    const abort = new AbortController();
    this.begun = { abort, asked: outcome(app[method](params, { signal: abort.signal })) };
  },
  /** Cancels the request that was begun last; returns what came of it. */
  async cancel() {
    this.begun.abort.abort("enough");
    return this.begun.asked;
  },
  /** Sends a request that the app has no method for. */
  raw(method, params) {
    const id = `raw ${++raws}`;
    return new Promise((resolve) => {
      addEventListener("message", ({ source, data }) => {
        if (source === parent && data?.id === id && !data.method) resolve(data);
      });
      parent.postMessage({ jsonrpc: "2.0", id, method, params }, "*");
    });
  },
};
