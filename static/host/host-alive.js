/**
 * Whether a framed page still answers. A page that computes for ever has a process of its own mostly, so that its host
 * runs on and can tell.
 *
 * A page is asked only where requests wait and nothing has come from it for a while: idle pages cost nothing. It is asked
 * with a `ping` of JSON-RPC, which every peer answers in every revision of MCP, with an error where it is unknown; the
 * answer goes no further.
 */

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

  /**
   * @param {object} options
   * @param {number} options.after milliseconds of silence until the page is asked, and again until it counts as silent
   * @param {string} options.id what no other request has as its id
   * @param {() => boolean} options.waits whether requests wait for an answer
   * @param {(ping: object) => void} options.ask sends a request to the page
   * @param {(silent: boolean) => void} options.tell the page is silent, or has spoken again
   */
  constructor({ after, id, waits, ask, tell }) {
    this.#after = after;
    this.#id = id;
    this.#waits = waits;
    this.#ask = ask;
    this.#tell = tell;
  }

  /** A request waits from now on. */
  expect() {
    if (this.#timer !== undefined || this.#silent || this.#after === Infinity) return;
    this.#last = performance.now();
    this.#asked = false;
    this.#wait(this.#after);
  }

  /** The page has said something; true where that is the answer to our own question. */
  heard(message) {
    this.#last = performance.now();
    this.#asked = false;
    if (this.#silent) {
      this.#silent = false;
      this.#tell(false);
      if (this.#waits()) this.expect();
    }
    return message?.id === this.#id && !("method" in message);
  }

  /** Whether the page does not answer. */
  get silent() {
    return this.#silent;
  }

  stop() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #wait(milliseconds) {
    this.#timer = setTimeout(() => this.#due(), milliseconds);
  }

  #due() {
    this.#timer = undefined;
    if (!this.#waits()) return;
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
