// Detects that Python has ended without reporting it, and calls `ended` once, with the reason.
//
// Pyodide reports what ends Python in C as a "fatal error": `os._exit`, `os.abort`, an access outside of memory, a stack
// overflow. An uncaught error in the browser is less clear: Python may still work, or have lost its memory or its event
// loop. Then Python is asked whether it serves, and counts as ended if it does not answer.

// How many turns of the event loop Python has to answer, and how long each takes. No turn passes while Python computes.
const TURNS = 10;
const TURN = 500; // milliseconds

export class Ending {
  #ended;
  #over = false;
  #asking = false;

  /** @param ended is called with a message for the user and with details */
  constructor(ended) {
    this.#ended = ended;
  }

  /** Watches Pyodide; called once its code has loaded. */
  watch(api) {
    const fatal = api.fatal_error;
    // Not `on_fatal`: Pyodide does not call it if the stack is too full for its own report.
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
   * Watches for uncaught errors.
   * @param serving a promise that is settled when Python has ended as it should
   * @param ask asks Python whether it serves; returns a promise of true if it does
   */
  watchErrors(serving, ask) {
    let served = false;
    const over = () => (served = true);
    serving.then(over, over);
    const look = async () => {
      if (this.#asking || this.#over || served) return;
      this.#asking = true;
      const serves = await Promise.race([
        Promise.resolve()
          .then(ask)
          .catch(() => false),
        silence(),
      ]);
      this.#asking = false;
      if (!serves && !served) this.#end("it does not answer any more", "");
    };
    addEventListener("error", look);
    addEventListener("unhandledrejection", look);
  }

  #end(reason, detail) {
    if (this.#over) return;
    this.#over = true;
    // Messages to a Python that has ended would only cause further errors.
    addEventListener("message", (event) => event.stopImmediatePropagation(), true);
    this.#ended(`Python has ended (${reason}): restart this page.`, detail);
  }
}

/** Resolves to false once Python has had its turns. */
async function silence() {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setTimeout(resolve, TURN));
  return false;
}

function reasonOf({ message, status }) {
  if (status !== undefined) return `exit status ${status}`;
  if (message === "unreachable") return "it was aborted";
  return message || "a fatal error";
}
