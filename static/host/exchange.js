/** Requests without an answer, in both directions: ours to the page, and the page's to us. */

import { FrameError } from "./errors.js";
import { isId } from "./messages.js";

/** A request that is answered when its subscription ends, which may be never. */
const STREAM = "subscriptions/listen";

const isRequest = (payload) => "method" in payload && "id" in payload;
const isResponse = (payload) => !("method" in payload);

export class Exchange {
  #most;
  #alive;
  /** Ours, by id, each with its method. */
  #asked = new Map();
  #cancelled = new Set();
  /** The page's, likewise. */
  #owed = new Map();

  /**
   * @param {number} most requests without an answer, per direction
   * @param {import("./liveness.js").Alive} alive watches the page while it has requests to answer
   */
  constructor(most, alive) {
    this.#most = most;
    this.#alive = alive;
  }

  /** Whether the page has requests to answer. */
  get waits() {
    return [...this.#asked.values()].some((method) => method !== STREAM);
  }

  /** Note a message before it is sent. Throws if its id is in use, or too many requests wait. */
  sending(payload) {
    if (isRequest(payload)) {
      this.#check(this.#asked, payload.id);
      this.#asked.set(payload.id, payload.method);
      this.#cancelled.delete(payload.id);
      if (payload.method !== STREAM) this.#alive.expect();
    } else if (isResponse(payload)) {
      this.#owed.delete(payload.id);
    } else if (payload.method === "notifications/cancelled") {
      this.cancel(payload.params?.requestId);
    }
  }

  /** Check a request of the page; see `sending`. */
  checkReceived(payload) {
    if (isRequest(payload)) this.#check(this.#owed, payload.id);
  }

  /** Whether the page waits for the answer to a request of the same id and method. */
  waitsFor({ id, method }) {
    return this.#owed.get(id) === method;
  }

  /** Note a message of the page; return whether it is for the SDK. */
  received(payload) {
    if (isRequest(payload)) {
      this.#owed.set(payload.id, payload.method);
    } else if (isResponse(payload)) {
      if (this.#cancelled.has(payload.id)) return false; // "the sender SHOULD ignore any response that arrives afterward"
      this.#asked.delete(payload.id);
    } else if (payload.method === "notifications/cancelled") {
      this.#owed.delete(payload.params?.requestId);
    }
    return true;
  }

  /** Expect no answer to a request of ours any more. */
  cancel(id) {
    if (!this.#asked.delete(id)) return;
    this.#alive.doubt();
    this.#cancelled.add(id);
    if (this.#cancelled.size > this.#most) this.#cancelled.delete(this.#cancelled.values().next().value);
  }

  /** Take out a request of ours, to which an error is the answer; return whether there is one. */
  fails(id) {
    return isId(id) && this.#asked.delete(id);
  }

  /** Take out a request of the page, likewise. */
  owes(id) {
    return this.#owed.delete(id);
  }

  /** The ids of our requests of a method. */
  asked(method) {
    return [...this.#asked].filter(([, each]) => each === method).map(([id]) => id);
  }

  /** Take out all requests of ours; return their ids. */
  end() {
    const ids = [...this.#asked.keys()];
    this.#asked.clear();
    return ids;
  }

  #check(pending, id) {
    if (pending.has(id)) {
      const shown = JSON.stringify(id).slice(0, 64);
      throw new FrameError("UnexpectedMessage", `The id ${shown} is in use: choose another one.`);
    }
    if (pending.size >= this.#most) {
      throw new FrameError("TooManyPending", `${this.#most} requests are already waiting for an answer (maxPending).`);
    }
  }
}
