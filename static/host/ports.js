/** The ports of channels whose other ends were handed over to a framed page, until it has chosen one, or its window. */

/** The last ones are listened to. */
const MOST_PORTS = 8;

export class HandedPorts {
  #heard;
  #ports = [];

  /** @param {(data: any, port: MessagePort) => void} heard called with each message over one of them */
  constructor(heard) {
    this.#heard = heard;
  }

  /** Listen to a port. */
  hold(port) {
    port.onmessage = ({ data }) => this.#heard(data, port);
    if (this.#ports.push(port) > MOST_PORTS) this.#ports.shift().close();
  }

  /** Close all ports but one. */
  close(kept = null) {
    for (const port of this.#ports) {
      if (port === kept) continue;
      port.onmessage = null;
      port.close();
    }
    this.#ports = this.#ports.filter((port) => port === kept);
  }
}
