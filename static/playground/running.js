// One run of a project's server: its frame, the client, and the end of both.
import { Client } from "@modelcontextprotocol/client";
import { FrameTransport } from "../host/host.js";

/** The sandbox of a server's frame: it has no origin. */
export const SANDBOX = "allow-scripts allow-forms";
/** The sandbox of a frame at an address of its own: see home.js. */
const AT_HOME = `${SANDBOX} allow-same-origin`;
const STARTING = 60_000; // milliseconds
const STOPPING = 5_000; // milliseconds from a stop until a frame that does not answer is removed

export class Run {
  #transport = null;
  #client = null;
  #iframe;
  #ended = false;
  #ending = new AbortController();
  #connected = false;
  #calls = 0;

  /**
   * @param {HTMLElement} place where its frame goes
   * @param {object} on
   * @param {(level: string, text: string) => void} on.log is called with what the server prints and logs
   * @param {(title: string, detail: string) => void} on.problem is called with each error that its page shows
   * @param {() => void} on.closed is called once, if its page has ended by itself
   * @param {() => void} on.changed is called if its list of tools has changed
   */
  constructor(place, on) {
    this.on = on;
    this.#iframe = document.createElement("iframe");
    this.#iframe.title = "The page of the server";
    place.replaceChildren(this.#iframe);
  }

  /**
   * Starts the server. Rejected if it does not start.
   * @param {{ html: string, files: Record<string, Blob> }} page
   * @param {import("./home.js").Home | null} home null for a frame without an origin
   */
  async start({ html, files }, home) {
    let fail;
    const failing = new Promise((_, reject) => (fail = reject));
    const onproblem = (title, detail, ended) => {
      this.on.problem(title, detail);
      if (ended) fail(new Error(title));
    };
    const handed = { html, files, onproblem };
    const options = /** @type {const} */ ({ iframe: this.#iframe, timeout: STARTING, visibility: "optional" });
    this.#transport = home
      ? new FrameTransport({
          ...options,
          handed: { ...handed, address: home.address },
          sessionId: home.sessionId,
          sandbox: AT_HOME,
        })
      : new FrameTransport({ ...options, handed, opaque: true, sandbox: SANDBOX });
    this.#client = new Client({ name: "mcpframe playground", version: "1" });
    this.#client.setNotificationHandler("notifications/message", ({ params }) =>
      this.on.log(params.level, typeof params.data === "string" ? params.data : JSON.stringify(params.data)),
    );
    this.#client.setNotificationHandler("notifications/tools/list_changed", () => this.on.changed());
    await Promise.race([this.#client.connect(this.#transport), failing]);
    this.#client.onclose = () => this.#ended || this.on.closed();
    await this.#client.setLoggingLevel("debug").catch(() => {}); // a server without logging
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
    this.#transport?.stop("Stopped in the playground.");
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
    this.#iframe.remove();
    this.#client?.close().catch(() => {});
  }
}
