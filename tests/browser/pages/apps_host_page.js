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
  /** Frames the view, and resolves once it is initialized. `answers` has a result, or an error's text, by event name. */
  async open(url, { context = {}, answers = {} } = {}) {
    const iframe = document.body.appendChild(document.createElement("iframe"));
    this.iframe = iframe;
    this.bridge = new AppBridge(null, { name: "A host", version: "3" }, CAPABILITIES, { hostContext: context });
    const { bridge } = this;
    for (const [event, answer] of Object.entries(answers)) {
      bridge[event] = async (params) => {
        note(event, params);
        if (typeof answer === "string") throw new Error(answer);
        if (answer === null) return new Promise(() => {});
        return answer;
      };
    }
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
    iframe.src = url;
    await initialized;
    return asked;
  },

  /** Calls a method of the bridge. */
  async call(method, params) {
    try {
      return { result: (await this.bridge[method](params)) ?? null };
    } catch (error) {
      return { error: error.message, code: error.code ?? null };
    }
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
