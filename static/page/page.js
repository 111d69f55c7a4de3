// The user's view of the page: progress while Python starts, errors that say what to do, and a description of the server
// in a tab of its own. mcpframe.frame.boot.boot calls these functions, too; all arguments are strings.

import { FILLS } from "./fitting.js";
import { missing } from "./missing.js";
import { addressOf, ofPage } from "./surroundings.js";

const element = (id) => /** @type {any} */ (document.getElementById(`mcpframe-${id}`));
const sizes = new Map();
let config = null;
let deadline = 0;
let finished = false;
let failed = false;
let stopped = false;
let restored = false;
let lastWords = null; // see `at_end`
let stopTools = null; // see `offer_stop`
let ticking = 0;

function settle() {
  clearTimeout(deadline);
  finished = true;
  element("progress").hidden = true;
}

function show(state) {
  element("page").dataset.state = state;
  giveWay();
}

/**
 * Hides this part of the page once the author's code has drawn something, unless an error is shown. If the author's part
 * has no heading, this part's stays for screen readers.
 */
function giveWay() {
  const over = element("app").hasChildNodes() && finished && !failed;
  const headed = over && element("app").querySelector("h1") !== null;
  element("page").hidden = headed;
  element("page").toggleAttribute("data-behind", over && !headed);
}

function showError(title, detail) {
  failed = true;
  giveWay();
  element("error").hidden = false;
  element("error-title").textContent = title;
  element("error-detail").textContent = detail || "";
  element("error-more").hidden = !detail;
  console.error(detail ? `${title}\n${detail}` : title);
}

/** Posts the last message, so that no host waits for a page that has stopped. */
function sayLastWords() {
  globalThis.mcpframeInbox?.fail(); // where Python has not begun to listen
  if (!lastWords) return;
  const [message, target] = lastWords;
  lastWords = null;
  (parent === self ? opener : parent)?.postMessage(message, target);
}

function offerRestart() {
  const error = element("error");
  if (error.querySelector("button")) return;
  add(error, "button", "Restart", { type: "button" }).addEventListener("click", () => location.reload());
}

const STATES = {
  waiting: () => "Running. It waits for the page around it.",
  connected: (origin) => `Running. Its tools are used by ${origin}.`,
  "setting up": (origin) => `Being set up for ${origin}.`,
  "set up": (origin) => `Set up for ${origin}. This page can be closed.`,
  running: () => "Running.",
};

/** The performance marks that a host gets: the name in its report, and the mark's own; in the order they are set. */
const MARKS = {
  loader: "Loading",
  wasm: "wasm",
  unpacked: "unpacked",
  restored: "restored",
  files: "files",
  python: "python",
  libraries: "libraries",
  sdk: "Starting the server",
  ready: "ready",
};

function add(parent, tag, text, attributes = {}) {
  const child = document.createElement(tag);
  if (text) child.textContent = text;
  for (const [name, value] of Object.entries(attributes)) child.setAttribute(name, value);
  parent.append(child);
  return child;
}

/** The entries of `allowed_origins` that let `mcpframe bridge` frame the page: see `HOST_ORIGIN` in kit/bridge. */
const BRIDGES = new Set(["*", "http://mcpframe-bridge.localhost"]);

/** Returns the iframe element for a host page, as HTML to copy. */
function embedding(url) {
  return `<iframe src="${url}" title="${config.title.replaceAll('"', "&quot;")}"></iframe>`;
}

/** Returns who may be the host in a dialect: origins, "*" and "null". */
function allowedIn(dialect) {
  const origins = config.dialect_origins?.[dialect] ?? config.allowed_origins;
  return config.options?.allow_opaque ? [...origins, "null"] : origins;
}

/** Says which pages these are. */
function embedders(origins) {
  if (origins.includes("*")) return "Allowed: any page.";
  const words = { null: "sandboxed frames and files", self: "pages of this site" };
  const named = origins.map((origin) => words[origin] ?? origin);
  return `Allowed: ${[...new Set(named)].join(", ")}.`;
}

