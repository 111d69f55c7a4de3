// Passes messages between the host of a page and the server in a frame of it, whose origin is opaque. What decides is who
// posts, and from which origin; the first message of an allowed host pins it. No content is read but the kind of those
// with which the frame gets its files.
import { allows } from "../page/inbox.js";

const OF_LOADING = /^mcpframe-(files|problem)/; // between this page and the frame: see ../host/frames.js
const nameable = (origin) => (origin === "null" ? "*" : origin); // an opaque origin has no name

export class Relay {
  #origin = null; // the host's, once it is pinned
  #refused = false;

  /**
   * @param {string[]} hosts the origins that may embed the server, as `allowed_origins` has them
   * @param {{ host: any, server: any }} windows each with `postMessage`
   */
  constructor(hosts, windows) {
    this.hosts = hosts;
    this.windows = windows;
  }

  /** Passes a message on, or refuses it. @param {{ source: any, origin: string, data: any, ports: readonly any[] }} event */
  take({ source, origin, data, ports }) {
    if (typeof data?.type === "string" && OF_LOADING.test(data.type)) return;
    if (source === this.windows.host) this.#fromHost(origin, data, ports);
    else if (source === this.windows.server && origin === "null") {
      // Before a host is pinned, only openings are posted: they are for whoever embeds the page.
      this.windows.host.postMessage(data, this.#origin === null ? "*" : nameable(this.#origin), [...ports]);
    }
  }

  #fromHost(origin, data, ports) {
    if (this.#origin === null && allows(this.hosts, origin)) this.#origin = origin;
    if (origin === this.#origin) return this.windows.server.postMessage(data, "*", [...ports]);
    if (this.#refused || this.#origin !== null) return;
    this.#refused = true;
    this.windows.host.postMessage({ type: "mcpframe-origin-refused", origin }, nameable(origin));
  }
}
