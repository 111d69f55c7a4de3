/** The shadow tree of `<mcp-server>`: the server's page, the status with its buttons, questions, and the tools. */

import { make } from "./element-parts.js";
import { Questions } from "./element-questions.js";
import { styleSheet } from "./element-style.js";
import { ToolView } from "./element-tool.js";
import { visible } from "./visible.js";

/** @import { ElicitRequestParams, Tool } from "@modelcontextprotocol/client" */
/** @import { Calls } from "./element-tool.js" */

export class View {
  #calls;
  #failed = false;
  /** What the user has to know until the state changes, whatever else is said. */
  #standing = "";
  /** @type {Map<string, ToolView>} */
  #tools = new Map();
  #listed = 0;

  #page = make("div");
  #poster = make("slot");
  #status = make("p", { class: "status", part: "status", role: "status", tabindex: "-1" });
  #start = make("button", { type: "button", class: "main", part: "start" });
  #setup = make("button", { type: "button", class: "main", part: "setup", hidden: true }, "Set up");
  #questions = new Questions();
  #list = make("div", { part: "tools", hidden: true });

  /**
   * @param {ShadowRoot} root
   * @param {{ start: () => void, setup: () => void, call: Calls["call"] }} actions of the user
   */
  constructor(root, { start, setup, call }) {
    root.adoptedStyleSheets = [styleSheet()];
    this.#calls = { call, say: (text) => this.say(text) };
    const bar = make("div", { class: "bar", part: "bar" }, this.#start, this.#setup, this.#status);
    root.append(this.#page, this.#poster, bar, this.#questions.element, this.#list);
    this.#start.addEventListener("click", start);
    this.#setup.addEventListener("click", setup);
  }

  /**
   * Show a state, and say what has happened.
   * @param {"idle" | "loading" | "ready" | "failed"} state
   * @param {string} text
   */
  enter(state, text) {
    const focused = this.#start.matches(":focus") || this.#setup.matches(":focus");
    this.#failed = state === "failed";
    this.#poster.hidden = state !== "idle";
    this.#start.hidden = state === "loading" || state === "ready";
    this.#setup.hidden = true;
    this.#list.inert = state !== "ready";
    this.#page.hidden = this.#failed && !this.#page.querySelector("iframe[src]"); // no page, as its address is wrong
    this.#standing = "";
    this.say(text);
    if (focused && this.#start.hidden) this.#status.focus(); // rather than lose the focus with the button
  }

  /** @param {string} text */
  say(text) {
    this.#status.classList.toggle("failed", this.#failed);
    this.#status.textContent = visible([this.#standing, text].filter(Boolean).join(" "));
  }

  /** Say that the server does not answer, and offer to start it again; or take that back. */
  unresponsive(silent) {
    this.#standing = silent ? "The server does not answer." : "";
    this.#start.hidden = !silent;
    this.say("");
  }

  /** Offer the server's setup, without which its tools may not be used if it `blocks`. */
  offerSetup(message, blocks) {
    this.#standing = message || "The server needs its setup.";
    this.#setup.hidden = false;
    this.#list.inert = blocks;
    this.say("");
  }

  /**
   * Name the server.
   * @param {string} name
   * @param {boolean} again whether it has been started
   * @param {boolean} startable
   */
  rename(name, again, startable) {
    this.#start.textContent = again ? "Start again" : visible(`Start ${name}`);
    this.#start.disabled = !startable;
    for (const iframe of this.#page.querySelectorAll("iframe")) iframe.title = visible(name);
  }

  /** Return a new iframe for the server's page. @param {boolean} shown */
  frame(shown) {
    const iframe = make("iframe", { part: "page", hidden: !shown });
    this.#page.replaceChildren(iframe);
    return iframe;
  }

  /**
   * Show a question of the server, and return the user's answer; see `Questions.ask`.
   * @param {ElicitRequestParams} params
   * @param {{ name: string, origin: string }} asker
   * @param {AbortSignal[]} signals
   */
  ask(params, asker, signals) {
    this.say(`${asker.name} asks.`);
    return this.#questions.ask(params, asker, signals);
  }

  /** Show or hide the tools. @param {boolean} shown */
  showTools(shown) {
    this.#list.hidden = !shown;
  }

  /** Show the tools; those that are listed as before keep what was entered. @param {Tool[]} tools */
  list(tools) {
    const earlier = this.#tools;
    this.#tools = new Map();
    for (const tool of tools) {
      const view = earlier.get(tool.name);
      const same = view?.text === JSON.stringify(tool);
      this.#tools.set(tool.name, same ? view : new ToolView(tool, `tool-${this.#listed++}`, this.#calls));
    }
    const elements = [...this.#tools.values()].map((view) => view.element);
    if (elements.length === 1) elements[0].open = true;
    this.#list.replaceChildren(...elements);
  }

  /** Stop all calls. */
  stop() {
    for (const view of this.#tools.values()) view.stop();
  }

  /** Remove the page and the tools. */
  clear() {
    this.#page.replaceChildren();
    this.list([]);
  }
}
