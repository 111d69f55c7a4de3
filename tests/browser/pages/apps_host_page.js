/** A host of MCP Apps with the official `AppBridge`, for a test to drive. */
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

const notes = [];
let wake = () => {};
const note = (kind, value) => {
  notes.push({ kind, value });
  wake();
};

const CAPABILITIES = {
  openLinks: {},
  downloadFile: {},
  serverTools: {},
  serverResources: {},
  logging: {},
  message: { text: {} },
  updateModelContext: { text: {} },
  sampling: {},
};

window.apps = {
  /** The events that nobody answers. */
  silent: new Set(),

  /**
   * Frames the view, and resolves once it is initialized. `answers` has a result, or an error's text, by event name.
   * With `html`, that text is the view, in the sandbox proxy at `url`. Without a `url`, the view is in the page's frame.
   */
  async open(url, { context = {}, answers = {}, html = null, sandbox } = {}) {
    const there = url ? null : document.querySelector("iframe");
    const iframe = there ?? document.body.appendChild(document.createElement("iframe"));
    this.iframe = iframe;
    this.bridge = new AppBridge(null, { name: "A host", version: "3" }, CAPABILITIES, { hostContext: context });
    const { bridge } = this;
    const others = {};
    for (const [event, answer] of Object.entries(answers)) {
      const handle = async (params, extra) => {
        note(event, params);
        (extra?.mcpReq ?? extra)?.signal?.addEventListener("abort", () => note("cancelled", event));
        if (typeof answer === "string") throw new Error(answer);
        if (answer === null || this.silent.has(event)) return new Promise(() => {});
        return answer;
      };
      if (event.includes("/")) others[event] = handle;
      else bridge[event] = handle;
    }
    bridge.fallbackRequestHandler = async ({ method, params }) => {
      if (others[method]) return others[method](params);
      throw Object.assign(new Error("Method not found"), { code: -32601 });
    };
    bridge.fallbackNotificationHandler = async ({ method, params }) => note(method, params ?? null);
    bridge.onping = () => note("ping", {});
    bridge.onsizechange = (params) => note("size", params);
    bridge.onloggingmessage = (params) => note("log", params);
    bridge.onrequestteardown = (params) => note("request-teardown", params);
    const initialized = new Promise((resolve) => {
      bridge.oninitialized = resolve;
    });
    await bridge.connect(new PostMessageTransport(iframe.contentWindow, iframe.contentWindow));
    const asked = new Promise((resolve) => {
      addEventListener("message", ({ source, data }) => {
        if (source === iframe.contentWindow) note("wire", data);
        if (data?.method === "ui/initialize") resolve(data.params);
      });
    });
    if (html !== null) bridge.onsandboxready = () => bridge.sendSandboxResourceReady({ html, sandbox });
    if (url) iframe.src = url;
    await initialized;
    return asked;
  },

  /** Calls a method of the bridge; what it reports meanwhile is noted, and `stop` cancels it after the first report. */
  async call(method, params, { stop = false } = {}) {
    const abort = new AbortController();
    const onprogress = (progress) => {
      note("progress", progress);
      if (stop) abort.abort("enough");
    };
    const options = method === "callTool" ? { onprogress, signal: abort.signal } : undefined;
    try {
      return { result: (await this.bridge[method](params, options)) ?? null };
    } catch (error) {
      return { error: String(error.message ?? error), code: error.code ?? null };
    }
  },

  /** Sends a request of JSON-RPC that the bridge has no method for, past the bridge. */
  raw(message) {
    return new Promise((resolve) => {
      addEventListener("message", ({ source, data }) => {
        if (source === this.iframe.contentWindow && data?.id === message.id && !data.method) resolve(data);
      });
      this.iframe.contentWindow.postMessage(message, "*");
    });
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

  count: (kind) => notes.filter((each) => each.kind === kind).length,
};
document.documentElement.dataset.state = "loaded";
