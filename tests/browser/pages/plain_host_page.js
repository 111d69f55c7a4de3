/** A host with the official `Client` over the official `PostMessageTransport`, for a test to drive. */
import { Client } from "@modelcontextprotocol/client";
import { PostMessageTransport } from "@modelcontextprotocol/ext-apps";

const heard = [];
addEventListener("message", ({ data }) => heard.push(data?.method));

window.plain = {
  client: null,
  frame: null,
  /** The methods of the notifications. */
  told: [],

  /**
   * Frames the server, and connects to it as soon as its document is there: its first request is posted once. A `late`
   * host waits until Python has repeated the page's openings. The `frame` may be there already.
   */
  async connect(url, { late = false, frame = document.createElement("iframe") } = {}) {
    frame.src = url;
    frame.width = frame.height = "600";
    if (!frame.isConnected) document.body.append(frame);
    await new Promise((done) => frame.addEventListener("load", done, { once: true }));
    while (late && heard.filter((method) => method === "ui/initialize").length < 2)
      await new Promise(requestAnimationFrame);
    this.frame = frame;
    this.client = new Client({ name: "a host", version: "1.0.0" });
    this.client.fallbackNotificationHandler = async ({ method }) => void this.told.push(method);
    await this.client.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow), { timeout: 120_000 });
    // A transport with an id of a session initializes nothing.
    return (
      this.client.getServerVersion()?.name ?? (await this.client.listTools({}, { timeout: 120_000 })).tools[0].name
    );
  },
};
document.documentElement.dataset.state = "loaded";
