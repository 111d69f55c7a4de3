/** A host of MCP Apps with the official `AppBridge`. */
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";
import { callEcho } from "../calling.js";

const clients = new Map();

globalThis.bench = {
  async open(peer, url) {
    const iframe = document.body.appendChild(document.createElement("iframe"));
    const bridge = new AppBridge(null, { name: "benchmark", version: "1.0.0" }, {});
    const initialized = new Promise((resolve) => {
      bridge.oninitialized = resolve;
    });
    await bridge.connect(new PostMessageTransport(iframe.contentWindow, iframe.contentWindow));
    iframe.src = url;
    await initialized;
    clients.set(peer, bridge);
  },
  calls: (peer, ...given) => callEcho(clients.get(peer), ...given),
};