/** Says how the scripts of this window use the server; empty if they cannot. */
function inThisTab(ways) {
  const here = ways.filter(({ tab }) => tab);
  const works = ({ property }) => !property || property in document || property in navigator;
  const titles = here.filter(works).map(({ title }) => title);
  const can = titles.length
    ? `Agents in this browser, such as extensions, can use its tools: ${titles.join(" and ")}.`
    : "";
  const cannot = here.filter((way) => !works(way)).map(({ title }) => `This browser has no ${title}.`);
  return [can, ...cannot].filter(Boolean).join(" ");
}

const blocked = [];
let styleDropped = false;

/** @param {SecurityPolicyViolationEvent} violation */
function noteViolation({ effectiveDirective, blockedURI, timeStamp }) {
  if (effectiveDirective.startsWith("style-src") && blockedURI === "inline" && !styleDropped) {
    styleDropped = true;
    console.warn(
      "This page's policy drops inline styles, each with a line of the browser's own: use classes and a style sheet " +
        "listed in styles of [tool.mcpframe], or set element.js.style in Python. This is said once.",
    );
  }
  if (effectiveDirective === "connect-src") blocked.push({ url: blockedURI, at: timeStamp });
  if (blocked.length > 20) blocked.shift();
}

/** @type {any} */ (globalThis.document ?? globalThis).addEventListener("securitypolicyviolation", noteViolation);

/** Returns the URLs that the Content Security Policy has just blocked; hints.py adds them to the error in Python. */
globalThis.mcpframeBlocked = (milliseconds) =>
  blocked.filter(({ at }) => at > performance.now() - milliseconds).map(({ url }) => url);

