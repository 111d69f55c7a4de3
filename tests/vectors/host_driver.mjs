/**
 * Play a case on `FrameTransport` of host.js, or on that of another dialect (`static/bridge/dialects`), and describe what a
 * host page sees of it.
 *
 * A stage is where it plays: a fake window in Node (`host_in_node.mjs`), or real frames in a browser
 * (`tests/browser/pages/vectors_page.js`).
 *
 *     origin                       the origin of the framed page; "null" for an opaque one
 *     iframe                       what `FrameTransport` is given; a fresh one for each case
 *     say({data, from})            the framed page posts; settled when host.js has heard it. `from` as in a case
 *     posted()                     what was posted to the framed page since the last time: [{message, to}], to "peer" or "*"
 *     clock()                      optional: the processor time so far, in milliseconds
 *     happenings                   optional: by its name in a case, what makes happen what is no message: `() => void`
 */

const SESSION_ERRORS = ["HandshakeTimeout", "VersionMismatch", "PeerGone", "PopupBlocked", "PermissionsDenied"];
/** What a host page does. */
const CALLS = ["start", "close", "send"];
/** Options in milliseconds, which are seconds in a case. */
const TIMEOUTS = { handshake_timeout: "handshake", accept_timeout: "accept", setup_timeout: "setup" };

const settled = async () => {
  for (let turn = 0; turn < 20; turn++) await null;
};
const camel = (name) => name.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase());
/** The JSON-RPC in a message, which in some dialects is the message. */
const bodyOf = (message) => message?.payload ?? message;
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** Whether a case can be played on a stage: host.js is an outer frame, and it does less than a page of Python. */
export const plays = ({ role, do: call }, { happenings = {} }) =>
  role.startsWith("outer") && (call === undefined || CALLS.includes(call) || call in happenings);

/**
 * @param {Function} FrameTransport of host.js
 * @param {object} stage see above
 * @param {object} about the dialect's roles.json
 * @param {object} one the case
 * @returns {Promise<{outcome: object[], next: string, milliseconds?: number}>}
 */
export async function play(FrameTransport, stage, about, one) {
  const played = new Played(FrameTransport, stage, about, one);
  for (const step of [...about.roles[one.role].states[one.state], ...(one.before ?? [])]) await played.step(step);
  for (const id of one.asked ?? []) await played.transport.send({ jsonrpc: "2.0", id, method: "ask" });
  await played.look();
  await played.described(); // and forgotten
  const begin = stage.clock?.();
  await played.act();
  const milliseconds = stage.clock?.() - begin;
  const result = { outcome: await played.described(), next: played.state, milliseconds };
  await played.end();
  return result;
}

class Played {
  #seen = [];
  #case;
  #stage;
  #session;
  #isSetup;
  #begun = false;
  #replies = 0;
  #closes = [];
  #opened = false;
  #visible;

  constructor(FrameTransport, stage, about, one) {
    this.#case = one;
    this.#stage = stage;
    this.#session = about.session;
    this.#isSetup = one.role === "outer setup";
    const options = Object.entries(one.options ?? {});
    const timeouts = options
      .filter(([name]) => name in TIMEOUTS)
      .map(([name, value]) => [TIMEOUTS[name], value * 1000]);
    this.transport = new FrameTransport({
      iframe: stage.iframe,
      url: stage.origin === "null" ? location.origin : `${stage.origin}/`,
      limits: Object.fromEntries(options.map(([name, value]) => [camel(name), value])),
      timeout: Object.fromEntries(timeouts),
      sessionId: (!one.opaque && about.session) || undefined,
      permissions: one.granted ?? [],
      opaque: Boolean(one.opaque),
    });
    this.transport.hide();
    this.transport.onerror = ({ name }) =>
      SESSION_ERRORS.includes(name) ? this.#closes.push(name) : this.#seen.push({ refused: name });
    this.transport.onsetuprequired = (request) => this.#seen.push({ "setup required": request });
    this.transport.onclose = () => this.#closes.push(null);
    this.transport.onmessage = (payload) => {
      const { id, error } = payload;
      const answered = same(payload, bodyOf(one.message));
      const fails = !answered && [-32603, -32000].includes(error?.code);
      this.#seen.push(fails ? { fails: id, code: error.code } : { received: payload });
    };
  }

  /** Where a host page sees that the frame is. */
  get state() {
    if (this.#closes.length) return "closed";
    if (!this.#begun) return "idle";
    if (this.#opened) return "open";
    if (!this.#replies) return "awaiting";
    return this.#isSetup ? "setting up" : "confirming";
  }

  async step(step) {
    if (step === "start") await this.#start();
    else if (step === "close") await this.transport.close();
    else await this.#stage.say({ data: this.#named(step) });
    await this.look();
  }

  async act() {
    const { message, text, make, do: call, from, payload } = this.#case;
    if (call === "start") await this.#start();
    else if (call === "close") await this.transport.close();
    else if (call in (this.#stage.happenings ?? {})) this.#stage.happenings[call]();
    else if (call === "send") await this.#send(payload ?? { jsonrpc: "2.0", method: "notifications/initialized" });
    else await this.#stage.say({ data: text ? JSON.parse(text) : this.#named(message), make, from });
    await this.look();
  }

  async #start() {
    const before = this.state;
    const begun = this.#isSetup ? this.transport.setup() : this.transport.start();
    this.#begun ||= before === "idle";
    begun.then(
      (result) => {
        this.#opened = !this.#isSetup;
        if (result?.error?.message.includes("cannot be read")) delete result.error.message; // in our own words
        const opened = this.#session ? this.transport.frameSessionId : null; // not every dialect has ids
        this.#seen.push(this.#isSetup ? { "set up": result } : { opened });
        if (this.#isSetup) this.#closes.push(null);
      },
      ({ name }) =>
        before === "idle" ? this.#closes.push(name === "StateError" ? null : name) : this.#seen.push({ raises: name }),
    );
    await settled();
  }

  async #send(payload) {
    try {
      await this.transport.send(payload);
    } catch ({ name }) {
      if (name === "StateError") this.#seen.push({ raises: name });
      else if ("method" in payload && "id" in payload) this.#seen.push({ fails: payload.id, code: -32603 });
      else this.#seen.push({ refused: name });
    }
  }

  /** Note what was posted. */
  async look() {
    await settled();
    for (const { message, to } of await this.#stage.posted()) {
      const { id, error } = bodyOf(message);
      if (error) this.#seen.push({ answers: id, code: error.code, to });
      else this.#seen.push({ posts: message, to });
      if (message.type?.endsWith("_REPLY")) {
        this.#replies += 1;
        if (this.#isSetup && this.#replies === 1)
          this.#seen.push({ "setup started": { visible: this.transport.visible } });
      }
    }
  }

  /** What was seen since the last time. */
  async described() {
    const seen = this.#seen;
    this.#seen = [];
    if (this.#closes.length && !this.#visible) {
      this.#visible = true;
      seen.push({ closed: this.#closes.find((name) => name) ?? null });
    }
    const text = JSON.stringify(seen);
    return JSON.parse(this.#case.opaque ? text.replaceAll(this.transport.frameSessionId, this.#session) : text);
  }

  /** A message with the session's id: of an opaque page nobody can choose it. */
  #named(message) {
    if (!this.#case.opaque) return message;
    return JSON.parse(JSON.stringify(message).replaceAll(this.#session, this.transport.frameSessionId));
  }

  async end() {
    this.transport.onerror = this.transport.onmessage = undefined;
    await this.transport.close();
    await settled();
    await this.#stage.posted();
  }
}
