/** The dialect of the SEP "postMessage Transport". The table is in host.js. */

import { FrameError } from "./errors.js";
import { outlineOf } from "./host-json.js";
import { SETUP_TIMEOUT } from "./limits.js";
import * as messages from "./messages.js";
import { addressFor } from "./setup.js";

/** @import { Dialect } from "./dialect.js" */

const PAYLOAD = "MCP_MESSAGE";

const wrongVersion = ({ min, max }) =>
  new FrameError(
    "VersionMismatch",
    `The page speaks version ${min} to ${max} of the postMessage protocol, this host ${messages.PROTOCOL_VERSION}.`,
  );

/** The dialect of one connection. */
export class Sep {
  silence = "The framed page sent no handshake";
  addressFor = addressFor;
  #connection;
  #host;
  #permissions;
  #timeout;

  /** @type {Dialect["rules"]} */
  rules = {
    setup: {
      MCP_SETUP_HANDSHAKE: {
        shape: messages.readSetupHandshake,
        check: (offer) => this.#checkRepetition(offer),
        awaiting: (offer) => this.#answerSetupHandshake(offer),
        "setting up": (offer) => this.#answerSetupHandshake(offer),
      },
      MCP_SETUP_COMPLETE: {
        shape: messages.readSetupComplete,
        "setting up": (result) => this.#connection.settle(result),
      },
    },
    transport: {
      MCP_TRANSPORT_HANDSHAKE: {
        shape: messages.readHandshake,
        check: (offer) => this.#checkRepetition(offer),
        awaiting: (offer) => this.#answerHandshake(offer),
        confirming: (offer) => this.#answerHandshake(offer),
        open: () =>
          this.#connection.end(new FrameError("PeerGone", "The framed page was reloaded or replaced: it began anew.")),
      },
      MCP_TRANSPORT_ACCEPTED: {
        shape: messages.readAccepted,
        check: (sessionId) => this.#checkSession(sessionId),
        confirming: () => this.#connection.opened(),
        open: () => {},
      },
      MCP_MESSAGE: {
        shape: messages.readPayload,
        check: (payload) => this.#connection.checkReceived(payload),
        open: (payload) => this.#connection.deliver(payload),
      },
      MCP_SETUP_REQUIRED: {
        shape: messages.readSetupRequired,
        open: (request) => this.#host.onsetuprequired?.(request),
      },
    },
  };

  /**
   * @param {import("./connection.js").Connection} connection
   * @param {import("./session.js").FrameTransport} host
   * @param {import("./setup.js").Permissions} permissions
   * @param {import("./host.js").FrameTimeouts} timeout
   */
  constructor(connection, host, permissions, timeout) {
    this.#connection = connection;
    this.#host = host;
    this.#permissions = permissions;
    this.#timeout = timeout;
  }

  outlineOf(data) {
    const outline = outlineOf(data);
    return outline.type?.startsWith("MCP_") ? { ...outline, carries: outline.type === PAYLOAD } : null;
  }

  kindOf({ type }) {
    return type;
  }

  wrap(payload) {
    return { type: PAYLOAD, payload };
  }

  /** End a setup that the page considers complete, though its message is refused. */
  refused({ type }, error) {
    if (type !== "MCP_SETUP_COMPLETE" || this.#connection.state !== "setting up") return false;
    this.#connection.settle(messages.unreadableSetup(error));
    return true;
  }

  #answerSetupHandshake(offer) {
    if (!messages.speaksOurVersion(offer)) return this.#connection.end(wrongVersion(offer));
    if (this.#connection.state === "awaiting") {
      const undecided = this.#permissions.undecided(offer.permissions, Boolean(this.#host.onpermissions));
      if (undecided.length) {
        this.#connection.settle({ undecided });
        this.#connection.state = "deciding";
        return;
      }
      this.#permissions.note(offer.permissions);
      this.#connection.state = "setting up";
      this.#connection.wait(this.#timeout.setup ?? SETUP_TIMEOUT, "The setup was not completed");
      if (offer.requiresVisible) this.#connection.show();
    }
    this.#reply("MCP_SETUP_HANDSHAKE_REPLY");
  }

  #answerHandshake(offer) {
    if (!messages.speaksOurVersion(offer)) return this.#connection.end(wrongVersion(offer));
    if (this.#connection.state === "awaiting") {
      this.#connection.state = "confirming";
      const { handshake, accept = handshake } = this.#timeout;
      this.#connection.wait(
        accept,
        "The framed page did not accept the session (it has not started, or does not allow this origin)",
      );
    }
    this.#reply("MCP_TRANSPORT_HANDSHAKE_REPLY");
  }

  #checkRepetition(offer) {
    if (
      (this.#connection.state === "setting up" || this.#connection.state === "confirming") &&
      !messages.speaksOurVersion(offer)
    ) {
      throw new FrameError("UnexpectedMessage", "A repeated handshake has another version than the first.");
    }
  }

  #checkSession(sessionId) {
    if (this.#connection.state === "confirming" && sessionId !== this.#host.frameSessionId) {
      throw new FrameError("UnexpectedMessage", "MCP_TRANSPORT_ACCEPTED has another session id.");
    }
  }

  #reply(type) {
    const sessionId = this.#host.frameSessionId;
    this.#connection.post({ type, sessionId, protocolVersion: messages.PROTOCOL_VERSION });
  }
}
