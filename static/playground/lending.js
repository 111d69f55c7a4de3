// A project that the playground lends for a run in the inspector: `run.html#kept=ID` of this site asks for it over a channel
// of this origin. It is stored nowhere, and can be had while it is lent, by an id that no other page knows.
import { ProjectError } from "./project-files.js";

/** @typedef {{ name: string, files: Record<string, any>, wheels: import("./packages.js").Fetched[] }} Lent */

const CHANNEL = "mcpframe-playground-lent";
const KEPT = "kept=";
const PATIENCE = 5_000; // milliseconds: a tab in the background answers late
const ENDED = "This run of the playground has ended.";

/** Lends a project until `end` is called. */
export class Lending {
  #id = crypto.randomUUID();
  #channel = new BroadcastChannel(CHANNEL);

  /** @param {Lent} project */
  constructor(project) {
    this.name = project.name;
    this.#channel.addEventListener("message", ({ data }) => {
      if (data.wanted === this.#id) this.#channel.postMessage({ lent: this.#id, project });
    });
  }

  /** The fragment that names it. */
  get fragment() {
    return `#${KEPT}${this.#id}`;
  }

  end() {
    this.#channel.close();
  }
}

/** Returns the id of a lent project that a fragment names; null if it names none. @param {string} fragment */
export function lentBy(fragment) {
  const text = fragment.replace(/^#/, "");
  return text.startsWith(KEPT) ? text.slice(KEPT.length) : null;
}

/**
 * Returns a lent project.
 * @param {string} id
 * @returns {Promise<Lent>}
 * @throws {ProjectError} it is no longer lent, or this page is in a frame of another origin's page
 */
export async function borrowed(id) {
  if (!isAmongOwn()) throw new ProjectError("Only the playground's own site may run this project.");
  const channel = new BroadcastChannel(CHANNEL);
  try {
    return await new Promise((resolve, reject) => {
      setTimeout(() => reject(new ProjectError(ENDED)), PATIENCE);
      channel.addEventListener("message", ({ data }) => data.lent === id && resolve(data.project));
      channel.postMessage({ wanted: id });
    });
  } finally {
    channel.close();
  }
}

/** Whether all pages around this one are of its origin: the browser lets it read those only. */
function isAmongOwn() {
  try {
    for (let page = window.parent; page.document && page !== top; page = page.parent);
    return true;
  } catch {
    return false;
  }
}
