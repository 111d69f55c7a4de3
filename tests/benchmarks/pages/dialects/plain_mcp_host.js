/** A client of plain MCP with the official transport, of a server in a frame. */
import { Client } from "@modelcontextprotocol/client";
import { PostMessageTransport } from "@modelcontextprotocol/ext-apps";
import { callEcho } from "../calling.js";

const clients = new Map();

/** No more than the dialect needs: the official transport checks each message a second time. */
class ByHand {
  constructor(frame) {
    this.frame = frame;
  }
  async start() {
    addEventListener("message", ({ source, data }) => {
      if (source === this.frame && data?.jsonrpc) this.onmessage?.(data);
    });
  }
  async send(message) {
    this.frame.postMessage(message, "*");
  }
  async close() {}
}

globalThis.bench = {
  async open(peer, url, { byHand = false } = {}) {
    const iframe = document.body.appendChild(document.createElement("iframe"));
    const loaded = new Promise((done) => iframe.addEventListener("load", done, { once: true }));
    iframe.src = url;
    await loaded;
    const client = new Client({ name: "benchmark", version: "1.0.0" });
    const frame = iframe.contentWindow;
    await client.connect(byHand ? new ByHand(frame) : new PostMessageTransport(frame, frame));
    clients.set(peer, client);
  },
  calls: (peer, ...given) => callEcho(clients.get(peer), ...given),
};
