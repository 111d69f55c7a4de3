// The program of a worker: one text with all scripts, whose hashes the page has checked, as no browser checks those of a
// worker's imports. A worker from a blob has the page's Content Security Policy; from a file it would have none. In a page
// of opaque origin such a worker has to be a classic one (Chromium 156).

const BEGUN = '["begun"]\n'; // a text: see mcpframe.frame.worker.port

// A blob URL that a worker creates works as long as the worker lives, so its page can tell that it has ended. It is an
// image, which the policy of every bundle allows. Locks do not work in a page of opaque origin, and keep a page out of the
// back/forward cache.
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
