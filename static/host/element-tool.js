/** One tool in `<mcp-server>`: its form, the progress of its call, a button that stops it, and its result. */

import { callOnSubmit } from "./element-call.js";
import { makeForm } from "./element-form.js";
import { make } from "./element-parts.js";
import { visible } from "./visible.js";

/** @import { CallToolResult, Tool } from "@modelcontextprotocol/client" */

/**
 * What a tool's view needs of its element.
 * @typedef {object} Calls
 * @property {(name: string, args: Record<string, unknown>, options: { signal: AbortSignal, onprogress: (step: any) => void }) => Promise<CallToolResult>} call
 * @property {(text: string) => void} say Tells the user, in the element's status.
 */

export class ToolView {
  /** The tool as the server listed it, as JSON: a changed one gets a new view. */
  text;
  /** @type {HTMLDetailsElement} */
  element;
  #tool;
  #calls;
  #built = false;
  #send = make("button", { type: "submit", class: "main", part: "button call" }, "Call");
  #stop = make("button", { type: "button", part: "button stop" }, "Stop");
  #progress = make("progress", { part: "progress" });
  #message = make("p", { class: "message", part: "message" });
  #running = make("div", { class: "calling", hidden: true });
  #result = make("div", { class: "result", part: "result", role: "group", tabindex: "0", hidden: true });
  /** Stop its call, if there is one. @type {(reason: string) => void} */
  #end = () => {};

  /**
   * @param {Tool} tool
   * @param {string} id for the fields' ids, unlike those of other tools
   * @param {Calls} calls
   */
  constructor(tool, id, calls) {
    this.text = JSON.stringify(tool);
    this.#tool = tool;
    this.#calls = calls;
    this.#progress.setAttribute("aria-label", visible(`Progress of ${this.#title}`));
    this.#result.setAttribute("aria-label", visible(`Result of ${this.#title}`));
    this.#running.append(this.#stop, this.#progress, this.#message);
    this.#stop.addEventListener("click", () => this.#end("The user has stopped it."));
    const summary = make("summary", { part: "tool-name" }, this.#title);
    this.element = make("details", { class: "tool", part: "tool" }, summary);
    this.element.addEventListener("toggle", () => this.#built || this.#build(id)); // most tools are never opened
  }

  #build(id) {
    this.#built = true;
    const { name, description, inputSchema } = this.#tool;
    const form = makeForm(inputSchema, id);
    form.element.append(this.#send);
    this.#end = callOnSubmit(
      form,
      (args, options) => this.#calls.call(name, args, options),
      (state, parts) => this.#show(state, parts),
      (text, step) => this.#step(text, step),
    );
    const text = make("p", { class: "description", part: "description", hidden: !description }, description ?? "");
    this.element.append(make("div", { class: "body" }, text, form.element, this.#running, this.#result));
  }

  get #title() {
    return this.#tool.title || this.#tool.annotations?.title || this.#tool.name;
  }

  /** Stop its call, as its page goes. */
  stop() {
    this.#end("The page is closed.");
  }

  /** @param {string} text @param {{ progress: number, total?: number }} step */
  #step(text, { progress, total }) {
    if (typeof total === "number" && total > 0) {
      this.#progress.max = total;
      this.#progress.value = Math.min(progress, total);
    }
    this.#message.textContent = visible(text);
  }

  /** @type {import("./element-call.js").Show} */
  #show(state, parts) {
    const calling = state === "calling";
    this.#result.hidden = calling;
    this.#result.classList.toggle("failed", state === "failed");
    this.#result.part.toggle("failed", state === "failed");
    this.#result.replaceChildren(...parts);
    this.#calls.say(`${this.#title}: ${calling ? "calling…" : `${state}.`}`);
    this.#wait(calling);
  }

  /** Swap the two buttons, and keep the keyboard's focus on the one that is shown. */
  #wait(running) {
    const [shown, other] = running ? [this.#stop, this.#send] : [this.#send, this.#stop];
    const focused = other.matches(":focus");
    this.#send.hidden = running;
    this.#running.hidden = !running;
    if (focused) shown.focus();
    this.#progress.removeAttribute("value");
    this.#message.textContent = "";
  }
}
