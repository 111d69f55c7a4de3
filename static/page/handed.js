// Inline script of a page whose files do not come from its address: they are in its document (`mcpframe build
// --single-file`), or its parent hands them over, which has made this page from `srcdoc`. It makes a blob of each, writes
// the blobs' addresses into the boot config, and starts the loader. The policy of such a page names its scripts by their
// hashes; the hashes of all other files are checked where they are fetched.
import { prefetch } from "./prefetch.js";

const WANTED = "mcpframe-files-wanted";
const FILES = "mcpframe-files";
const PROBLEM = "mcpframe-problem";
const WASM = "application/wasm"; // the type without which nothing compiles while it arrives

/** Starts the page once its files are there. */
export async function start() {
  const boot = document.getElementById("mcpframe-boot");
  // Of a phase: a page from `srcdoc` has no address of its own.
  if (boot.dataset.fragment) location.hash = boot.dataset.fragment;
  try {
    const { blobs, later } = await (boot.dataset.files === "parent" ? fromParent() : fromDocument());
    let config = configOf(boot.textContent, blobs);
    boot.textContent = JSON.stringify(config);
    prefetch();
    if (later) {
      const rest = await later;
      Object.assign(blobs, rest.blobs);
      config = configOf(rest.boot, blobs);
      boot.textContent = JSON.stringify(config);
      document.adoptedStyleSheets = rest.styles.map(sheetOf);
    }
    const loader = document.createElement("script");
    // As text, which the policy's hash is for; an address would have to be allowed to all scripts.
    Object.assign(loader, { type: "module", textContent: await blobs[config.files.loader.url].text() });
    document.head.append(loader);
  } catch (error) {
    fail(error);
  }
}

/**
 * Returns the files that the parent hands over, by URL, and a promise of the rest if these are a part of them. From then on
 * the parent gets the errors of this page, too.
 */
function fromParent() {
  const arrived = new Promise((resolve) => {
    let giveRest = null;
    const take = (event) => {
      const { source, origin, data } = event;
      if (source !== parent || data?.type !== FILES) return;
      event.stopImmediatePropagation(); // no message of MCP
      if (!data.isPart) removeEventListener("message", take);
      const entries = Object.entries(data.files).map(([url, content]) => [url, typed(url, content)]);
      const blobs = Object.fromEntries(entries);
      if (giveRest) return giveRest({ blobs, boot: data.boot, styles: data.styles ?? [] });
      globalThis.mcpframeReport = (title, detail, ended) =>
        parent.postMessage({ type: PROBLEM, title, detail, ended }, origin);
      const later = data.isPart ? new Promise((give) => (giveRest = give)) : null;
      resolve(ready().then(() => ({ blobs, later })));
    };
    addEventListener("message", take);
  });
  parent.postMessage({ type: WANTED }, "*"); // whose origin is unknown
  return arrived;
}

function typed(url, data) {
  if (!url.endsWith(".wasm")) return data instanceof Blob ? data : new Blob([data]);
  return data.type === WASM ? data : new Blob([data], { type: WASM });
}

/** Returns the files that are in the document. */
async function fromDocument() {
  await ready();
  const elements = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("script[data-file]"))];
  return { blobs: Object.fromEntries(await Promise.all(elements.map(unpacked))), later: null };
}

async function unpacked(element) {
  const { file, kind, packed } = element.dataset;
  const text = element.textContent;
  element.remove();
  const data =
    /** @type {any} */ (Uint8Array).fromBase64?.(text) ?? Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  if (packed === undefined) return [file, new Blob([data], { type: kind })];
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"));
  return [file, await new Response(stream, { headers: { "Content-Type": kind } }).blob()];
}

/** Returns a style sheet, whose hash the page's policy, which is older, cannot have. @param {string} text */
function sheetOf(text) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
}

/** Waits for the whole document. */
function ready() {
  if (document.readyState !== "loading") return Promise.resolve();
  return new Promise((resolve) => addEventListener("DOMContentLoaded", resolve));
}

const addresses = {}; // of blobs, by URL

/** Returns a boot config, with the addresses of blobs beside the URLs of the files. @param {string} text */
function configOf(text, blobs) {
  const config = JSON.parse(text);
  const address = (url) => (addresses[url] ??= blobs[url] && URL.createObjectURL(blobs[url]));
  const visit = (value) => {
    if (value === null || typeof value !== "object") return;
    if (typeof value.url === "string" && blobs[value.url]) value.address = address(value.url);
    Object.values(value).forEach(visit);
  };
  for (const part of [config.files, config.lazy, config.manifest]) visit(part);
  const { base, files } = config.assets;
  config.assets.addresses = Object.fromEntries(files.map((path) => [path, address(base + path)]));
  return config;
}

function fail(error) {
  console.error(error);
  const stalled = document.getElementById("mcpframe-stalled");
  stalled.textContent = `This page does not start (${error}): use a current browser.`;
  stalled.style.cssText = "animation: none; visibility: visible";
  globalThis.mcpframeInbox?.fail();
}
