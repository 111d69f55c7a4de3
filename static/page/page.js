// What a person sees: progress while Python boots, an error with what to do, or, opened by itself, what this page is.
// These functions are also what mcpframe.frame.boot calls; all arguments are texts.

const element = (id) => document.getElementById(`mcpframe-${id}`);
const sizes = new Map();
let config = null;
let deadline = 0;
let finished = false;
let failed = false;
let stopped = false;
let restored = false;
let lastWords = null; // see `at_end`

function settle() {
  clearTimeout(deadline);
  finished = true;
  element("progress").hidden = true;
}

function show(state) {
  element("page").dataset.state = state;
  giveWay();
}

/** Once the author has drawn something, ours is out of the way, unless there is an error to be read. */
function giveWay() {
  element("page").hidden = element("app").hasChildNodes() && finished && !failed;
}

function showError(title, detail) {
  failed = true;
  element("page").hidden = false;
  element("error").hidden = false;
  element("error-title").textContent = title;
  element("error-detail").textContent = detail || "";
  element("error-more").hidden = !detail;
  console.error(detail ? `${title}\n${detail}` : title);
}

/** So that no host waits for a page that has stopped. */
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

/** The performance marks that a host is told of, by the names it knows them under; in the order they are set. */
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
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  parent.append(made);
  return made;
}

/** The frame that a host page needs, as HTML to copy. */
function embedding(url) {
  return `<iframe src="${url}" title="${config.title.replaceAll('"', "&quot;")}"></iframe>`;
}

const blocked = [];

document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI, timeStamp }) => {
  if (effectiveDirective === "connect-src") blocked.push({ url: blockedURI, at: timeStamp });
  if (blocked.length > 20) blocked.shift();
});

/** What the policy has kept Python from reaching, for the error that Python gets: see hints.py. */
globalThis.mcpframeBlocked = (milliseconds) =>
  blocked.filter(({ at }) => at > performance.now() - milliseconds).map(({ url }) => url);

export const page = {
  /** Begins to watch the time; called once. */
  start(bootConfig) {
    config = bootConfig;
    element("stalled").hidden = true;
    show("booting");
    new MutationObserver(giveWay).observe(element("app"), { childList: true });
    deadline = setTimeout(() => {
      if (!finished) {
        page.fail(
          `The server did not start within ${config.boot_timeout} seconds: check the network and reload the page, or ` +
            "raise boot_timeout in [tool.mcpframe].",
          `It was at: ${element("status").textContent}`,
        );
      }
    }, config.boot_timeout * 1000);
  },

  /** The files that progress is counted in. */
  expect(files) {
    for (const file of files) sizes.set(file.url, { bytes: file.bytes, loaded: 0 });
  },

  /** One of them has arrived. */
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

  /** What the host is told where this page stops: JSON, a message and its target origin, or null. */
  at_end(info) {
    lastWords = JSON.parse(info);
  },

  /** Python was started from a snapshot. */
  isRestored() {
    restored = true;
  },

  /** How this page came to be ready, for its host: JSON with milliseconds since it began to load. */
  timing() {
    const marks = {};
    for (const [name, mark] of Object.entries(MARKS)) {
      const at = performance.getEntriesByName(`mcpframe:${mark}`, "mark")[0]?.startTime;
      if (at !== undefined) marks[name] = Math.round(at * 10) / 10;
    }
    return JSON.stringify({ start: restored ? "snapshot" : "plain", marks });
  },

  fail(title, detail) {
    settle();
    if (stopped) return; // the first error is the cause, what comes after it only follows from it
    stopped = true;
    sayLastWords();
    element("status").textContent = "Stopped";
    offerRestart();
    showError(title, detail);
    show("failed");
  },

  /** An error that the server survives. */
  problem(title, detail) {
    showError(title, detail);
  },

  /** Imports a JavaScript module of the author's, as only JavaScript can. */
  import_module: (url) => import(new URL(url, document.baseURI).href),

  async standalone() {
    settle();
    show("standalone");
    element("status").textContent = "This page is an MCP server: it serves the page that embeds it.";
    const about = element("about");
    about.hidden = false;
    add(about, "h2", "Embed it");
    add(about, "p", "An MCP host adds it by its address, or a page frames it:");
    add(add(about, "pre", ""), "code", embedding(location.href.split("#")[0]));
    const origins = config.allowed_origins;
    add(
      about,
      "p",
      origins.includes("*") ? "Any page may embed it." : `These pages may embed it: ${origins.join(", ")}.`,
    );
    const response = await fetch("manifest.json", { credentials: "omit" }).catch(() => null);
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
