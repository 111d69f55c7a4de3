// Requirements as PEP 508 writes them, in the environment of a page.
import { satisfies, validRange } from "@renovatebot/pep440";
import { ProjectError } from "./project-files.js";

const REQUIREMENT =
  /^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[([^\]]*)\])?\s*(?:\(([^()]*)\)|([^;:/@()[\]]*))\s*(?:;(.*))?$/s;
const TOKEN = /\s*(\(|\)|===|~=|[=!<>]=|<|>|not\s+in\b|\w+|"[^"]*"|'[^']*')\s*/y;
const LONGEST = 1_000; // characters: the pattern takes the square of it
const LONGEST_NAME = 100; // characters: it becomes a part of an address
const VERSIONS = ["python_version", "python_full_version"];
const FLIPPED = { "<": ">", ">": "<", "<=": ">=", ">=": "<=" };

/** Returns the normalized name of a package (PEP 503). @param {string} name */
export const normalized = (name) => name.toLowerCase().replace(/[-_.]+/g, "-");

/**
 * @typedef {object} Requirement
 * @property {string} name as it is written
 * @property {string} own the normalized name
 * @property {string[]} extras
 * @property {string} range of its versions; empty for any
 */

/**
 * Reads a requirement.
 * @param {string} text
 * @param {string} python the version of Python
 * @param {Iterable<string>} [extras] those of the package that has the requirement
 * @returns {Requirement | null} null if its marker does not hold in a page
 * @throws {ProjectError} it is none that can be looked up by a name
 */
export function requirementOf(text, python, extras = []) {
  const match = text.length > LONGEST ? null : REQUIREMENT.exec(text);
  if (!match || match[1].length > LONGEST_NAME)
    throw new ProjectError(`${text.slice(0, 100).trim()} is not a requirement by name`);
  const [, name, listed = "", inParentheses, plain = "", marker] = match;
  if (marker !== undefined && !["", ...extras].some((extra) => holds(marker, python, extra))) return null;
  const range = (inParentheses ?? plain).trim();
  if (!validRange(range) && range) throw new ProjectError(`${text.trim()} has no valid version`);
  const requested = listed.split(",").map((extra) => normalized(extra.trim()));
  return { name, own: normalized(name), extras: requested.filter(Boolean), range };
}

/** Returns whether a version is in a range; of a version that is there already, a prerelease is, too. */
export const fits = (version, range) => !range || satisfies(version, range, { prereleases: true });

/** Returns why a package of the playground does not meet a requirement. @param {string} [by] what has the requirement */
export const conflict = (name, range, version, by = "") =>
  `${by ? `${by} needs ${name}${range}, but ` : ""}${name} is in the playground in version ${version}` +
  (by ? "" : `, which is not ${range}`);

/** Returns whether a marker holds in a page. What is not understood holds: no requirement is dropped silently. */
function holds(marker, python, extra) {
  const values = {
    extra,
    implementation_name: "cpython",
    os_name: "posix",
    platform_machine: "wasm32",
    platform_python_implementation: "CPython",
    platform_system: "Emscripten",
    python_full_version: python,
    python_version: python.split(".").slice(0, 2).join("."),
    sys_platform: "emscripten",
  };
  const tokens = tokensOf(marker);
  if (!tokens) return true;
  let at = 0;
  const either = () => {
    let value = both();
    while (tokens[at] === "or") {
      at += 1;
      value = both() || value;
    }
    return value;
  };
  const both = () => {
    let value = one();
    while (tokens[at] === "and") {
      at += 1;
      value = one() && value;
    }
    return value;
  };
  const one = () => {
    if (tokens[at] !== "(") return compared(tokens[at++], tokens[at++], tokens[at++], values);
    at += 1;
    const value = either();
    at += 1;
    return value;
  };
  const value = either();
  return at === tokens.length ? value : true;
}

/** Returns the tokens of a marker, or null if it has others. */
function tokensOf(marker) {
  const tokens = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < marker.length) {
    const match = TOKEN.exec(marker);
    if (!match) return null;
    tokens.push(match[1]);
  }
  return tokens;
}

function compared(left, operator, right, values) {
  if (right === undefined) return true;
  const isText = (token) => /^["']/.test(token);
  if (isText(left) && !isText(right) && FLIPPED[operator] !== undefined)
    return compared(right, FLIPPED[operator], left, values);
  const known = (token) => isText(token) || Object.hasOwn(values, token);
  if (!known(left) || !known(right)) return true;
  const of = (token) => (isText(token) ? token.slice(1, -1) : values[token]);
  let [a, b] = [of(left), of(right)];
  if (left === "extra" || right === "extra") [a, b] = [normalized(a), normalized(b)];
  if (operator === "in") return b.includes(a);
  if (/^not\s/.test(operator)) return !b.includes(a);
  if (VERSIONS.includes(left)) return !validRange(operator + b) || satisfies(a, operator + b);
  if (operator === "==" || operator === "===") return a === b;
  return operator === "!=" ? a !== b : true;
}
