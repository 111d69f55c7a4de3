/** A host with the official TypeScript client over host.js, in the two phases of a person's session. */
import { Client } from "./mcp-client.js";
import { FrameTransport } from "./host.js";

const updates = [];
let wake = () => {};

window.lab = {
  sessionId: crypto.randomUUID(),

  frame(url, visibility, options = {}) {
    document.querySelector("iframe")?.remove();
    const iframe = document.body.appendChild(document.createElement("iframe"));
    iframe.hidden = true;
    const { sessionId } = this;
    this.transport = new FrameTransport({ iframe, url, sessionId, ...(visibility && { visibility }), ...options });
  },

  setUp(url) {
    this.frame(url);
    this.abort = new AbortController();
    this.setup = this.transport.setup({ signal: this.abort.signal });
    this.setup.catch(() => {}); // who wants the result is told
  },

  async connect(url, visibility, options) {
    this.frame(url, visibility, options);
    this.client = new Client({ name: "tests", version: "1.0.0" });
    this.client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      updates.push(params.uri);
      wake();
    });
    await this.client.connect(this.transport);
  },

  async call(name, args) {
    const progress = [];
    const options = { onprogress: (step) => progress.push(step.progress), timeout: 120_000 };
    return { ...(await this.client.callTool({ name, arguments: args }, options)), progress };
  },

  async nextUpdate() {
    while (!updates.length) await new Promise((resolve) => (wake = resolve));
    return updates.shift();
  },
};
