// One run of a project's server: its frame, the client, and the end of both.
import { Client } from "@modelcontextprotocol/client";

const STARTING = 60_000; // milliseconds
const STOPPING = 5_000; // milliseconds from a stop until a frame that does not answer is removed

export class Run {
  /** @type {import("./run-frame.js").RunFrame | null} */
  #frame = null;
  #client = null;
  #ended = false;
  #ending = new AbortController();
  #connected = false;
  #calls = 0;

  /**
   * @param {object} on
   * @param {(level: string, text: string) => void} on.log is called with what the server prints and logs
   * @param {(title: string, detail: string) => void} on.problem is called with each error that its page shows
   * @param {() => void} on.closed is called once, if its page has ended by itself
   * @param {() => void} on.changed is called if its list of tools has changed
   */
  constructor(on) {
    this.on = on;
  }

  /**
   * Starts the server. Rejected if it does not start.
   * @param {import("./run-frame.js").RunFrame} frame which ends with the run
   * @param {Promise<import("../host/host.js").LaterFiles>} later what runs in it
   */
  async start(frame, later) {
    this.#frame = frame;
    let fail;
    const failing = new Promise((_, reject) => (fail = reject));
    frame.onproblem = (title, detail, ended) => {
      this.on.problem(title, detail);
      if (ended) fail(new Error(title));
    };
    const late = setTimeout(() => fail(new Error(`It has not started within ${STARTING / 1000} s.`)), STARTING);
    this.#client = new Client({ name: "mcpframe playground", version: "1" });
    this.#client.setNotificationHandler("notifications/message", ({ params }) =>
      this.on.log(params.level, typeof params.data === "string" ? params.data : JSON.stringify(params.data)),
    );
    this.#client.setNotificationHandler("notifications/tools/list_changed", () => this.on.changed());
    later.catch(fail);
    frame.give(later);
    try {
      await Promise.race([this.#client.connect(frame.transport), failing]);
    } finally {
      clearTimeout(late);
    }
    this.#client.onclose = () => this.#ended || this.on.closed();
    this.#client.setLoggingLevel("debug").catch(() => {}); // a server without logging
    this.#connected = true;
  }

  /** Returns the server's tools. */
  async tools() {
    return (await this.#client.listTools()).tools;
  }

  /** Aborted at the end. */
  get signal() {
    return this.#ending.signal;
  }

  /** Whether the server answers calls. */
  get connected() {
    return this.#connected && !this.#ended;
  }

  /** Whether a call waits for its answer. */
  get calls() {
    return this.#calls > 0;
  }

  /** Calls a tool. @param {string} name @param {Record<string, unknown>} args */
  async call(name, args) {
    this.#calls += 1;
    try {
      return await this.#client.callTool({ name, arguments: args }, { timeout: 2 ** 31 - 1 });
    } finally {
      this.#calls -= 1;
    }
  }

  /**
   * Stops the calls. A server that computes in its page answers nothing then: its run is ended.
   * @returns {Promise<boolean>} whether the server goes on
   */
  async stop() {
    this.#frame.transport.stop("Stopped in the playground.");
    try {
      await this.#client.ping({ timeout: STOPPING });
      return !this.#ended;
    } catch {
      this.end();
      return false;
    }
  }

  /** Ends the run, and removes its frame. */
  end() {
    this.#ended = true;
    this.#ending.abort();
    this.#client?.close().catch(() => {});
    this.#frame?.remove();
  }
}
