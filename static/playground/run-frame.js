// The frame of a run. Its page begins with the donor's files, before it is known what will run in it: it compiles and unpacks
// them, and waits. A spare frame does so ahead of the click on Run; nothing of a project is in it before that.
import { FrameTransport } from "../host/host.js";
import { runOrigin } from "./home.js";
import { isSmall } from "./page.js";

/** The sandbox of a server's frame: it has no origin. */
export const SANDBOX = "allow-scripts allow-forms";
/** The sandbox of a frame at an address of its own: see home.js. */
const AT_HOME = `${SANDBOX} allow-same-origin`;
const STARTING = 60_000; // milliseconds
const SETTLING = 1_000; // milliseconds after a start until the next one is prepared
const IDLE = 2_000; // milliseconds

/** @typedef {Pick<import("./donor.js").Lent, "html" | "files">} First the page, and what each start reads */

export class RunFrame {
  /** Is called with each error that the page shows, and whether it has ended the page. @type {(title: string, detail: string, ended: boolean) => void} */
  onproblem = () => {};
  /** Whether its page does not start, or has gone. */
  broken = false;
  /** @type {(later: Promise<import("../host/host.js").LaterFiles>) => void} */
  #give;
  #iframe = document.createElement("iframe");

  /**
   * Loads the page.
   * @param {HTMLElement} place where the frame goes
   * @param {First} first
   * @param {import("./home.js").Home | null} [home] null for a frame without an origin
   */
  constructor(place, { html, files }, home = null) {
    this.html = html;
    this.#iframe.title = "The page of the server";
    place.append(this.#iframe);
    /** @type {Promise<import("../host/host.js").LaterFiles>} */
    const later = new Promise((give) => (this.#give = give));
    const handed = { html, files, later, onproblem: (title, detail, ended) => this.onproblem(title, detail, ended) };
    const options = /** @type {const} */ ({
      iframe: this.#iframe,
      timeout: { handshake: STARTING, accept: Infinity }, // a spare waits for the click
      visibility: "optional",
    });
    this.transport = home
      ? new FrameTransport({
          ...options,
          handed: { ...handed, address: home.address },
          sessionId: home.sessionId,
          sandbox: AT_HOME,
        })
      : new FrameTransport({ ...options, handed, opaque: true, sandbox: SANDBOX });
    Promise.all([files, this.transport.prepare()]).catch(() => (this.broken = true));
  }

  /** Whether it is out of sight. */
  set hidden(is) {
    this.#iframe.hidden = is;
  }

  /** Gives the page what runs in it. @param {Promise<import("../host/host.js").LaterFiles>} later */
  give(later) {
    this.#give(later);
  }

  /** Ends its page. */
  remove() {
    this.#iframe.remove();
    this.transport.close();
  }
}

/** The spare frame of a place; a run at an address of its project's own has none. */
export class Spare {
  #place;
  #donor;
  /** @type {RunFrame | null} */
  #frame = null;

  /** @param {HTMLElement} place @param {import("./donor.js").Donor} donor */
  constructor(place, donor) {
    this.#place = place;
    this.#donor = donor;
  }

  /** Fetches what runs are made of, and makes a frame if there is none and the device can afford it. */
  async prepare() {
    if (navigator.connection?.saveData) return;
    const first = await this.#donor.first();
    if (!isSmall() && !runOrigin() && (!this.#frame || this.#frame.broken)) {
      this.#frame?.remove();
      this.#frame = new RunFrame(this.#place, first);
      this.#frame.hidden = true;
    }
    await first.files;
    await this.#donor.later();
  }

  /** Makes the next one once this page has nothing else to do. */
  prepareWhenIdle() {
    const idle = globalThis.requestIdleCallback ?? /** @type {any} */ ((act) => act());
    setTimeout(() => idle(() => this.prepare().catch(() => {}), { timeout: IDLE }), SETTLING);
  }

  /**
   * Returns a frame whose page begins so: the spare one, or a new one.
   * @param {First} first
   * @param {import("./home.js").Home | null} home
   */
  take(first, home) {
    const spare = this.#frame;
    if (home || !spare || spare.broken || spare.html !== first.html) return new RunFrame(this.#place, first, home);
    this.#frame = null;
    spare.hidden = false;
    return spare;
  }
}
