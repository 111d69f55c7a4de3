/** Reports of messages to a host that inspects them: `onWire`. */

import { attempt } from "./errors.js";
import { jsonOf } from "./host-json.js";

export class WireReports {
  #onWire;
  #limits;

  /**
   * @param {import("./host.js").FrameOptions["onWire"]} onWire
   * @param {import("./host.js").FrameLimits} limits
   */
  constructor(onWire, limits) {
    this.#onWire = onWire;
    this.#limits = limits;
  }

  /**
   * Report a message: with its text, or with the data to write as JSON if somebody listens; with neither if it is unread.
   * @param {"sent" | "received"} direction
   * @param {string} origin
   * @param {{ text?: string | null, data?: any, refused?: string | null }} [message]
   */
  report(direction, origin, { text = null, data = undefined, refused = null } = {}) {
    if (!this.#onWire) return;
    const wire = { direction, text: text ?? this.#textOf(data), origin, refused };
    attempt(() => this.#onWire(wire));
  }

  #textOf(data) {
    try {
      return jsonOf(data, this.#limits) ?? null;
    } catch {
      return null;
    }
  }
}
