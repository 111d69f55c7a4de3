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
const STAND_IN = "https://playground.invalid"; // in the donor, for the origin of this page
const SERVER = "server.zip";
const ASSETS = "assets/";
const WHEELS = "wheels/";
const NOT_ASSETS = /(^|\/)(pyproject\.toml|readme\.md|.*\.py|.*\.lock|tests\/.*)$/i;
/** What only the browser reads of a project: `_BROWSERS_ONLY` in kit/bundle/assembly/author_files.py. */
const BROWSERS_ONLY = /\.(m?js|css|woff2?)$/;
/** WebKit without stack switching starts no Python in a worker of an opaque frame (2.50: a NoGilError): in the page, it does. */
const HAS_WORKERS = "Suspending" in WebAssembly;

/**
 * @typedef {object} LentParts what a donor lends to a page
 * @property {string} html its page
 * @property {Record<string, Blob>} files by their addresses in its page
 * @property {Record<string, string>} packages the versions of its packages
 * @property {string} python the version of its Python
 */

/** The donor, fetched once for all runs. */
export class Donor {
  #fetched = null;

  /** @param {string} base the address of the folder with its page and its list of files */
  constructor(base) {
    this.base = base;
  }

  /** Fetches everything, unless that has begun. @returns {Promise<LentParts>} */
  fetch() {
    this.#fetched ??= this.#fetch().catch((error) => {
      this.#fetched = null; // the next run tries again
      throw error;
    });
    return this.#fetched;
  }

  /** Fetches a file beside it. @param {string} path */
  async get(path) {
    const response = await fetch(new URL(path, this.base));
    if (!response.ok) throw new ProjectError(`${path} of this site is missing (${response.status}).`);
    return response;
  }

  async #fetch() {
    const [html, { files, packages, python }] = await Promise.all([
      this.get("framed.html").then((response) => response.text()),
      this.get("files.json").then((response) => response.json()),
    ]);
    const blobs = Object.entries(files).map(async ([url, path]) => [url, await (await this.get(path)).blob()]);
    return { html, files: Object.fromEntries(await Promise.all(blobs)), packages, python };
  }
}

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
  const found = requirements.filter((text) => {
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
  if (!reasons.length) return found;
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
 * Returns the page of a project's server and its files, for `handed` of host.js, and whether it runs in a worker.
 * @param {LentParts} donor
 * @param {Record<string, any>} project its files
 * @param {object} [options]
 * @param {import("./packages.js").Fetched[]} [options.wheels] installed before its code runs
 * @param {boolean} [options.setsUp] whether the page is that of the setup phase
 * @throws {ProjectError} it cannot run here, or not without wheels
 */
export async function serverPage(donor, project, { wheels = [], setsUp = false } = {}) {
  const { needed, ...settings } = settingsOf(project, donor);
  if (needed.length && !wheels.length) {
    throw new ProjectError(
      `This server needs packages that only the playground itself installs, once its user has seen them: ${visible(needed.join(", "))}.`,
    );
  }
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

/**
 * Returns a page made of the donor's.
 * @param {LentParts} donor
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
 */
export async function pageOf(donor, server) {
  const { entry, name, title, assets = {}, styles = [], inPage, world, wheels = [], setsUp = false } = server;
  const inWorker = HAS_WORKERS && !inPage;
  const code = zipOf(server.files);
  const boot = JSON.parse(BOOT.exec(donor.html)[2]);
  const archive = boot.files.archives.find(({ to }) => to === boot.files.server_path);
  const replaced = archive.url;
  Object.assign(archive, { url: SERVER, bytes: code.size, integrity: await integrity(await code.arrayBuffer()) });
  if (boot.files.snapshot) boot.files.snapshot.files = "own"; // others are read when they are imported
  Object.assign(boot, { entry, name, title, about: { ...boot.about, name, title } });
  boot.assets = { base: ASSETS, files: Object.keys(assets) };
  boot.world = world;
  delete boot.manifest;
  if (!inWorker) for (const key of ["runs_in", "tool_timeout", "grace", "setup_hash"]) delete boot[key];
  const files = { ...donor.files, [SERVER]: code };
  delete files[replaced];
  for (const { name: own, filename, sha256, data } of wheels) {
    const url = `${WHEELS}${sha256}/${filename}`;
    files[url] = data;
    boot.lazy[own] = [{ url, sha256 }];
  }
  boot.load_first = wheels.map((wheel) => wheel.name);
  for (const [path, content] of Object.entries(assets))
    files[ASSETS + path] = new Blob([/** @type {any} */ (content)], { type: typeOf(path) });
  let html = donor.html.replace(BOOT, (_, head, __, tail) => head + scriptJson(boot) + tail);
  html = await withStyles(html, styles);
  if (setsUp) html = inSetup(html);
  if (boot.assets.files.some((path) => /\.m?js$/.test(path))) html = html.replace("script-src ", "script-src blob: ");
  return { html: html.replaceAll(STAND_IN, location.origin), files, inWorker };
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

/** Adds style sheets, and their hashes to the page's policy. */
async function withStyles(html, styles) {
  let made = html;
  for (const style of styles) {
    const text = style.replaceAll("</", "<\\/").replaceAll("\r\n", "\n");
    const hash = await integrity(new TextEncoder().encode(text));
    made = made.replace("style-src ", () => `style-src &#39;${hash}&#39; `);
    made = made.replace("</head>", () => `<style>${text}</style>\n</head>`);
  }
  return made;
}

/** As `script_json` in kit/bundle/assembly/index_page.py: nothing can end the script element. */
function scriptJson(value) {
  const codes = { "<": "\\u003c", ">": "\\u003e", "&": "\\u0026" };
  return JSON.stringify(value).replace(/[<>&]/g, (character) => codes[character]);
}
