// Notices that Python has ended, where it cannot say so itself, and tells `ended`: once, and why.
//
// Pyodide tells of what ends Python in C, its "fatal errors": `os._exit`, `os.abort`, memory that is none, a stack that is
// full. Where an error of Python's reaches the browser instead, Python may be well, or without memory or its event loop:
// then it is asked, and has to answer.

// Python has so many turns of so many milliseconds for its answer. While it computes no turn passes, however long it does.
const TURNS = 10;
const TURN = 500;

export class Ending {
  #ended;
  #over = false;
  #asking = false;

  /** @param ended is called with a sentence that says why, and details */
  constructor(ended) {
    this.#ended = ended;
  }

  /** Watches Pyodide; called once its code is there. */
  watch(api) {
    const fatal = api.fatal_error;
    // Around it, not `on_fatal`: that is passed over where the stack is too full for Pyodide's own report.
    api.fatal_error = (error) => {
      try {
        return fatal(error);
      } catch (thrown) {
        if (thrown?.pyodide_fatal_error) this.#end(reasonOf(thrown), thrown.status === undefined ? thrown.stack : "");
        throw thrown;
      }
    };
  }

  /**
   * Watches for errors that nobody has caught.
   * @param serving settled when Python has nothing more to do here
   * @param ask asks Python whether it serves; a promise of true where it does
   */
  watchErrors(serving, ask) {
    let served = false;
    const over = () => (served = true);
    serving.then(over, over);
    const look = async () => {
      if (this.#asking || this.#over || served) return;
      this.#asking = true;
      const serves = await Promise.race([Promise.resolve().then(ask).catch(() => false), silence()]);
      this.#asking = false;
      if (!serves && !served) this.#end("it does not answer any more", "");
    };
    addEventListener("error", look);
    addEventListener("unhandledrejection", look);
  }

  #end(reason, detail) {
    if (this.#over) return;
    this.#over = true;
    // What is left of Python is not woken by messages: it would only complain of its own end.
    addEventListener("message", (event) => event.stopImmediatePropagation(), true);
    this.#ended(`Python has ended (${reason}): restart this page.`, detail);
  }
}

/** False, when Python has had its turns. */
async function silence() {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setTimeout(resolve, TURN));
  return false;
}

function reasonOf({ message, status }) {
  if (status !== undefined) return `exit status ${status}`;
  if (message === "unreachable") return "it was aborted";
  return message || "a fatal error";
}
