/** The official TypeScript client over `FrameTransport`, for a test to drive. */
import { Client, LOG_LEVEL_META_KEY, SUPPORTED_PROTOCOL_VERSIONS } from "./mcp-client.js";
import { FrameTransport } from "./host.js";

const notes = [];
let wake = () => {};
const note = (kind, value) => {
  notes.push({ kind, value });
  wake();
};

const modes = { legacy: "legacy", modern: { pin: "2026-07-28" }, auto: "auto" };
const answers = {};
const asks = (method) => (request) => {
  note("asked", { method, params: request.params });
  return answers[method];
};

window.mcp = {
  async connect(url, era, revision) {
    const iframe = document.body.appendChild(document.createElement("iframe"));
    this.logLevel = null;
    this.era = era;
    const listChanged = {};
    for (const list of ["tools", "prompts", "resources"]) {
      listChanged[list] = { autoRefresh: false, debounceMs: 0, onChanged: () => note("changed", list) };
    }
    this.client = new Client(
      { name: "tests", version: "1.0.0" },
      {
        capabilities: { elicitation: { form: {} }, roots: {}, sampling: {} },
        versionNegotiation: { mode: modes[era] },
        supportedProtocolVersions: [...new Set([revision, ...SUPPORTED_PROTOCOL_VERSIONS])],
        listChanged,
      },
    );
    for (const method of ["elicitation/create", "roots/list", "sampling/createMessage"]) {
      this.client.setRequestHandler(method, asks(method));
    }
    this.client.setNotificationHandler("notifications/message", ({ params }) => note("log", params));
    this.client.onclose = () => note("closed", null);
    this.transport = new FrameTransport({ iframe, url });
    await this.client.connect(this.transport);
    return this.client.getNegotiatedProtocolVersion();
  },

  answer(method, result) {
    answers[method] = result;
  },

  async setLogLevel(level) {
    if (this.era !== "modern") await this.client.setLoggingLevel(level);
    else this.logLevel = level;
  },

  call(name, args) {
    const _meta = this.logLevel ? { [LOG_LEVEL_META_KEY]: this.logLevel } : undefined;
    this.abort = new AbortController();
    const options = { onprogress: (progress) => note("progress", progress), signal: this.abort.signal };
    return this.client.callTool({ name, arguments: args, ...(_meta && { _meta }) }, options);
  },

  /** Give the error's message where there is one, so that a test can tell it from an answer. */
  async failure(promise) {
    return promise.then(
      () => null,
      (error) => error.message,
    );
  },

  async next(kind) {
    for (;;) {
      const at = notes.findIndex((entry) => entry.kind === kind);
      if (at >= 0) return notes.splice(at, 1)[0].value;
      await new Promise((resolve) => (wake = resolve));
    }
  },

  forget() {
    notes.length = 0;
  },
};
