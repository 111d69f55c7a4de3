/**
 * The front end of `mcpframe.hosts.playground(server)`: an anywidget with the view of `<mcp-server>`, without a server's page.
 *
 *     render       a session begins: the official client, over the widget's messages
 *     removed      the session ends
 *     ended        by the kernel, as it is restarted: the button "Start again" opens another
 */

import { Session } from "../host/element-session.js";
import { View } from "../host/element-view.js";
import { WidgetTransport } from "./transport.js";

/** @import { WidgetModel } from "./transport.js" */

/**
 * @param {{ model: WidgetModel, el: HTMLElement }} place
 * @returns {() => void} called when the view is removed
 */
function render({ model, el }) {
  const place = el.appendChild(document.createElement("div"));
  let name = model.get("label");
  /** @type {Session | null} */
  let session = null;
  const call = (tool, args, options) => session.call(tool, args, options);
  const view = new View(place.attachShadow({ mode: "open" }), { start: open, setup() {}, call });
  view.showTools(true);

  function fail(error) {
    view.stop();
    session?.end();
    view.enter("failed", error.message);
    view.rename(name, true, true);
  }

  async function open() {
    session?.end();
    const mine = new Session({
      onstatus: (text) => view.say(text),
      ontools: (tools) => view.list(tools),
      onunresponsive() {},
      onsetuprequired() {},
      onask: (params, signals) => view.ask(params, { name, origin: "this notebook" }, signals),
      onover: fail,
    });
    session = mine;
    view.enter("loading", "Starting…");
    view.rename(name, true, true);
    try {
      const tools = await mine.open(() => /** @type {any} */ (new WidgetTransport(model)), false);
      const server = mine.client.getServerVersion();
      name = server?.title || server?.name || name;
      view.list(tools);
      view.enter("ready", `Ready: ${tools.length} ${tools.length === 1 ? "tool" : "tools"}.`);
      view.rename(name, true, true);
    } catch (error) {
      if (session === mine) fail(error);
    }
  }

  open();
  return () => {
    view.stop();
    session?.end();
    session = null;
  };
}

export default { render };
