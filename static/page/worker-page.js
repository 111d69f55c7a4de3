// The counterpart of page.js in a worker, which reports to its page instead of showing anything.
import { given } from "./surroundings.js";

export const workerPage = {
  /** Sends the page's Python a text. */
  post: (text) => postMessage(text),

  /** Calls `take` with each text of the page's Python, those that came before included. */
  listen(take) {
    for (const text of given.came.splice(0)) take(text);
    given.came.push = take;
  },

  /** Whether this worker has the server, or functions to run. */
  kind: given?.kind,

  /** Whether the page has storage; a worker cannot see it by itself. */
  is_kept: given?.ofPage.stores,

  /** Starts Python in a worker of this worker; see page.js. */
  start_worker: null,

  start() {},
  expect() {},
  loaded() {},
  isRestored() {},

  progress(text) {
    performance.mark(`mcpframe:${text}`);
  },

  /** Reports that this Python has ended, or cannot start. */
  fail(title, detail) {
    postMessage({ title, detail: detail || "" });
  },
};
