// Where a project's server runs: in a frame without an origin, or, if the site was built with a run origin, at an origin of
// its own, which has storage. Its name is made of the project's id, so that it is the same at each run, and nobody else's.
import { sha256, toHex } from "./bytes.js";

/**
 * @typedef {object} Home
 * @property {string} address of the page that waits for the server's
 * @property {string} sessionId of the server's storage there
 */

/** The origins of runs, with a `*`; empty if they have none. */
export const runOrigin = () => document.querySelector('meta[name="mcpframe-run-origin"]').getAttribute("content");

/**
 * Returns the home of a project's server; null for a frame without an origin.
 * @param {string} id of the project, random
 * @returns {Promise<Home | null>}
 */
export async function homeOf(id) {
  const pattern = runOrigin();
  if (!pattern) return null;
  const address = `${pattern.replace("*", await digest(`origin ${id}`))}/`;
  return { address, sessionId: await digest(`session ${id}`) };
}

/** Returns 32 hexadecimal digits, a label of a host's name. The id can't be told from it. */
async function digest(text) {
  return toHex((await sha256(new TextEncoder().encode(text))).subarray(0, 16));
}
