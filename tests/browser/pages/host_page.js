/** A host page whose `FrameTransport` a test drives, one step at a time. */
import { FrameTransport } from "./host.js";

const ENDINGS = ["PeerGone", "HandshakeTimeout", "VersionMismatch"];

const events = [];
let wake = () => {};
const note = (kind, value = {}) => {
  events.push({ kind, ...value });
  wake();
};
const describe = (error) => ({ error: error.name, message: error.message });

window.lab = {
  /** What is told of the wire, once it is an array. */
  wires: null,

  /** Make a fresh iframe and start a transport to it. Throws what the constructor throws. */
  connect({ sandbox, ...options }) {
    const iframe = document.body.appendChild(document.createElement("iframe"));
    this.connectIn(iframe, { ...options, ...(sandbox !== null && { sandbox }) });
  },

  connectIn(iframe, options) {
    this.iframe = iframe;
    const onWire = (wire) => this.wires.push(wire);
    const transport = new FrameTransport({ iframe, ...options, ...(this.wires && { onWire }) });
    this.transport = transport;
    let ending = { error: null };
    transport.onmessage = (payload) => note("received", { payload });
    transport.onsetuprequired = (request) => note("setup required", request);
    transport.onunresponsive = (unresponsive) => note("unresponsive", { unresponsive });
    transport.onerror = (error) => {
      if (ENDINGS.includes(error.name)) ending = describe(error);
      else note("refused", describe(error));
    };
    const closed = new Promise((resolve) => (transport.onclose = resolve));
    const started = transport.start().then(
      () => note("opened", { sessionId: transport.frameSessionId, origin: transport.origin }),
      (error) => (ending = describe(error)),
    );
    Promise.all([started, closed]).then(() => note("closed", ending));
  },

  /** Run a setup; `grants` is what the host answers when it is asked for permissions. */
  setUp({ sandbox, grants, ...options }) {
    const where = options.popup ? {} : { iframe: document.body.appendChild(document.createElement("iframe")) };
    this.iframe = where.iframe;
    const transport = new FrameTransport({ ...where, ...options, ...(sandbox !== null && { sandbox }) });
    this.transport = transport;
    transport.onerror = (error) => note("refused", describe(error));
    transport.onvisibility = (visible) => note("visible", { visible });
    if (grants) {
      transport.onpermissions = async (requested) => {
        note("asked", { requested });
        return grants;
      };
    }
    this.abort = new AbortController();
    transport.setup({ signal: this.abort.signal }).then(
      (result) => note("set up", { ...result, sessionId: transport.frameSessionId }),
      (error) => note("setup failed", describe(error)),
    );
  },

  /** Go on from a setup to a session, with the same transport. */
  goOn() {
    const { transport } = this;
    transport.onmessage = (payload) => note("received", { payload });
    transport.onclose = () => note("closed", { error: null });
    transport.start().then(
      () => note("opened", { sessionId: transport.frameSessionId, origin: transport.origin }),
      (error) => note("failed", describe(error)),
    );
  },

  send: (text) => lab.transport.send(JSON.parse(text)),

  /** Give the next event of a kind and forget it. */
  async next(kind) {
    for (;;) {
      const at = events.findIndex((event) => event.kind === kind);
      if (at >= 0) return events.splice(at, 1)[0];
      await new Promise((resolve) => (wake = resolve));
    }
  },

  rest: () => events.map(({ kind }) => kind),
};
