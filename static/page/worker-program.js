// The program of a worker: one text with all scripts, whose hashes the page has checked. A worker's own imports have no
// hash in any browser. The URL of a blob gives a worker the page's Content Security Policy; one of a file would give it none.
// And a page of opaque origin can have such a worker if it is a classic one (Chromium 156).

const BEGUN = '["begun"]\n'; // a text: see mcpframe.frame.worker.port

// An address that a worker makes works as long as the worker lives, whatever it does: so its page sees that it has ended.
// As an image, which the policy of every bundle allows. Locks would show it, too, but not in a page of opaque origin, and
// they keep a page from the back/forward cache.
const PIXEL = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
const LIFE = `
postMessage({
  life: URL.createObjectURL(new Blob([Uint8Array.from(atob("${PIXEL}"), (each) => each.charCodeAt(0))], { type: "image/gif" })),
});
`;

// What the page sends: texts for Python, what every worker is given (surroundings.js), and what arrives later.
const LISTENING = `
postMessage(${JSON.stringify(BEGUN)});
const came = [];
const give = {};
const arrives = (name) => new Promise((resolve) => (give[name] = resolve));
addEventListener("message", ({ data }) => {
  if (typeof data === "string") came.push(data);
  else if (data.config) {
    globalThis.mcpframeGiven = { ...data, compiled: arrives("compiled"), image: arrives("image"), came };
    try {
      load();
    } catch (error) {
      postMessage({ title: String(error) });
    }
  } else for (const name in data) give[name](data[name]);
});
`;

/**
 * Returns the program of a worker.
 * @param {Blob[]} scripts classic ones that run before the loader, and the loader: a module that neither imports nor exports
 */
export function workerProgram(scripts) {
  // The loader is in a function, as the scope and the strictness of a module; in parentheses, so that it is parsed only once.
  const load = ['const load = (function () {"use strict";\n', scripts.at(-1), "\n});\n"];
  return new Blob([LIFE, LISTENING, ...scripts.slice(0, -1), ...load], { type: "text/javascript" });
}
