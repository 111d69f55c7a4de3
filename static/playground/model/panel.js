// "Ask a model": the fields of a service, the conversation, and the question before a call. The key is in this page's memory
// only. What a model or a server says is text.
import { resultParts } from "../../host/element-result.js";
import { visible } from "../../host/visible.js";
import { element } from "../page.js";
import { ProjectError } from "../project-files.js";
import { Conversation, MOST_ROUNDS } from "./conversation.js";
import { FORMS } from "./forms.js";

const LONGEST = 20_000; // characters of a text that is shown
const ABOUT =
  "The model gets your question, the names, descriptions and schemas of this server's tools, and the results of its calls. " +
  `The key stays in this page's memory. A question ends after ${MOST_ROUNDS} rounds.`;

export class ModelPanel {
  /** @type {Conversation} */
  #conversation = null;
  #served = ""; // the service that the conversation is with

  /**
   * @param {HTMLElement} place
   * @param {() => import("./conversation.js").Server} server returns the one that runs; throws if none does
   */
  constructor(place, server) {
    this.server = server;
    const field = (text, input) => element("label", {}, element("span", { textContent: text }), input);
    const options = Object.entries(FORMS).map(([value, { title }]) => element("option", { value, textContent: title }));
    this.form = /** @type {any} */ (element("select", {}, ...options));
    this.address = /** @type {any} */ (element("input", { type: "url", required: true, autocomplete: "off" }));
    this.model = /** @type {any} */ (element("input", { required: true, autocomplete: "off", spellcheck: false }));
    this.key = /** @type {any} */ (element("input", { type: "password", autocomplete: "off" }));
    this.question = /** @type {any} */ (element("textarea", { rows: 3, required: true }));
    this.ask = /** @type {any} */ (element("button", { type: "submit", className: "main", textContent: "Ask" }));
    this.stop = /** @type {any} */ (
      element("button", { type: "button", textContent: "Stop the model", disabled: true })
    );
    const forget = element("button", { type: "button", textContent: "Forget the conversation" });
    this.log = element("div", { className: "conversation", role: "log", tabIndex: 0, ariaLabel: "Conversation" });
    this.form.addEventListener("change", () => this.#fill());
    this.#fill();
    this.stop.addEventListener("click", () => this.#conversation?.stop());
    forget.addEventListener("click", () => this.clear());
    const fields = element(
      "form",
      { className: "tool" },
      element("p", { className: "quiet", textContent: ABOUT }),
      field("Kind of service", this.form),
      field("Address", this.address),
      field("Model", this.model),
      field("Key, if it needs one", this.key),
      field("Question", this.question),
      element("div", { className: "row" }, this.ask, this.stop, forget),
    );
    fields.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#ask();
    });
    place.append(fields, this.log);
  }

  /** Forgets the conversation, and ends the question that is asked. */
  clear() {
    this.#conversation?.stop();
    this.#conversation = null;
    this.log.replaceChildren();
  }

  #fill() {
    this.address.value = FORMS[this.form.value].address;
  }

  async #ask() {
    const question = this.question.value;
    const service = {
      form: this.form.value,
      address: this.address.value,
      model: this.model.value,
      key: this.key.value,
    };
    this.ask.disabled = true;
    this.stop.disabled = false;
    this.#write("You", question);
    try {
      const { form, address, model } = service;
      const served = JSON.stringify([form, address, model]);
      if (this.#served !== served) this.#conversation = null; // another form has other turns
      this.#served = served;
      const server = {
        tools: () => this.server().tools(),
        call: (name, args) => this.server().call(name, args),
      };
      this.server(); // before anything is sent
      this.#conversation ??= new Conversation(service, server, {
        said: (text) => this.#write("Model", text),
        calling: (call) => this.#allow(call),
        called: (call, result) => this.#add(`Result of ${call.name}`, resultParts(result), result.isError ? "bad" : ""),
      });
      this.#conversation.service = service; // the key may be another one
      await this.#conversation.ask(question);
      this.question.value = "";
    } catch (error) {
      this.#write("Error", error.message, "bad");
      if (!(error instanceof ProjectError)) throw error;
    } finally {
      this.ask.disabled = false;
      this.stop.disabled = true;
    }
  }

  /** Shows a call, and asks for it unless the tool only reads. @returns {Promise<boolean>} */
  #allow({ name, args, readOnly }) {
    const entry = this.#write(`The model calls ${name}`, JSON.stringify(args, null, 2));
    if (readOnly) return Promise.resolve(true);
    const conversation = this.#conversation;
    return new Promise((resolve) => {
      const button = (text, allowed) => {
        const control = element("button", { type: "button", textContent: text });
        control.addEventListener("click", () => decide(allowed));
        return control;
      };
      const decide = (allowed) => {
        row.remove();
        resolve(allowed);
      };
      const row = element("div", { className: "row" }, button("Allow", true), button("Refuse", false));
      entry.append(row);
      /** @type {HTMLElement} */ (row.firstElementChild).focus();
      conversation.ended.addEventListener("abort", () => decide(false), { once: true });
    });
  }

  #write(who, text, className = "") {
    const shown = visible(text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text);
    return this.#add(who, [element("pre", { textContent: shown })], className);
  }

  #add(who, parts, className) {
    const entry = element("div", { className }, element("strong", { textContent: visible(who) }), ...parts);
    this.log.append(entry);
    this.log.scrollTop = this.log.scrollHeight;
    return entry;
  }
}
