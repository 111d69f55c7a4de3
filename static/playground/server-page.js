// The page of a project's server: that of a bundle which the site's build has made (`donor`), with the project's files in
// place of its own. Nothing of the project runs here; it is data in the page.
import { parse } from "smol-toml";
import { visible } from "../host/visible.js";
import { sha256, toBase64 } from "./bytes.js";
import { ProjectError } from "./project-files.js";
import { needsOf } from "./python-code.js";
import { conflict, fits, requirementOf } from "./requirements.js";
import { zipOf } from "./zip.js";

const BOOT = /(<script type="application\/json" id="mcpframe-boot" data-files="parent">)(.*?)(<\/script>)/s;
const INBOX = /(<script type="application\/json" id="mcpframe-inbox">)(.*?)(<\/script>)/s;
const SERVER = "server.zip";
const ASSETS = "assets/";
const WHEELS = "wheels/";
const NOT_ASSETS = /(^|\/)(pyproject\.toml|readme\.md|.*\.py|.*\.lock|tests\/.*)$/i;
/** What only the browser reads of a project: `_BROWSERS_ONLY` in kit/bundle/assembly/author_files.py. */
const BROWSERS_ONLY = /\.(m?js|css|woff2?)$/;
/** WebKit without stack switching starts no Python in a worker of an opaque frame (2.50: a NoGilError): in the page, it does. */
const HAS_WORKERS = "Suspending" in WebAssembly;

/**
 * Reads a project's configuration.
 * @param {Record<string, any>} files
 * @param {{ packages: Record<string, string>, python: string }} donor the versions that it has
 * @throws {ProjectError} it cannot run here
 */
export function settingsOf(files, { packages, python }) {
  const toml = configOf(files);
  const own = toml.tool?.mcpframe ?? {};
  const listed = [toml.project?.dependencies, own.lazy]
    .filter(Array.isArray)
    .flat()
    .map((each) => String(each).trim());
  const needed = lacking(listed, packages, python);
  if (own.kind === "page") throw new ProjectError("The playground runs servers; this project is a page.");
  const entry = typeof own.entry === "string" ? own.entry : "server:server";
  if (!files[`${entry.split(":")[0].replaceAll(".", "/")}.py`]) {
    throw new ProjectError(`The project has no file for its entry ${entry}.`);
  }
  const styles = (Array.isArray(own.styles) ? own.styles : []).filter((path) => typeof files[path] === "string");
  return {
    entry,
    needed,
    styles,
    title: String(own.title ?? toml.project?.name ?? "Server"),
    name: String(toml.project?.name ?? "server"),
  };
}

/**
 * Returns the requirements that the packages of the playground do not meet.
 * @param {string[]} requirements
 * @param {Record<string, string>} packages
 * @param {string} python
 * @returns {string[]}
 * @throws {ProjectError} some cannot be met, or are none
 */
export function lacking(requirements, packages, python) {
  const reasons = [];
  const missing = requirements.filter((text) => {
    try {
      const requirement = requirementOf(text, python);
      if (!requirement) return false;
      const { name, own, range } = requirement;
      if (!Object.hasOwn(packages, own)) return true;
      if (!fits(packages[own], range)) reasons.push(conflict(name, range, packages[own]));
    } catch (error) {
      reasons.push(error.message);
    }
    return false;
  });
  if (!reasons.length) return missing;
  throw new ProjectError(
    `This project cannot run here: ${visible(reasons.join("; "))}. Change its dependencies, or download it and run it with ` +
      "mcpframe dev.",
  );
}

/**
 * Returns the origins of the pages that may embed a project's server by its link, which speaks the SEP: as a build of it
 * would allow them.
 * @param {Record<string, any>} files
 * @returns {string[]}
 * @throws {ProjectError} there are none
 */
export function hostsOf(files) {
  const own = configOf(files).tool?.mcpframe ?? {};
  const isTable = own.allowed_origins && !Array.isArray(own.allowed_origins);
  const hosts = [(isTable ? own.allowed_origins.sep : own.allowed_origins) ?? []].flat();
  const allowsOpaque = own.options?.allow_opaque === true;
  const isNamed = (each) =>
    isOrigin(each) || each === "*" || each === "self" || (each === "null" && (isTable || allowsOpaque));
  const speaks = own.dialects === undefined || [own.dialects].flat().includes("sep");
  const all = allowsOpaque ? [...new Set([...hosts, "null"])] : hosts;
  if (speaks && all.length && hosts.every(isNamed)) return all;
  throw new ProjectError(
    "Say which pages may embed this server: allowed_origins in [tool.mcpframe] of its pyproject.toml, such as " +
      'allowed_origins = ["https://chat.example"].',
  );
}

// Not all of what `URL` parses; and of extensions it does not know the origin everywhere.
const PLAIN = /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9_.:[\]-]+$/;
const OF_EXTENSION = /^[a-z]+-extension:\/\/[a-z0-9-]+$/;
const isOrigin = (text) =>
  PLAIN.test(text) && (OF_EXTENSION.test(text) || (URL.canParse(text) && new URL(text).origin === text));

/** Returns what pyproject.toml says. @param {Record<string, any>} files @throws {ProjectError} it is no TOML */
export function configOf(files) {
  try {
    return /** @type {any} */ (parse(files["pyproject.toml"] ?? ""));
  } catch (error) {
    throw new ProjectError(`pyproject.toml: ${error.message.split("\n")[0]}`);
  }
}

/**
 * @typedef {object} ServerPage the page of a project's server, for `handed` of host.js
 * @property {string} html
 * @property {Promise<import("./donor.js").Blobs>} files the donor's, which each start reads
 * @property {Promise<import("../host/host.js").LaterFiles>} later the project's, and the donor's that it may read
 * @property {boolean} inWorker whether it runs in a worker
 */

