// Chooses the wheels that a project needs besides the packages of the playground: from Pyodide's distribution, or the
// latest ones of an index that run in a page. What a page has is never replaced.
//
// Packages are chosen in waves, the requirements of one wave's choices being the next one. A requirement that does not fit
// an earlier choice begins the search anew, which then knows it: there is no other backtracking.
import { maxSatisfying, satisfies, valid } from "@renovatebot/pep440";
import { ProjectError } from "./project-files.js";
import { conflict, fits, normalized, requirementOf } from "./requirements.js";

const MOST_PACKAGES = 100;
const MOST_ROUNDS = 30;
const MOST_REQUIREMENTS = 1_000; // of one package: some list them for each of many extras
const FILENAME = /^[A-Za-z0-9._+!-]+\.whl$/;

/**
 * A file of an index.
 * @typedef {object} IndexFile
 * @property {string} filename
 * @property {URL} url
 * @property {string} sha256 empty if the index does not say it
 * @property {number | null} size bytes; null if the index does not say it
 * @property {string} requiresPython
 * @property {boolean} yanked
 * @property {{ sha256?: string } | null} metadata null if the index has its metadata only within the file
 */

/**
 * A chosen wheel.
 * @typedef {object} Wheel
 * @property {string} name the normalized name of its package
 * @property {string} version
 * @property {string} filename
 * @property {string} url
 * @property {string} sha256
 * @property {number | null} size bytes; null if it is not known
 */

/**
 * What there is besides indexes.
 * @typedef {object} World
 * @property {Record<string, string>} packages the versions of the playground's packages, by normalized name
 * @property {string} python the version of Python
 * @property {string[]} tags of wheels that run in a page, the best first
 * @property {Record<string, Wheel & { depends: string[] }>} distribution the wheels of Pyodide's, by normalized name
 */

/**
 * @typedef {object} Source
 * @property {(name: string) => Promise<IndexFile[] | null>} files returns the files of a package, by its normalized name;
 *   null if there is no such package
 * @property {(file: IndexFile) => Promise<string>} metadata returns the metadata of a wheel
 */

/**
 * Returns the wheels for requirements.
 * @param {string[]} requirements
 * @param {World} world
 * @param {Source} source
 * @returns {Promise<Wheel[]>} ordered by name
 * @throws {ProjectError} they cannot be had: the text has every reason that is known
 */
export async function resolve(requirements, world, source) {
  const ranges = new Map(); // by package, those that any round has met, each with who asks for it
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const chosen = await search(requirements, world, source, ranges);
    if (chosen) return chosen.map(({ requires: _, ...wheel }) => wheel).sort((a, b) => (a.name < b.name ? -1 : 1));
  }
  throw new ProjectError("no versions of its packages were found that fit together");
}

/** Returns the choices of one round, or null if a requirement does not fit an earlier choice. */
async function search(requirements, world, source, ranges) {
  const chosen = new Map();
  const extras = new Map();
  let wave = requirements.map((text) => ({ text, by: "the project", of: [] }));
  while (wave.length) {
    const reasons = new Set();
    const touched = new Set();
    for (const { text, by, of } of wave) {
      const requirement = requirementOf(text, world.python, of);
      if (!requirement) continue;
      const { name, own, range } = requirement;
      if (Object.hasOwn(world.packages, own)) {
        const version = world.packages[own];
        if (!fits(version, range)) reasons.add(conflict(name, range, version, by));
        continue;
      }
      if (!ranges.has(own)) ranges.set(own, new Map());
      if (!ranges.get(own).has(range)) ranges.get(own).set(range, by);
      const before = extras.get(own) ?? new Set();
      if (!extras.has(own) || requirement.extras.some((extra) => !before.has(extra))) touched.add(own);
      extras.set(own, new Set([...before, ...requirement.extras]));
    }
    const isOvertaken = ([own, { version }]) => [...ranges.get(own).keys()].some((range) => !fits(version, range));
    if ([...chosen].some(isOvertaken)) return null;
    await Promise.all(
      [...touched].map(async (own) => {
        try {
          if (!chosen.has(own)) chosen.set(own, await choose(own, ranges.get(own), world, source));
        } catch (error) {
          if (!(error instanceof ProjectError)) throw error;
          reasons.add(error.message);
        }
      }),
    );
    if (reasons.size) throw new ProjectError([...reasons].join("; "));
    if (chosen.size > MOST_PACKAGES) throw new ProjectError(`it needs more than ${MOST_PACKAGES} packages`);
    wave = [...touched].flatMap((own) =>
      chosen.get(own).requires.map((text) => ({ text, by: own, of: extras.get(own) })),
    );
  }
  return [...chosen.values()];
}

