/** A host of mcp-ui with its official renderer. The frames take the actions, and say how long each took. */
import { UIResourceRenderer } from "@mcp-ui/client";
import { createElement } from "react";
import { createRoot } from "react-dom/client";
import { textOf } from "../calling.js";

/** Of each peer: its last question what to do next, which is answered when there is something to do. */
const peers = new Map();

function render(url, onUIAction) {
  const resource = { uri: "ui://benchmark/page", mimeType: "text/uri-list", text: url };
  const htmlProps = { iframeRenderData: { theme: "light" } };
  const place = document.body.appendChild(document.createElement("div"));
  createRoot(place).render(createElement(UIResourceRenderer, { resource, htmlProps, onUIAction }));
}

globalThis.bench = {
  /** Milliseconds from the rendering until the page has taken its first action. */
  start(url) {
    const began = performance.now();
    return new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error("the page takes no action")), 60_000);
      render(url, async ({ type, payload }) => {
        if (type === "intent" && payload.intent === "next") resolve({ answered: performance.now() - began });
        return { texts: [] };
      });
    });
  },

  open(peer, url) {
    return new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error("the page takes no action")), 60_000);
      render(url, async ({ type, payload }) => {
        if (type === "tool") return { content: [{ type: "text", text: payload.params.text }] };
        if (type !== "intent" || payload.intent !== "next") return {};
        return new Promise((answer) => {
          peers.get(peer)?.measured(payload.params.samples);
          peers.set(peer, { answer });
          resolve();
        });
      });
    });
  },

  async calls(peer, count, length) {
    const asking = peers.get(peer);
    const measured = new Promise((resolve) => {
      asking.measured = resolve;
    });
    const began = performance.now();
    asking.answer({ texts: Array.from({ length: count }, () => textOf(length)) });
    const samples = await measured;
    if (samples.length !== count) throw new Error(`the page took ${samples.length} actions in place of ${count}`);
    return { samples, total: performance.now() - began };
  },
};
