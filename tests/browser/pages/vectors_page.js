/**
 * host.js on a stage of real frames: see tests/vectors/host_driver.mjs. The frames are loaded once and serve all cases, as
 * a page that is loaded for each would take minutes. So `FrameTransport` gets an iframe that loads nothing.
 */
import { FrameTransport } from "./host.js";
import { play, plays } from "./host_driver.mjs";

const STANDARD = "allow-scripts allow-same-origin";
const marks = new Map();
addEventListener("message", ({ data }) => marks.get(data?.mark)?.());

/** A frame that says what it is told to. */
class Speaker {
  #element = document.createElement("iframe");
  #url;
  #port;
  #said = 0;

  constructor(origin, sandbox = STANDARD) {
    this.#url = `${origin}/vectors_frame.html`;
    this.#element.setAttribute("sandbox", sandbox);
  }

  get window() {
    return this.#element.contentWindow;
  }

  async load({ url = this.#url, sandbox = this.#element.getAttribute("sandbox") } = {}) {
    const usual = this.#element.getAttribute("sandbox");
    this.#element.setAttribute("sandbox", sandbox);
    const loaded = new Promise((resolve) => this.#element.addEventListener("load", resolve, { once: true }));
    this.#element.src = url;
    if (!this.#element.isConnected) document.body.append(this.#element);
    await loaded;
    this.#element.setAttribute("sandbox", usual); // for the next time
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const ready = this.#next();
    this.window.postMessage("port", "*", [port2]);
    await ready;
  }

  #next() {
    return new Promise((resolve) => (this.#port.onmessage = ({ data }) => resolve(data)));
  }

  /** Let it post, and wait until that was heard. */
  async say(what) {
    const mark = `${this.#url} ${++this.#said}`;
    const heard = new Promise((resolve) => marks.set(mark, resolve));
    this.#port.postMessage({ ...what, mark });
    await heard;
    marks.delete(mark);
  }

  /** What it has heard since the last time. */
  async heard() {
    const collected = this.#next();
    this.window.postMessage({ collect: true }, "*");
    return collected;
  }
}

class FrameStage {
  #peer;
  #others;
  #opaque;

  constructor(opaque, peer, others) {
    this.#opaque = opaque;
    this.#peer = peer;
    this.#others = others;
    this.origin = opaque ? "null" : others.origin;
    const sandbox = opaque ? "allow-scripts" : STANDARD;
    this.iframe = {
      contentWindow: peer.window,
      style: { colorScheme: "light" }, // else its computed style is asked for, which only an element has
      hidden: false,
      isConnected: true,
      sandbox: { contains: (word) => sandbox.split(" ").includes(word) },
      hasAttribute: (name) => name === "sandbox",
      setAttribute() {},
      removeAttribute() {},
      addEventListener() {},
      removeEventListener() {},
      getRootNode: () => document,
    };
  }

  async say({ from = "peer", ...what }) {
    const elsewhere = {
      "another origin": { url: `${this.#others.stranger}/vectors_frame.html`, sandbox: STANDARD },
      "opaque origin": { sandbox: "allow-scripts" },
    }[from];
    if (elsewhere) await this.#peer.load(elsewhere);
    await (from === "another window" ? this.#others.sibling : this.#peer).say(what);
    if (!elsewhere) return;
    const heard = await this.#peer.heard();
    if (heard.length) throw new Error(`A page of another origin heard ${JSON.stringify(heard)}`);
    await this.#peer.load();
  }

  /** Nobody sees a target origin: that it was not "*" shows in that a page of another origin hears nothing. */
  async posted() {
    return (await this.#peer.heard()).map((message) => ({ message, to: this.#opaque ? "*" : "peer" }));
  }
}

/**
 * Play all cases of `roles.json` and `cases.json`.
 * @returns {Promise<string>} the results as JSON; null for a case that is not played
 */
globalThis.playAll = async ({ peer: origin, stranger }) => {
  const [about, cases] = await Promise.all(
    ["roles.json", "cases.json"].map(async (name) => (await fetch(name)).json()),
  );
  const [usual, sibling, opaque] = [new Speaker(origin), new Speaker(origin), new Speaker(origin, "allow-scripts")];
  await Promise.all([usual, sibling, opaque].map((speaker) => speaker.load()));
  const results = [];
  for (const one of cases) {
    const stage = new FrameStage(Boolean(one.opaque), one.opaque ? opaque : usual, { sibling, stranger, origin });
    results.push(plays(one, stage) ? await play(FrameTransport, stage, about, one) : null);
  }
  const astray = await sibling.heard();
  if (astray.length) throw new Error(`A frame that is not the peer heard ${JSON.stringify(astray)}`);
  return JSON.stringify(results);
};