export const page = {
  /** Shows that the page starts, and starts the deadline; called once. */
  start(bootConfig) {
    config = bootConfig;
    element("stalled").hidden = true;
    if (config.size) document.documentElement.setAttribute(FILLS, "page");
    show("booting");
    new MutationObserver(giveWay).observe(element("app"), { childList: true });
    deadline = setTimeout(() => {
      if (!finished) {
        page.fail(
          `The server did not start within ${config.boot_timeout} seconds: check the network and reload the page, or ` +
            "raise boot_timeout in [tool.mcpframe].",
          `Last step: ${element("status").textContent}`,
        );
      }
    }, config.boot_timeout * 1000);
  },

  /** Adds files to those that the progress bar counts. */
  expect(files) {
    for (const file of files) sizes.set(file.url, { bytes: file.bytes, loaded: 0 });
  },

  /** Counts one of these files as loaded. */
  loaded(file) {
    const entry = sizes.get(file.url);
    if (!entry || finished) return;
    entry.loaded = entry.bytes;
    const all = [...sizes.values()];
    const part = (key) => all.reduce((sum, item) => sum + item[key], 0);
    element("progress").value = part("loaded") / part("bytes");
  },

  progress(text) {
    performance.mark(`mcpframe:${text}`);
    element("status").textContent = `${text} …`;
  },

  ready(info) {
    settle();
    performance.mark("mcpframe:ready");
    const { state, origin } = JSON.parse(info);
    failed = stopped = false;
    element("error").hidden = true;
    show("ready");
    element("status").textContent = STATES[state](origin);
  },

  /** Sets the message that the host gets if this page stops: JSON of a message and its target origin, or null. */
  at_end(info) {
    lastWords = JSON.parse(info);
  },

  /** Notes that Python was started from a snapshot. */
  isRestored() {
    restored = true;
  },

  /** Returns how this page has started, for its host, and whether it has storage: JSON, in ms since it began to load. */
  timing() {
    const marks = {};
    for (const [name, mark] of Object.entries(MARKS)) {
      const at = performance.getEntriesByName(`mcpframe:${mark}`, "mark")[0]?.startTime;
      if (at !== undefined) marks[name] = Math.round(at * 10) / 10;
    }
    return JSON.stringify({ start: restored ? "snapshot" : "plain", marks, stores: ofPage().stores });
  },

  fail(title, detail) {
    settle();
    if (stopped) return; // the first error is the cause of all later ones
    stopped = true;
    sayLastWords();
    globalThis.mcpframeReport?.(title, detail ?? "", true); // to a parent that has handed over the files
    element("status").textContent = "Stopped";
    offerRestart();
    showError(title, detail);
    show("failed");
  },

  /** Shows an error that does not stop the server. */
  problem(title, detail) {
    globalThis.mcpframeReport?.(title, detail ?? "", false);
    showError(title, detail);
  },

  /** Sets the function that stops the server's tools while they compute in a worker. */
  offer_stop(stop) {
    stopTools = stop;
  },

  /** Shows that tools compute in the server's worker, with a button that stops them: JSON of their names, and seconds. */
  computing(info) {
    const { tools, seconds } = JSON.parse(info);
    clearInterval(ticking);
    const shown = element("computing");
    shown.hidden = !tools.length;
    if (!tools.length) return;
    const began = performance.now() - seconds * 1000;
    const text = () => `${tools.join(", ")}: computing for ${Math.round((performance.now() - began) / 1000)} s`;
    element("computing-text").textContent = text();
    ticking = setInterval(() => (element("computing-text").textContent = text()), 1000);
    element("stop").onclick = () => stopTools();
  },

  /** Starts Python in a worker: see `Workers.start`. Set by the loader where the server needs one. */
  start_worker: null,

  /** Imports one of the author's JavaScript modules, which Python cannot do itself. */
  async import_module(url) {
    const { href } = new URL(url, document.baseURI);
    try {
      return await import(href);
    } catch (error) {
      // The browser does not say why: a file that is gone is told from one that raises, or imports what does.
      const answer = await fetch(href, { method: "HEAD", cache: "no-store" }).catch(() => null);
      if (!answer || answer.ok) throw error;
      throw new Error(missing(url, answer.status), { cause: error });
    }
  },

  async standalone() {
    settle();
    show("standalone");
    const about = element("about");
    about.hidden = false;
    const offered = config.ways ?? []; // the dialects that the build has found: `ways` in kit/bundle/assembly
    const hosts = offered.filter((way) => way.hosts && allowedIn(way.dialect).length);
    const serves = hosts.length ? "the page that embeds it" : "this tab";
    element("status").textContent = `This page is an MCP server: it serves ${serves}.`;
    if (config.inspector && hosts.length) {
      const inspector = new URL(config.inspector, document.baseURI);
      inspector.hash = new URLSearchParams({ add: location.href.split("#")[0] }).toString();
      add(add(about, "p", ""), "a", "Try it in the inspector", { href: inspector.href });
    }
    const here = inThisTab(offered);
    if (here) {
      add(about, "h2", "In this tab");
      add(about, "p", here);
    }
    if (hosts.length) {
      add(about, "h2", "Embed it");
      const address = location.href.split("#")[0];
      if (location.protocol === "file:") {
        add(about, "p", "Put this file on a web server: pages frame its address there.");
      } else {
        add(about, "p", "A page frames it:");
        add(add(about, "pre", ""), "code", embedding(address));
      }
      if (hosts.some(({ dialect, commands }) => commands && allowedIn(dialect).some((origin) => BRIDGES.has(origin)))) {
        add(about, "p", "An MCP client such as Claude Desktop runs it in a browser of its own:");
        add(add(about, "pre", ""), "code", `pip install mcpframe\nmcpframe install ${address}`);
      }
      const lists = new Set(hosts.map(({ dialect }) => embedders(allowedIn(dialect))));
      if (lists.size === 1) add(about, "p", ...lists);
      const ways = add(about, "ul", "");
      for (const { dialect, hosts: text } of hosts) {
        const way = add(ways, "li", `${text}.`);
        if (lists.size > 1) add(way, "p", embedders(allowedIn(dialect)));
      }
    }
    const response = await fetch(addressOf(config.manifest ?? { url: "manifest.json" }), { credentials: "omit" }).catch(
      () => null,
    );
    const { tools } = response?.ok ? await response.json() : {};
    if (!tools?.length) return;
    add(about, "h2", tools.length === 1 ? "Its tool" : `Its ${tools.length} tools`);
    const list = add(about, "dl", "");
    for (const tool of tools) {
      add(add(list, "dt", ""), "code", tool.name);
      add(list, "dd", tool.description ?? tool.title ?? "");
    }
  },
};
