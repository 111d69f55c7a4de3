// Starts the service worker beside a page in a tab of its own, in browsers and at addresses that have one. Without it,
// pages need a network. It comes last: it fetches all files of the folder's page once more, beside what a visitor waits for.
//
// A page in another starts none. Browsers keep a frame's storage apart for each site around it, so the visitors of every
// host would get a copy that serves no tab; a sandboxed frame is out of its reach; and a frame has a start to win. A window
// that a page has opened serves that page.
const QUIET = 4_000; // milliseconds after the page has loaded
const IDLE = 3_000; // milliseconds

const idle = globalThis.requestIdleCallback ?? /** @type {any} */ ((act) => act());

async function register() {
  if (document.readyState !== "complete") {
    await new Promise((resolve) => addEventListener("load", resolve, { once: true }));
  }
  await new Promise((resolve) => setTimeout(() => idle(resolve, { timeout: IDLE }), QUIET));
  const { serviceWorker } = navigator; // throws where the page's origin is opaque
  if (!serviceWorker) return;
  await serviceWorker.register(new URL("offline.js", document.baseURI));
  const { active } = await serviceWorker.ready;
  // What this visit has fetched without it, and is not among the files that it fetches by itself: Workbox's message.
  const urlsToCache = performance.getEntriesByType("resource").map(({ name }) => name);
  active?.postMessage({ type: "CACHE_URLS", payload: { urlsToCache } });
}

if (parent === self && !opener) register().catch(() => {});