async function choose(own, ranges, world, source) {
  const range = [...ranges.keys()].filter(Boolean).join(",");
  const shipped = Object.hasOwn(world.distribution, own) ? world.distribution[own] : null;
  if (shipped && fits(shipped.version, range)) {
    const { depends, ...wheel } = shipped;
    return { ...wheel, requires: depends };
  }
  const files = await source.files(own);
  const asked = `${own}${range} (asked for by ${[...new Set(ranges.values())].join(", ")})`;
  if (files?.length) {
    const candidates = wheelsOf(own, files, world);
    const version = bestOf(candidates, range);
    if (version) return candidate(own, candidates.get(version), source);
  }
  if (shipped) throw new ProjectError(`${asked}: Pyodide's distribution has version ${shipped.version}`);
  if (!files) throw new ProjectError(`${asked}: there is no package of this name`);
  throw new ProjectError(`${asked}: ${whyNone(own, files, range, world)}`);
}

/** Returns the wheels that run in a page, the best one of each version. */
function wheelsOf(own, files, { python, tags }) {
  const ranks = new Map(tags.map((tag, rank) => [tag, rank]));
  const best = new Map();
  for (const file of files) {
    const parts = partsOf(file, own);
    if (!parts || !file.sha256 || !runsOn(python, file)) continue;
    const rank = Math.min(...parts.tags.map((tag) => ranks.get(tag) ?? Infinity));
    if (rank < (best.get(parts.version)?.rank ?? Infinity)) best.set(parts.version, { file, rank, ...parts });
  }
  return best;
}

const runsOn = (python, { requiresPython }) => {
  try {
    return !requiresPython || satisfies(python, requiresPython);
  } catch {
    return true; // no range
  }
};

/** Returns what the name of a wheel says; null for other files. */
function partsOf({ filename }, own) {
  if (!FILENAME.test(filename)) return null;
  const parts = filename.slice(0, -".whl".length).split("-");
  if ((parts.length !== 5 && parts.length !== 6) || normalized(parts[0]) !== own || !valid(parts[1])) return null;
  const [pythons, abis, platforms] = parts.slice(-3).map((each) => each.split("."));
  const tags = pythons.flatMap((one) =>
    abis.flatMap((abi) => platforms.map((platform) => `${one}-${abi}-${platform}`)),
  );
  return { version: parts[1], tags };
}

/** Returns the latest version: a prerelease, or one that was withdrawn, only if there is no other. */
function bestOf(candidates, range) {
  const versions = [...candidates.keys()];
  const current = versions.filter((version) => !candidates.get(version).file.yanked);
  return maxSatisfying(current, range) ?? maxSatisfying(versions, range);
}

async function candidate(name, { version, file }, source) {
  const { filename, url, sha256, size } = file;
  const requires = requirementsIn(await source.metadata(file));
  return { name, version, filename, url: url.href, sha256, size, requires };
}

/** Returns the requirements in the metadata of a wheel. @param {string} metadata */
export function requirementsIn(metadata) {
  const [head] = metadata.split(/\r?\n\r?\n/, 1);
  const requirements = [...head.matchAll(/^Requires-Dist:[ \t]*(.+?)\r?$/gim)].map(([, text]) => text);
  if (requirements.length > MOST_REQUIREMENTS) throw new ProjectError("a package has too many requirements");
  return requirements;
}

/** Returns why no file of a package will do. */
function whyNone(own, files, range, world) {
  const wheels = files.map((file) => ({ file, ...partsOf(file, own) })).filter(({ version }) => version);
  const suited = wheels.filter(({ version }) => fits(version, range));
  if (wheels.length && !suited.length) return "no version of it fits";
  if (!suited.length) return "it has no wheel, only sources, which have to be built";
  const pure = suited.filter(({ tags }) => tags.some((tag) => world.tags.includes(tag)));
  if (!pure.length) return "its wheels are for other systems, and none is for a browser";
  if (pure.every(({ file }) => !runsOn(world.python, file)))
    return `none of its versions is for Python ${world.python}`;
  return "the index does not say the SHA-256 of its wheels";
}
