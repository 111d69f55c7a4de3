/** A host of mcp-ui with its official `UIResourceRenderer`, for a test to drive. */
import { UIResourceRenderer } from "@mcp-ui/client";
import { createElement } from "react";
import { createRoot } from "react-dom/client";

const notes = [];
let wake = () => {};
const note = (kind, value) => {
  notes.push({ kind, value });
  wake();
};

addEventListener("message", ({ source, data }) => {
  if (source === document.querySelector("iframe")?.contentWindow) note("wire", data);
});

const ANSWERS = {
  text: (answer) => answer,
  error: (message) => {
    throw new TypeError(message);
  },
  throws: (value) => {
    throw value;
  },
  uncloneable: () => () => {},
  never: () => new Promise(() => {}),
};

let root;

window.ui = {
  /** Renders a resource. `answers` has by type of action how it is answered: `[how, value]`; without it there is no handler. */
  open(resource, { answers = null, htmlProps = {} } = {}) {
    root ??= createRoot(document.getElementById("place"));
    const onUIAction = async (action) => {
      note("action", action);
      const [how, value] = answers[action.type] ?? ["text", undefined];
      return ANSWERS[how](value);
    };
    const props = { resource, htmlProps, ...(answers ? { onUIAction } : {}) };
    root.render(createElement(UIResourceRenderer, props));
  },

  close() {
    root.render(null);
  },

  /** The next note of a kind that has not been taken yet. */
  async taken(kind) {
    for (;;) {
      const at = notes.findIndex((each) => each.kind === kind);
      if (at >= 0) return notes.splice(at, 1)[0].value ?? null;
      await new Promise((resolve) => {
        wake = resolve;
      });
    }
  },

  all: (kind) => notes.filter((each) => each.kind === kind).map(({ value }) => value),
};
document.documentElement.dataset.state = "loaded";
