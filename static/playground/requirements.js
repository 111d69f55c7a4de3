// A project's requirements, as PEP 508 writes them, against the packages that the playground has.
import { satisfies, validRange } from "@renovatebot/pep440";

const REQUIREMENT =
  /^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*(?:\(([^()]*)\)|([^;:/@()[\]]*))\s*(?:;(.*))?$/s;
const COMPARISON = /^\s*([a-z_]+)\s*(==|!=|<=|>=|<|>)\s*(["'])(.*?)\3\s*$/;
const LONGEST = 1_000; // characters: the patterns take the square of it
const VERSIONS = ["python_version", "python_full_version"];

/** Returns the normalized name of a package. @param {string} name */
const normalized = (name) => name.toLowerCase().replace(/[-_.]+/g, "-");

/**
 * Returns why a requirement cannot be met, or null if it can be.
 * @param {string} requirement
 * @param {Record<string, string>} packages the versions that are there, by normalized name
 * @param {string} python the version of Python
 */
export function unmet(requirement, packages, python) {
  const found = requirement.length > LONGEST ? null : REQUIREMENT.exec(requirement);
  if (!found) return `${requirement.slice(0, 100).trim()} is not a requirement by name`;
  const [, name, inParentheses, plain = "", marker] = found;
  const range = (inParentheses ?? plain).trim();
  if (marker !== undefined && !applies(marker, python)) return null;
  const own = normalized(name);
  if (!Object.hasOwn(packages, own)) return `${name} is not in the playground`;
  if (!range) return null;
  if (!validRange(range)) return `${requirement.trim()} has no valid version`;
  const version = packages[own];
  return satisfies(version, range, { prereleases: true })
    ? null
    : `${name} is in the playground in version ${version}, which is not ${range}`;
}

/** Returns whether a marker holds in a page. What is not understood holds: the requirement is not dropped silently. */
function applies(marker, python) {
  const values = {
    implementation_name: "cpython",
    os_name: "posix",
    platform_machine: "wasm32",
    platform_python_implementation: "CPython",
    platform_system: "Emscripten",
    python_full_version: python,
    python_version: python.split(".").slice(0, 2).join("."),
    sys_platform: "emscripten",
  };
  const holds = (text) => {
    const [, name, operator, , value] = COMPARISON.exec(text) ?? [];
    if (!name || !Object.hasOwn(values, name)) return true;
    if (VERSIONS.includes(name)) return !validRange(operator + value) || satisfies(values[name], operator + value);
    if (operator !== "==" && operator !== "!=") return true;
    return (values[name] === value) === (operator === "==");
  };
  if (/[()]/.test(marker)) return true;
  return marker.split(/\bor\b/).some((either) => either.split(/\band\b/).every(holds));
}
