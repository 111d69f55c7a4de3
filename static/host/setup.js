/** The permissions of a framed page, which its setup asks for, and the addresses of its two phases. */

import { FrameError } from "./errors.js";

export class Permissions {
  /** The names of those granted so far. */
  granted;
  #declined = new Set();
  #phases = new Map();

  /** @param {readonly string[]} granted */
  constructor(granted) {
    this.granted = [...new Set(granted.map(checkPermission))];
  }

  /** Take over what was decided for another transport of the same page. */
  continue(other) {
    this.#phases = other.#phases;
    this.#declined = other.#declined;
  }

  /** Note the phases that the requested permissions are for. */
  note(requested) {
    for (const { name, phase } of requested) this.#phases.set(name, phase);
  }

  /** Return the requests to decide, which without somebody to ask are only those of required permissions. */
  undecided(requested, canAsk) {
    return requested.filter(
      ({ name, required }) => !this.granted.includes(name) && (required || (canAsk && !this.#declined.has(name))),
    );
  }

  /** Return the `allow` attribute of an iframe in a phase. */
  allowed(phase) {
    return this.granted.filter((name) => this.#phases.get(name)?.includes(phase) ?? true).join("; ");
  }

  /**
   * Decide requests. A page's permissions are fixed when it is loaded, so it is loaded again afterwards.
   * @param {import("./host.js").PermissionRequest[]} requested
   * @param {import("./session.js").FrameTransport["onpermissions"]} ask the host
   * @param {string} origin of the page, for errors
   */
  async decide(requested, ask, origin) {
    const names = requested.map(({ name }) => name);
    this.note(requested); // the permissions apply from the next load
    const granted = [...new Set((await ask?.(requested)) ?? [])].map(checkPermission);
    const unasked = granted.filter((name) => !names.includes(name));
    if (unasked.length) throw new FrameError("StateError", `Granted, but not asked for: ${unasked.join(", ")}.`);
    const missing = requested.filter(({ name, required }) => required && !granted.includes(name));
    if (missing.length) {
      const list = missing.map(({ name, purpose }) => (purpose ? `${name} (${purpose})` : name)).join(", ");
      throw new FrameError("PermissionsDenied", `The page of ${origin} cannot do without: ${list}.`);
    }
    this.granted.push(...granted);
    for (const name of names) if (!granted.includes(name)) this.#declined.add(name);
  }
}

/** Check the name of a Permissions Policy feature, so that it cannot add another one to the `allow` attribute. */
function checkPermission(name) {
  if (/^[a-z][a-z0-9-]*$/.test(name)) return name;
  throw new FrameError(
    "OriginError",
    `${JSON.stringify(name)} is not the name of a permission, such as clipboard-read.`,
  );
}

/** Return the address for a phase: the hash is a list of words, separated by commas; `setup` selects the setup phase. */
export function addressFor(address, phase) {
  const words = address.hash.slice(1).split(",");
  const others = words.filter((word) => word && word !== "setup");
  const url = new URL(address);
  url.hash = (phase === "setup" ? ["setup", ...others] : others).join(",");
  return url.href;
}
