/**
 * Detects whether a framed page still answers. A page in an endless loop usually has a process of its own, so its host
 * keeps running and can report it.
 *
 * A page gets a `ping` only if requests are pending and it has sent nothing for a while, or after a request was cancelled,
 * in which it may hang; idle pages cost nothing. Every peer answers a ping in every revision of MCP, if only with an error;
 * the answer is not passed on.
 */

/** Milliseconds from the cancellation of a request to the ping: most tools end by then. */
const CANCELLING = 1_000;

export class Alive {
  #after;
  #waits;
  #ask;
  #tell;
  #id;
  #timer;
  #last = 0;
  #asked = false;
  #silent = false;
  #doubted = false; // since a cancellation, until an answer to our question

  /**
   * @param {object} options
   * @param {number} options.after milliseconds of silence until the page is asked, and again until it counts as silent
   * @param {string} options.id an id that no other request has
   * @param {() => boolean} options.waits returns whether requests are pending
   * @param {(ping: object) => void} options.ask sends a request to the page
   * @param {(silent: boolean) => void} options.tell called when the page becomes silent, and when it answers again
   */
  constructor({ after, id, waits, ask, tell }) {
    this.#after = after;
    this.#id = id;
    this.#waits = waits;
    this.#ask = ask;
    this.#tell = tell;
  }

  /** Start watching, as a request is pending. */
  expect() {
    if (this.#timer !== undefined || this.#silent || this.#after === Infinity) return;
    this.#last = performance.now();
    this.#asked = false;
    this.#wait(this.#after);
  }

  /** Note that a request was cancelled: nobody waits for it any more, but the page may still be computing. */
  doubt() {
    if (this.#silent || this.#after === Infinity) return;
    this.#doubted = true;
    if (this.#timer !== undefined && this.#asked) return;
    const until = Math.min(CANCELLING, this.#after);
    clearTimeout(this.#timer);
    this.#asked = false;
    this.#last = performance.now() + until - this.#after;
    this.#wait(until);
  }

  /** Note a message of the page. Return whether it is the answer to our own question. */
  heard(message) {
    this.#last = performance.now();
    this.#asked = false;
    const answers = message?.id === this.#id && !("method" in message);
    if (answers || this.#silent) this.#doubted = false;
    if (this.#silent) {
      this.#silent = false;
      this.#tell(false);
      if (this.#waits()) this.expect();
    }
    return answers;
  }

  /** Whether the page does not answer. */
  get silent() {
    return this.#silent;
  }

  stop() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#doubted = false;
  }

  #wait(milliseconds) {
    this.#timer = setTimeout(() => this.#due(), milliseconds);
  }

  #due() {
    this.#timer = undefined;
    if (!this.#waits() && !this.#doubted) return;
    const rest = this.#last + this.#after - performance.now();
    if (rest > 0) {
      this.#wait(rest);
    } else if (this.#asked) {
      this.#silent = true;
      this.#tell(true);
    } else {
      this.#asked = true;
      this.#last = performance.now();
      this.#wait(this.#after);
      this.#ask({ jsonrpc: "2.0", id: this.#id, method: "ping" });
    }
  }
}
