// Stands in for a view that cannot run. To the host of MCP Apps it is a view: it initializes, so that the host shows it,
// reports its size, and shows the reason and the text of the tool's result.

import { contentHeight, watchSizes } from "./size.js";

const SIZE = "ui/notifications/size-changed";
const NOTE = "font-size:13px;color:var(--color-text-secondary,color-mix(in srgb,CanvasText 70%,Canvas))";

function add(parent, tag, text, style) {
  const child = parent.appendChild(document.createElement(tag));
  child.textContent = text;
  child.style.cssText = style;
  return child;
}

/**
 * Applies the theme and the variables of a host's context to this document.
 * @param {{ theme?: string, styles?: { variables?: Record<string, string> } }} context
 */
export function applyHostContext(context) {
  const { theme, styles } = context ?? {};
  const root = document.documentElement;
  if (theme === "light" || theme === "dark") {
    root.dataset.theme = theme;
    root.style.colorScheme = theme;
  }
  for (const [name, value] of Object.entries(styles?.variables ?? {})) root.style.setProperty(name, value);
}

/** Returns the text of a tool's result. */
export function textOf({ content, structuredContent }) {
  const texts = Array.isArray(content) ? content.filter(({ type }) => type === "text").map(({ text }) => text) : [];
  if (texts.length) return texts.join("\n");
  return structuredContent ? JSON.stringify(structuredContent, null, 2) : "The tool's result has no text.";
}

/** Returns the JSON-RPC message of a message event, which may be JSON text; null for anything else. */
export function read({ data }) {
  let message = data;
  if (typeof data === "string" && data.startsWith("{")) {
    try {
      message = JSON.parse(data);
    } catch {
      return null;
    }
  }
  return message?.jsonrpc === "2.0" ? message : null;
}

/** Returns whether the policy of this document allows WebAssembly. */
export function allowsWebAssembly() {
  try {
    new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {HTMLElement} body where to write: the body of the page
 * @param {string} why the reason, for the user; empty if the page shows it
 * @param {(message: any) => void} post posts a message to the host
 * @param {object} opening
 * @param {any} opening.id the id of the `ui/initialize` that was posted
 * @param {any} [opening.answer] the host's answer to it, if there is one already
 * @param {boolean} [opening.initialized] whether the view is initialized already
 * @param {string} [opening.url] an address of the same page, for hosts that open links
 * @returns `hear`, to be called with each message of the host, and `stop`
 */
export function standIn(body, why, post, { id, answer, initialized, url }) {
  const box = add(body, "section", "", "box-sizing:border-box;padding:12px 16px;overflow-wrap:anywhere");
  box.style.cssText +=
    ";color:var(--color-text-primary,CanvasText);font:14px/1.5 var(--font-sans,system-ui,sans-serif)";
  box.id = "mcpframe-stand-in";
  if (why) add(box, "p", why, `${NOTE};margin:0 0 8px`).setAttribute("role", "alert");
  box.hidden = !why;
  const result = add(box, "pre", "", "margin:0;white-space:pre-wrap;font:inherit");
  let opened = false;
  let last = 0;
  const show = (text) => {
    result.textContent = text;
    box.hidden = false;
  };
  const open = ({ hostContext, hostCapabilities }) => {
    opened = true;
    applyHostContext(hostContext);
    if (!initialized) post({ jsonrpc: "2.0", method: "ui/notifications/initialized", params: {} });
    if (why && hostCapabilities?.logging) {
      post({
        jsonrpc: "2.0",
        method: "notifications/message",
        params: { level: "error", logger: "mcpframe", data: why },
      });
    }
    if (url && hostCapabilities?.openLinks) {
      add(box, "button", "Open it in a page of its own", "margin-top:12px;font:inherit").addEventListener("click", () =>
        post({ jsonrpc: "2.0", id: "mcpframe/open", method: "ui/open-link", params: { url } }),
      );
    }
    watched.sizes.observe(box);
    watched.schedule();
  };

  const report = () => {
    const height = contentHeight();
    if (height === last) return;
    last = height;
    post({ jsonrpc: "2.0", method: SIZE, params: { width: Math.ceil(innerWidth), height } });
  };
  const watched = watchSizes(report);

  const hear = (message) => {
    const { method, params = {} } = message;
    if (method === undefined) {
      if (opened || message.id !== id || !message.result) return;
      open(message.result);
    } else if (message.id !== undefined) {
      const answer =
        method === "ui/resource-teardown" || method === "ping"
          ? { result: {} }
          : { error: { code: -32601, message: "This view does not run." } };
      post({ jsonrpc: "2.0", id: message.id, ...answer });
    } else if (method === "ui/notifications/host-context-changed") {
      applyHostContext(params);
    } else if (method === "ui/notifications/tool-result") {
      show(textOf(params));
    } else if (method === "ui/notifications/tool-cancelled") {
      show(`The tool call was cancelled${params.reason ? `: ${params.reason}` : ""}.`);
    }
  };
  const stop = () => {
    watched.stop();
    opened = false;
    box.remove();
  };
  if (answer) open(answer);
  return { hear, stop };
}
