// Starts a bundle's page in the document of a view (`static/app/view.js`). The view loads this script by its name,
// `app-inline.js`, so the text of an earlier build starts the page of this one.
import { DRAWING, PAINTING } from "../app/limits.js";
import { allows, listen } from "./inbox.js";
import { prefetch } from "./prefetch.js";

const absolute = (url) => new URL(url, import.meta.url).href;

/**
 * @param {string} text the text of the page, `index.html`
 * @param {object} view
 * @param {MessageEvent[]} view.events the host's messages so far
 * @param {number} view.dropped how many more there were
 * @param {() => void} view.onShown is called when the page can be seen
 * @param {import("../app/relay.js").Session} [view.session] what the view has said with the host; a text of an earlier build
 *   has said nothing
 * @returns {boolean} whether the page allows the host
 */
export function start(text, { events, dropped, onShown, session }) {
  const page = new DOMParser().parseFromString(text, "text/html");
  if (session?.answer && !allowsHost(page, session.host)) return false;
  document.title = page.title;
  document.documentElement.lang = page.documentElement.lang;
  for (const data of page.querySelectorAll("script[type='application/json']")) {
    if (data.id === "mcpframe-boot") data.textContent = JSON.stringify(placed(JSON.parse(data.textContent)));
    document.head.append(data);
  }
  document.body.append(...page.body.childNodes);
  show(onShown);
  if (document.getElementById("mcpframe-inbox"))
    listen({ events, dropped, called: session?.id, confirmed: session?.initialized });
  prefetch();
  for (const link of /** @type {NodeListOf<HTMLLinkElement>} */ (page.querySelectorAll("link[integrity], link[as]"))) {
    link.href = absolute(link.getAttribute("href"));
    document.head.append(link);
  }
  const built = page.querySelector("script[type=module]");
  const loader = document.createElement("script"); // a parsed script does not run
  Object.assign(loader, { type: "module", crossOrigin: "anonymous", integrity: built.getAttribute("integrity") });
  loader.src = absolute(built.getAttribute("src"));
  whenPainted(() => document.head.append(loader));
  return true;
}

/** Returns whether a page may be a view of this host. */
function allowsHost(page, origin) {
  const data = page.getElementById("mcpframe-inbox")?.textContent ?? '{"phases":[]}';
  const view = JSON.parse(data).phases.find(({ standIn }) => standIn)?.standIn;
  return !view || allows(view.hosts, origin);
}

/**
 * Calls a function after the first paint: Python then blocks this document, and hosts show a view only once it has
 * answered. Meanwhile the files arrive.
 */
function whenPainted(run) {
  const timer = setTimeout(done, PAINTING);
  const observer = new PerformanceObserver(done);
  observer.observe({ type: "paint", buffered: true });
  function done() {
    clearTimeout(timer);
    observer.disconnect();
    run();
  }
}

/** Returns a boot config with absolute addresses. */
function placed(boot) {
  const files = (value) => {
    if (value === null || typeof value !== "object") return;
    if (typeof value.url === "string") value.url = absolute(value.url);
    Object.values(value).forEach(files);
  };
  files(boot.files);
  files(boot.lazy);
  boot.assets.base = absolute(boot.assets.base);
  return boot;
}

/** Calls a function once the author's page is drawn, or there is an error or much progress to see. */
function show(onShown) {
  const app = document.getElementById("mcpframe-app");
  const state = document.getElementById("mcpframe-page");
  const observer = new MutationObserver(() => (app.hasChildNodes() || state.dataset.state === "failed") && end());
  const timer = setTimeout(end, DRAWING);
  function end() {
    observer.disconnect();
    clearTimeout(timer);
    onShown();
  }
  observer.observe(app, { childList: true });
  observer.observe(state, { attributes: true });
}
