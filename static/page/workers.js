// Workers of this page: in each, Python serves from the same files, so that the page's own Python stays free for its host.
import { absolute, config, ofPage, withResolvers } from "./surroundings.js";

const NOT_ALLOWED = "the browser or this page's policy allows no worker";

// No event reports a worker that ends by `close()`, so the page checks: see worker-program.js.
const FIRST_LOOK = 1500; // milliseconds of silence; each further look comes after twice as long
const MOST_BETWEEN_LOOKS = 8000;

/** Returns whether an image can be loaded. The fragment bypasses the cache. */
function loads(url, number) {
  return new Promise((resolve) => {
    const image = new Image();
    image.onload = () => resolve(true);
    image.onerror = () => resolve(false);
    image.src = `${url}#${number}`;
  });
}

/** One worker. Reports are queued until they have a handler, and messages until the worker is created. */
class One {
  #worker = null;
  #url = "";
  #begun = false;
  #over = false;
  #life = "";
  #looks = 0;
  #timer = 0;
  #kept = [];
  #unsent = [];
  #onText = (text) => this.#kept.push(() => this.#onText(text));
  #onEnd = (...reason) => this.#kept.push(() => this.#onEnd(...reason));

  /**
   * @param {Promise<Blob>} program
   * @param {object} given its first message: see surroundings.js
   * @param {Promise<Map<string, WebAssembly.Module>>} compiled
   * @param {Promise<Uint8Array[] | null>} image
   */
  constructor(program, given, compiled, image) {
    program.then(
      (blob) => this.#create(blob, given, compiled, image),
      (error) => this.#ended(error.message, error.detail, true), // workers are allowed, but this one's scripts are not right
    );
  }

  #create(program, given, compiled, image) {
    if (this.#over) return;
    this.#url = URL.createObjectURL(program);
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
      this.#look(FIRST_LOOK);
      if (typeof data === "string") this.#onText(data);
      else if (typeof data?.title === "string") this.#ended(data.title, data.detail);
      else if (typeof data?.life === "string") this.#watch(data.life); // other messages are of the author's code
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#ended(event.message || NOT_ALLOWED);
    };
    this.#worker.postMessage({ ...given, program });
    for (const text of this.#unsent.splice(0)) this.#worker.postMessage(text);
    compiled.then((modules) => this.#worker.postMessage({ compiled: modules }));
    image.then((unpacked) => this.#sendImage(unpacked));
  }

  /** Sends one copy of the snapshot's layers; null if it is not used. */
  #sendImage(layers) {
    const copies = layers?.map((bytes) => ({ bytes: bytes.slice() }));
    this.#worker.postMessage({ image: copies }, copies?.map(({ bytes }) => bytes.buffer) ?? []);
  }

  handle(onText, onEnd) {
    this.#onText = onText;
    this.#onEnd = onEnd;
    // Later: the caller does not have this worker yet.
    for (const report of this.#kept.splice(0)) queueMicrotask(report);
  }

  /** Sends its Python a text. */
  post(text) {
    if (this.#worker) this.#worker.postMessage(text);
    else if (!this.#over) this.#unsent.push(text);
    this.#look(FIRST_LOOK);
  }

  /** Watches whether it lives, if this page can load images of blobs. */
  async #watch(life) {
    if (this.#life || location.protocol === "file:" || !(await loads(life, 0))) return; // a file's page loads none
    this.#life = life;
    this.#look(FIRST_LOOK);
  }

  #look(silence) {
    clearTimeout(this.#timer);
    if (!this.#life || this.#over) return;
    const look = async () => {
      // Twice, as a page that is being left loads nothing.
      const lives = (await loads(this.#life, ++this.#looks)) || (await loads(this.#life, ++this.#looks));
      if (!lives) this.#ended("The worker has ended by itself.");
      else if (timer === this.#timer) this.#look(Math.min(2 * silence, MOST_BETWEEN_LOOKS));
    };
    const timer = setTimeout(look, silence);
    this.#timer = timer;
  }

  /** Ends it at once. */
  end() {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#worker?.terminate();
    URL.revokeObjectURL(this.#url);
  }

  #ended(title, detail = "", begun = this.#begun) {
    if (this.#over) return;
    this.end();
    this.#onEnd(title, detail, begun);
  }
}

/** Whether the policy and the browser allow these workers is known when one starts or fails. */
export class Workers {
  #fetchProgram;
  #program = null;
  #restores = false;
  #next = null;
  #compiled = withResolvers();
  #image = withResolvers();

  /** @param {() => Promise<Blob>} fetchProgram returns the program of a worker */
  constructor(fetchProgram) {
    this.#fetchProgram = fetchProgram;
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
   * @param {Promise<Uint8Array[]> | null} image the layers of the snapshot; null if it is not used
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
    if (!this.#program) {
      this.#program = this.#fetchProgram();
      this.#program.catch(() => (this.#program = null)); // the next worker tries again
    }
    const given = { kind, config, base: absolute(""), ofPage: ofPage(), restores: this.#restores };
    return new One(this.#program, given, this.#compiled.promise, this.#image.promise);
  }
}
