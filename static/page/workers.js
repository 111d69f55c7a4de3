// Workers of this page: in each, Python serves from the same files, so that the page's own Python stays free for its host.
import { absolute, config, ofPage, withResolvers } from "./surroundings.js";

// A worker from a blob's URL has this page's Content Security Policy; one from a file of the bundle would have none. And a
// page of opaque origin can have one, too, if it is a classic one (Chromium 156).
const NOT_ALLOWED = "the browser or this page's policy allows no worker";
const BEGUN = '["begun"]\n'; // a text: see mcpframe.frame.worker.port
const PROGRAM = `
postMessage(${JSON.stringify(BEGUN)});
const came = [];
const give = {};
const arrives = (name) => new Promise((resolve) => (give[name] = resolve));
addEventListener("message", ({ data }) => {
  if (typeof data === "string") came.push(data);
  else if (data.loader) {
    globalThis.mcpframeGiven = { ...data, compiled: arrives("compiled"), image: arrives("image"), came };
    import(data.loader).catch((error) => postMessage({ title: String(error) }));
  } else for (const name in data) give[name](data[name]);
});
`;

/** One worker. What it reports before somebody handles that is kept. */
class One {
  #worker = null;
  #url = URL.createObjectURL(new Blob([PROGRAM], { type: "text/javascript" }));
  #begun = false;
  #over = false;
  #kept = [];
  #onText = (text) => this.#kept.push(() => this.#onText(text));
  #onEnd = (...reason) => this.#kept.push(() => this.#onEnd(...reason));

  constructor(kind, loader, restores, compiled, image) {
    try {
      this.#worker = new Worker(this.#url, { name: config.name });
    } catch (error) {
      this.#ended(String(error));
      return;
    }
    this.#worker.onmessage = ({ data }) => {
      if (this.#over) return;
      if (!this.#begun) URL.revokeObjectURL(this.#url); // its script has been read
      this.#begun = true;
      if (typeof data === "string") this.#onText(data);
      else this.#ended(data.title, data.detail);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#ended(event.message || NOT_ALLOWED);
    };
    this.#worker.postMessage({
      kind,
      loader,
      config,
      base: absolute(""),
      ofPage: ofPage(),
      restores,
    });
    compiled.then((modules) => this.#worker.postMessage({ compiled: modules }));
    image.then((unpacked) => this.#sendImage(unpacked));
  }

  /** Sends a copy of the snapshot's content, without a further one on its way; null if it is not used. */
  #sendImage(bytes) {
    const copy = bytes?.slice();
    this.#worker.postMessage({ image: copy && { bytes: copy } }, copy ? [copy.buffer] : []);
  }

  handle(onText, onEnd) {
    this.#onText = onText;
    this.#onEnd = onEnd;
    for (const report of this.#kept.splice(0)) report();
  }

  /** Sends its Python a text. */
  post(text) {
    this.#worker?.postMessage(text);
  }

  /** Ends it at once. */
  end() {
    this.#over = true;
    this.#worker?.terminate();
    URL.revokeObjectURL(this.#url);
  }

  #ended(title, detail = "") {
    if (this.#over) return;
    this.end();
    this.#onEnd(title, detail, this.#begun);
  }
}

/** Whether this page's policy and browser allow such workers is seen when one starts or fails. */
export class Workers {
  #loader;
  #restores = false;
  #next = null;
  #compiled = withResolvers();
  #image = withResolvers();

  /** @param loader the URL of the page's script */
  constructor(loader) {
    this.#loader = loader;
  }

  /**
   * Starts a worker with the server, for the first `start`.
   * @param {boolean} restores whether this page starts from a snapshot
   */
  prepare(restores) {
    this.#restores = restores;
    this.#next = this.#create("server");
  }

  /**
   * Keeps what the page has compiled and unpacked, so that workers need not do it again.
   * @param {Promise<Map<string, WebAssembly.Module>>} compiled by URL
   * @param {Promise<Uint8Array> | null} image the content of the snapshot; null if it is not used
   */
  give(compiled, image) {
    compiled.then(this.#compiled.resolve, () => {}); // the page reports why
    this.#restores = image !== null;
    Promise.resolve(image).then(this.#image.resolve, () => {});
  }

  /**
   * Starts Python in a worker.
   * @param {"server" | "process"} kind whether it is for the server or for functions
   * @param {(text: string) => void} onText is called with each text of its Python
   * @param {(title: string, detail: string, begun: boolean) => void} onEnd is called once if it cannot start, or has ended
   *   by itself; `begun` is false if this page can have no worker
   * @returns {One} the worker
   */
  start(kind, onText, onEnd) {
    const one = (kind === "server" && this.#next) || this.#create(kind);
    if (kind === "server") this.#next = null;
    one.handle(onText, onEnd);
    return one;
  }

  #create(kind) {
    return new One(kind, this.#loader, this.#restores, this.#compiled.promise, this.#image.promise);
  }
}