/**
 * Returns the page of a project's server.
 * @param {import("./donor.js").Donor} donor
 * @param {Record<string, any>} project its files
 * @param {object} [options]
 * @param {(needed: string[], lent: import("./donor.js").Lent) => Promise<import("./packages.js").Fetched[]>} [options.wheelsFor] returns what
 *   meets requirements that the donor does not meet
 * @param {boolean} [options.setsUp] whether the page is that of the setup phase
 * @returns {Promise<ServerPage>}
 * @throws {ProjectError} it cannot run here
 */
export async function serverPage(donor, project, { wheelsFor = noWheels, setsUp = false } = {}) {
  const lent = await donor.first();
  const { needed, ...settings } = settingsOf(project, lent);
  const wheels = needed.length ? await wheelsFor(needed, lent) : [];
  const paths = Object.keys(project);
  const pick = (chosen) => Object.fromEntries(chosen.map((path) => [path, project[path]]));
  const modules = paths.filter((path) => path.endsWith(".py"));
  const assets = paths.filter((path) => !NOT_ASSETS.test(path));
  const needs = needsOf(Object.values(pick(modules)));
  return pageOf(donor, {
    ...settings,
    files: pick([...modules, ...assets.filter((path) => !BROWSERS_ONLY.test(path))]),
    assets: pick(assets),
    styles: settings.styles.map((path) => project[path]),
    inPage: needs.page,
    world: needs.process,
    wheels,
    setsUp,
  });
}

/** @returns {Promise<never>} */
async function noWheels(needed) {
  throw new ProjectError(
    `This server needs packages that only the playground itself installs, once its user has seen them: ${visible(needed.join(", "))}.`,
  );
}

/**
 * Returns a page made of the donor's.
 * @param {import("./donor.js").Donor} donor
 * @param {object} server
 * @param {string} server.entry
 * @param {string} server.name
 * @param {string} server.title
 * @param {Record<string, string | Uint8Array>} server.files of its folder in Python
 * @param {Record<string, string | Uint8Array>} [server.assets] what its page fetches
 * @param {string[]} [server.styles] the texts of its style sheets
 * @param {boolean} server.inPage whether it cannot run in a worker
 * @param {boolean} server.world whether it has the environment of a process
 * @param {import("./packages.js").Fetched[]} [server.wheels] installed before its code runs
 * @param {boolean} [server.setsUp] whether the page is that of the setup phase
 * @returns {Promise<ServerPage>}
 */
export async function pageOf(donor, server) {
  const lent = await donor.first();
  const { entry, name, title, assets = {}, styles = [], inPage, world, wheels = [], setsUp = false } = server;
  const inWorker = HAS_WORKERS && !inPage;
  const code = zipOf(server.files);
  const boot = JSON.parse(BOOT.exec(lent.html)[2]);
  const archive = boot.files.archives.find(({ to }) => to === boot.files.server_path);
  Object.assign(archive, { url: SERVER, bytes: code.size, integrity: await integrity(await code.arrayBuffer()) });
  if (boot.files.snapshot) boot.files.snapshot.files = "own"; // others are read when they are imported
  Object.assign(boot, { entry, name, title, about: { ...boot.about, name, title } });
  boot.assets = { base: ASSETS, files: Object.keys(assets) };
  boot.world = world;
  delete boot.manifest;
  if (!inWorker) for (const key of ["runs_in", "tool_timeout", "grace", "setup_hash"]) delete boot[key];
  const files = { [SERVER]: code };
  for (const { name: own, filename, sha256, data } of wheels) {
    const url = `${WHEELS}${sha256}/${filename}`;
    files[url] = data;
    boot.lazy[own] = [{ url, sha256 }];
  }
  boot.load_first = wheels.map((wheel) => wheel.name);
  for (const [path, content] of Object.entries(assets))
    files[ASSETS + path] = new Blob([/** @type {any} */ (content)], { type: typeOf(path) });
  const later = Promise.all([lent.files, donor.later()]).then(([, others]) => ({
    boot: JSON.stringify(boot),
    files: { ...others, ...files },
    styles,
  }));
  later.catch(() => {}); // reported by the run
  return { html: setsUp ? inSetup(lent.html) : lent.html, files: lent.files, later, inWorker };
}

/** Makes a page that of the setup phase. What a setup asks for is known to the project alone: its Python opens it. */
function inSetup(html) {
  return html
    .replace(BOOT, (_, head, data, tail) => head.replace(/>$/, ' data-fragment="setup">') + data + tail)
    .replace(INBOX, (_, head, data, tail) => {
      const inbox = JSON.parse(data);
      for (const phase of inbox.phases) if (phase.fragment) phase.openings = [];
      return head + scriptJson(inbox) + tail;
    });
}

const TYPES = {
  css: "text/css",
  html: "text/html",
  js: "text/javascript",
  json: "application/json",
  mjs: "text/javascript",
  gif: "image/gif",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  wasm: "application/wasm",
  webp: "image/webp",
  woff2: "font/woff2",
};
const typeOf = (path) => TYPES[path.split(".").at(-1).toLowerCase()] ?? "text/plain";

async function integrity(data) {
  return `sha256-${toBase64(await sha256(data))}`;
}

/** As `script_json` in kit/bundle/assembly/index_page.py: nothing can end the script element. */
function scriptJson(value) {
  const codes = { "<": "\\u003c", ">": "\\u003e", "&": "\\u0026" };
  return JSON.stringify(value).replace(/[<>&]/g, (character) => codes[character]);
}
