// The packages that a project needs besides those of the playground: its user sees which they are and who is asked for
// them, and clicks, before anything is fetched. The names are the project's, and could carry data away.
import { visible } from "../host/visible.js";
import { MOST_WHEELS, PackageIndex } from "./package-index.js";
import { PackageStore, sha256Of } from "./package-store.js";
import { element } from "./page.js";
import { ProjectError } from "./project-files.js";
import { resolve } from "./resolve.js";

const LONGEST = 200; // characters of a requirement
const MOST = 100; // requirements of a project
const AT_ONCE = 4; // wheels

/** @typedef {import("./resolve.js").Wheel} Wheel */
/** @typedef {Wheel & { data: Blob }} Fetched */

/** Thrown where an index would have to be asked. */
class Unasked extends Error {}

/** The user has not allowed it. */
class Declined extends ProjectError {}

export class Packages {
  #store = new PackageStore();
  #settings = null;

  /**
   * @param {HTMLElement} place where the questions are shown
   * @param {string} base the address of the folder with installing.json
   */
  constructor(place, base) {
    this.place = place;
    this.base = base;
  }

  /**
   * Returns the wheels for requirements that the playground's packages do not meet.
   * @param {string[]} requirements
   * @param {{ packages: Record<string, string>, python: string }} donor the versions of the playground
   * @param {AbortSignal} signal ends the questions and what is fetched
   * @param {(text: string) => void} say is called with what goes on
   * @returns {Promise<Fetched[]>}
   * @throws {ProjectError} they cannot be had
   */
  async fetch(requirements, donor, signal, say) {
    try {
      return await this.#fetch(requirements, donor, signal, say);
    } catch (error) {
      if (!(error instanceof ProjectError) || error instanceof Declined) throw error;
      throw new ProjectError(
        `The packages of this project cannot be had here: ${visible(error.message)}. Change its dependencies, or ` +
          "download it and run it with mcpframe dev.",
      );
    }
  }

