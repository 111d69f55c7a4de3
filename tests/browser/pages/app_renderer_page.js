/** A host of MCP Apps with the `AppRenderer` of `@mcp-ui/client` 7, for a test to drive. */
import { AppRenderer } from "@mcp-ui/client";
import { createElement } from "react";
import { createRoot } from "react-dom/client";

const notes = [];
const note = (kind, answer) => async (params) => {
  notes.push([kind, params]);
  return answer;
};

window.ui = {
  notes,

  /** Renders the text of a view behind a sandbox proxy. Each call of a tool has this answer. */
  open(html, proxy, props, answer) {
    const handlers = {
      onOpenLink: note("link", {}),
      onMessage: note("message", {}),
      onCallTool: note("tool", answer),
      onSizeChanged: note("size"),
      onError: (error) => note("error")(String(error)),
    };
    const sandbox = { url: new URL(proxy) };
    const element = createElement(AppRenderer, { html, sandbox, toolName: "show", ...handlers, ...props });
    createRoot(document.getElementById("place")).render(element);
  },
};
document.documentElement.dataset.state = "loaded";
