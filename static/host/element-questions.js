/**
 * A server's questions to its user (elicitation), in `<mcp-server>`: one is shown, the others wait in order.
 *
 *     what the user does                      what the server is answered
 *     sends the form                          accept, with the values
 *     opens the address                       accept: whether it is used is not known
 *     declines                                decline
 *     starts the server again, removes it     cancel
 */

import { makeForm } from "./element-form.js";
import { make } from "./element-parts.js";
import { cut } from "./visible.js";

/** @import { ElicitRequestParams, ElicitResult } from "@modelcontextprotocol/client" */

/** A server that asks more at once gets an error: the user would not come to an end. */
const MOST_WAITING = 10;
const LONGEST_NAME = 100;
const LONGEST_MESSAGE = 4000;
/** An address has to be read in full before it is opened. */
const LONGEST_ADDRESS = 2000;

export class Questions {
  element = make("div", { part: "questions" });
  /** Of the shown question and those that wait. @type {HTMLElement[]} */
  #asked = [];
  #count = 0;
  /** What had the focus before the first question. @type {HTMLElement | null} */
  #earlier = null;

  /**
   * Ask the user.
   * @param {ElicitRequestParams} params
   * @param {{ name: string, origin: string }} asker the server, as it calls itself, and the origin of its page
   * @param {AbortSignal[]} signals of which each takes the question back
   * @returns {Promise<ElicitResult>}
   * @throws {Error} too many questions, or an address that is not shown
   */
  async ask(params, asker, signals) {
    if (this.#asked.length >= MOST_WAITING) throw new Error(`More than ${MOST_WAITING} questions at once.`);
    /** @type {PromiseWithResolvers<ElicitResult>} */
    const { promise, resolve } = Promise.withResolvers();
    const question = this.#question(params, asker, resolve);
    const end = AbortSignal.any(signals);
    if (end.aborted) return { action: "cancel" };
    end.addEventListener("abort", () => resolve({ action: "cancel" }), { once: true });
    this.#asked.push(question);
    this.#show();
    try {
      return await promise;
    } finally {
      this.#asked.splice(this.#asked.indexOf(question), 1);
      this.#show();
    }
  }

  /** Show the first one. It takes the focus from what the user has used in the element, and gives it back. */
  #show() {
    const [first] = this.#asked;
    const shown = this.element.firstElementChild;
    if (shown === (first ?? null)) return;
    const root = /** @type {ShadowRoot} */ (this.element.getRootNode());
    const used = /** @type {HTMLElement | null} */ (root.activeElement);
    if (!shown) this.#earlier = used;
    this.element.replaceChildren(...(first ? [first] : []));
    if (used) (first ?? this.#earlier)?.focus();
  }

  /** @param {(result: ElicitResult) => void} resolve */
  #question(params, { name, origin }, resolve) {
    const id = `question-${this.#count++}`;
    const decline = make("button", { type: "button", part: "button decline" }, "Decline");
    decline.addEventListener("click", () => resolve({ action: "decline" }));
    const parts =
      params.mode === "url" ? addressParts(params, decline, resolve) : formParts(params, id, decline, resolve);
    return make(
      "div",
      { class: "question", part: "question", role: "group", tabindex: "-1", "aria-labelledby": id },
      make("p", { id, class: "asker", part: "asker" }, `${cut(name, LONGEST_NAME)} asks`),
      make("p", { class: "hint", part: "hint" }, `From ${origin}. Enter no password here.`),
      make("p", { class: "description", part: "description" }, cut(params.message, LONGEST_MESSAGE)),
      ...parts,
    );
  }
}

function formParts(params, id, decline, resolve) {
  const { element, read } = makeForm(params.requestedSchema, id);
  const send = make("button", { type: "submit", class: "main", part: "button send" }, "Send");
  element.append(make("div", { class: "calling" }, send, decline));
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    const content = read();
    if (content) resolve({ action: "accept", content });
  });
  return [element];
}

function addressParts({ url }, decline, resolve) {
  const address = URL.parse(url);
  if (!address || !["https:", "http:"].includes(address.protocol)) throw new Error("The address is not http or https.");
  if (address.href.length > LONGEST_ADDRESS) throw new Error(`An address has at most ${LONGEST_ADDRESS} characters.`);
  const { href, host } = address; // an international name as it is resolved (Punycode): it cannot look like another
  const attributes = { href, target: "_blank", rel: "noopener noreferrer", class: "main", part: "button open" };
  const open = make("a", attributes, `Open ${host}`);
  open.addEventListener("click", () => resolve({ action: "accept" }));
  return [make("p", { class: "address", part: "address" }, href), make("div", { class: "calling" }, open, decline)];
}