  async #fetch(requirements, { packages, python }, signal, say) {
    if (requirements.length > MOST) throw new ProjectError(`it has more than ${MOST} requirements`);
    const settings = await this.#read();
    const world = { packages, python, ...settings };
    const source = new PackageIndex(settings, signal);
    const key = await keyOf([requirements, world]);
    let wheels = await this.#plan(key);
    if (!wheels) {
      wheels = await this.#choose(requirements, world, source, signal, say);
      signal.throwIfAborted();
      await this.#store.put(key, new Blob([JSON.stringify(wheels)]));
    }
    const kept = await Promise.all(wheels.map(({ sha256 }) => this.#store.get(sha256)));
    const missing = wheels.filter((_, at) => !kept[at]);
    if (missing.length) {
      say("Waiting for you …");
      await this.#confirm(wheels, missing, signal);
      say("Fetching packages …");
      await this.#get(missing, source).catch(async (error) => {
        if (!signal.aborted) await this.#store.delete(key); // a wheel may no longer be there: the next run chooses again
        throw error;
      });
      signal.throwIfAborted();
    }
    return Promise.all(wheels.map(async (wheel) => ({ ...wheel, data: await this.#store.get(wheel.sha256) })));
  }

  /** Returns what the site installs from. */
  #read() {
    this.#settings ??= fetch(new URL("installing.json", this.base))
      .then((response) => response.json())
      .then((found) => settingsOf(found, this.base))
      .catch(() => {
        this.#settings = null; // the next run tries again
        throw new ProjectError("installing.json of this site is missing");
      });
    return this.#settings;
  }

  /** Returns what was chosen before. @returns {Promise<Wheel[] | null>} */
  async #plan(key) {
    const kept = await this.#store.get(key);
    return kept && JSON.parse(await kept.text());
  }

  /** Chooses the wheels: asks no index for what the distribution has, else the user first. */
  async #choose(requirements, world, source, signal, say) {
    const unasked = () => Promise.reject(new Unasked());
    try {
      return await resolve(requirements, world, { files: unasked, metadata: unasked });
    } catch (error) {
      if (!(error instanceof Unasked)) throw error;
    }
    const hosts = world.indexes.map((index) => new URL(index).host).join(", ");
    if (!hosts) throw new ProjectError(`${requirements.join(", ")}: this site asks no index for packages`);
    say("Waiting for you …");
    await this.#asked(
      signal,
      [
        element("p", {
          textContent: `This project needs packages that the playground lacks. May it ask ${hosts} for them?`,
        }),
        element("ul", {}, ...requirements.map((text) => element("li", {}, code(text.slice(0, LONGEST))))),
      ],
      `Ask ${hosts}`,
    );
    say(`Asking ${hosts} …`);
    return resolve(requirements, world, source);
  }

  /** Shows the wheels, and waits for the click. */
  async #confirm(wheels, missing, signal) {
    const sizes = missing.map(({ size }) => size);
    const known = sizes.reduce((sum, size) => sum + (size ?? 0), 0);
    if (known > MOST_WHEELS) throw new ProjectError(`they are larger than ${MOST_WHEELS / 1e6} MB together`);
    const total = sizes.includes(null) ? "" : ` (${inWords(known)})`;
    const rows = wheels.map((wheel) =>
      element(
        "tr",
        {},
        element("td", {}, code(`${wheel.name} ${wheel.version}`)),
        element("td", { textContent: missing.includes(wheel) ? inWords(wheel.size) : "fetched before" }),
        element("td", { textContent: new URL(wheel.url).host }),
      ),
    );
    const head = ["Package", "Size", "From"].map((textContent) => element("th", { scope: "col", textContent }));
    await this.#asked(
      signal,
      [
        element("p", {
          textContent: "These packages will be installed in the server's frame, and their code runs there.",
        }),
        element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)),
      ],
      `Fetch${total} and run`,
    );
  }

  /** Shows a question until it is answered by yes. Rejected if it is by no, or ended. */
  async #asked(signal, content, yes) {
    await new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      const button = (textContent, act, className = "") => {
        const control = element("button", { type: "button", textContent, className });
        control.addEventListener("click", act);
        return control;
      };
      const no = () => reject(new Declined("It does not run, as you have not allowed its packages."));
      this.#show(...content, element("div", { className: "row" }, button(yes, resolve, "main"), button("Cancel", no)));
    }).finally(() => this.#show());
    signal.throwIfAborted();
  }

  #show(...content) {
    this.place.replaceChildren(...content);
    this.place.hidden = !content.length;
    if (content.length) this.place.scrollIntoView({ block: "nearest" });
  }

  async #get(missing, source) {
    const waiting = [...missing];
    let left = MOST_WHEELS;
    const some = async () => {
      for (let wheel = waiting.shift(); wheel; wheel = waiting.shift()) {
        const data = await source.wheel(wheel);
        left -= data.size;
        if (left < 0) throw new ProjectError(`they are larger than ${MOST_WHEELS / 1e6} MB together`);
        await this.#store.put(wheel.sha256, data);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, some));
  }
}

/** Returns what a site installs from, with whole addresses: see `docs/generate/playground_packages.py`. */
function settingsOf({ indexes, hosts, tags, distribution }, base) {
  const at = new URL(distribution.base, base);
  const wheels = Object.entries(distribution.packages).map(([name, [version, filename, sha256, size, depends]]) => [
    name,
    { name, version, filename, url: new URL(filename, at).href, sha256, size, depends },
  ]);
  return { indexes, hosts: [...hosts, at.origin], tags, distribution: Object.fromEntries(wheels) };
}

const code = (text) => element("code", { textContent: visible(text) });

const inWords = (size) =>
  size === null ? "unknown" : size < 1e6 ? `${Math.ceil(size / 1e3)} kB` : `${(size / 1e6).toFixed(1)} MB`;

/** Returns the key of a choice. */
const keyOf = async (parts) => `choice-${await sha256Of(new Blob([JSON.stringify(parts)]))}`;
