/** MCP over the messages of a widget: a transport for the official client. Its messages are in `kit/notebook/comm_sessions.py`. */

import { randomId } from "../host/frames.js";

/** @import { JSONRPCMessage } from "@modelcontextprotocol/client" */

/**
 * What is used of a widget's model (anywidget).
 * @typedef {object} WidgetModel
 * @property {(name: string) => any} get
 * @property {(content: object) => void} send
 * @property {(event: "msg:custom", heard: (content: any) => void) => void} on
 * @property {(event: "msg:custom", heard: (content: any) => void) => void} off
 */

export class WidgetTransport {
  /** @type {((message: JSONRPCMessage) => void) | undefined} */
  onmessage;
  /** @type {(() => void) | undefined} */
  onclose;
  /** @type {((error: Error) => void) | undefined} */
  onerror;
  #model;
  /** All views of a widget hear all its messages. */
  #session = randomId();
  #open = false;

  /** @param {WidgetModel} model */
  constructor(model) {
    this.#model = model;
  }

  #heard = (content) => {
    if (content?.session !== this.#session) return;
    if (content.message) this.onmessage?.(content.message);
    else if (content.close) this.#over(content.reason);
  };

  async start() {
    this.#open = true;
    this.#model.on("msg:custom", this.#heard);
    this.#model.send({ session: this.#session, open: true });
  }

  /** @param {JSONRPCMessage} message */
  async send(message) {
    if (!this.#open) throw new Error("The session is over.");
    this.#model.send({ session: this.#session, message });
  }

  async close() {
    if (this.#open) this.#model.send({ session: this.#session, close: true });
    this.#over();
  }

  #over(reason) {
    if (!this.#open) return;
    this.#open = false;
    this.#model.off("msg:custom", this.#heard);
    if (reason) this.onerror?.(Object.assign(new Error(reason), { name: "PeerGone" }));
    this.onclose?.();
  }
}
