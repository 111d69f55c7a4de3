/** One tool in `<mcp-server>`: its form, the progress of its call, a button that stops it, and its result. */

import { makeForm } from "./element-form.js";
import { make } from "./element-parts.js";
import { resultParts } from "./element-result.js";
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
  /** Made when the tool is opened. @type {ReturnType<typeof makeForm> | undefined} */
  #form;
  #send = make("button", { type: "submit", class: "main", part: "button call" }, "Call");
  #stop = make("button", { type: "button", part: "button stop" }, "Stop");
  #progress = make("progress", { part: "progress" });
  #message = make("p", { class: "message", part: "message" });
  #running = make("div", { class: "calling", hidden: true });
  #result = make("div", { class: "result", part: "result", role: "group", tabindex: "0", hidden: true });
  /** @type {AbortController | null} */
  #call = null;

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
    this.#stop.addEventListener("click", () => this.#call?.abort("The user has stopped it."));
    const summary = make("summary", { part: "tool-name" }, this.#title);
    this.element = make("details", { class: "tool", part: "tool" }, summary);
    this.element.addEventListener("toggle", () => this.#form || this.#build(id)); // most tools are never opened
  }

  #build(id) {
    const { description, inputSchema } = this.#tool;
    this.#form = makeForm(inputSchema, id);
    this.#form.element.append(this.#send);
    this.#form.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    const text = make("p", { class: "description", part: "description", hidden: !description }, description ?? "");
    this.element.append(make("div", { class: "body" }, text, this.#form.element, this.#running, this.#result));
  }

  get #title() {
    return this.#tool.title || this.#tool.annotations?.title || this.#tool.name;
  }

  /** Stop its call, as its page goes. */
  stop() {
    this.#call?.abort("The page is closed.");
  }

  async #submit() {
    if (this.#call) return;
    const args = this.#form.read();
    if (!args) return;
    const call = new AbortController();
    this.#call = call;
    this.#show(null);
    this.#calls.say(`${this.#title}: calling…`);
    try {
      const options = { signal: call.signal, onprogress: (step) => this.#call === call && this.#step(step) };
      const result = await this.#calls.call(this.#tool.name, args, options);
      this.#show(resultParts(result), result.isError === true);
      this.#calls.say(`${this.#title}: ${result.isError ? "failed." : "done."}`);
    } catch (error) {
      const stopped = call.signal.aborted;
      this.#show([make("p", {}, stopped ? "Stopped." : error.message)], !stopped);
      this.#calls.say(`${this.#title}: ${stopped ? "stopped." : "failed."}`);
    } finally {
      this.#call = null;
      this.#wait(false);
    }
  }

  #step({ progress, total, message }) {
    if (typeof total === "number" && total > 0) {
      this.#progress.max = total;
      this.#progress.value = Math.min(progress, total);
    }
    this.#message.textContent = visible(message ?? (total ? `${progress} of ${total}` : progress));
  }

  /** Show a result; null while it is waited for. */
  #show(parts, failed = false) {
    this.#result.hidden = !parts;
    this.#result.classList.toggle("failed", failed);
    this.#result.part.toggle("failed", failed);
    this.#result.replaceChildren(...(parts ?? []));
    if (!parts) this.#wait(true);
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
