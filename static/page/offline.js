// The service worker of a folder: of the public site, or of a bundle that can be installed (`mcpframe build --pwa`). What is
// here works again without a network. A frame of opaque origin is out of its reach, and the playground hands such a frame
// its files.
import { cacheNames, clientsClaim } from "workbox-core";
import { ExpirationPlugin } from "workbox-expiration";
import { getCacheKeyForURL, precache, precacheAndRoute } from "workbox-precaching";
import { registerRoute } from "workbox-routing";
import { CacheFirst, NetworkFirst, NetworkOnly } from "workbox-strategies";

// From the build (kit/bundle/assembly/installable.py): addresses beside this script, each with the hash of a file whose
// name has none.
/** @type {{ url: string, revision: string | null }[]} */
const FILES = OWN_FILES;
/** A bundle's further files, which are kept once they are used; null for the public site. @type {string[] | null} */
const OTHERS = OTHER_FILES;
const WAITING = 5; // seconds for the network, before what is kept is shown
const MOST = 500; // files of each kind, of some megabytes each at most

const { registration } = /** @type {any} */ (self);
const nameOf = (kind) => `mcpframe ${kind} ${registration.scope}`;

// A later version takes over once all pages of this one are closed: its files belong together.
// No `cleanupOutdatedCaches`: it would delete the playground's files, too, whose scope begins with that of the site.
clientsClaim();
if (OTHERS) keepBundle(OTHERS);
else keepSite();

/** Files of the folder's own page are fetched at its first visit; all others of this origin are kept as they are visited. */
function keepSite() {
  precacheAndRoute(FILES);
  const hashed = new RegExp(HASHED_NAME); // the paths of files that never change
  const kept = (name) => ({
    cacheName: nameOf(name),
    plugins: [new ExpirationPlugin({ maxEntries: MOST, purgeOnQuotaError: true })],
  });
  registerRoute(({ sameOrigin, url }) => sameOrigin && hashed.test(url.pathname), new CacheFirst(kept("files")));
  registerRoute(({ sameOrigin }) => sameOrigin, new NetworkFirst({ ...kept("pages"), networkTimeoutSeconds: WAITING }));
}

/**
 * A bundle's page names its other files by their hashes, so the page decides of which build everything is: the network's
 * newest one, or without a network the newest whose files are all here. Nothing but the bundle's files is touched.
 * @param {string[]} others
 */
function keepBundle(others) {
  precache(FILES); // each with its hash: a build that is half uploaded, or changed on its way, is not kept
  const page = "index.html";
  const absolute = (url) => new URL(url, location.href).href;
  const fresh = new Map(FILES.flatMap(({ url, revision }) => (revision ? [[absolute(url), url]] : [])));
  fresh.set(absolute("./"), page);
  const own = new Set(FILES.map(({ url }) => absolute(url)));
  const further = new Set(others.map(absolute));
  const kept = (url) =>
    caches.match(getCacheKeyForURL(absolute(url)) ?? "", { cacheName: cacheNames.precache, ignoreVary: true });

  const network = new NetworkOnly({ networkTimeoutSeconds: WAITING });
  const ofKept = new Set(); // documents that came from here, as what they read of their build does then
  const newest = async ({ request, event, params: name }) => {
    // Of a navigation, the client is the document that is left.
    if (name !== page && ofKept.has(event.clientId)) return (await kept(name)) ?? fetch(request);
    try {
      const response = await network.handle({ request, event });
      if (name === page && response.ok) event.waitUntil(leaveUnlessWanted(response.clone()));
      return response;
    } catch (error) {
      const response = await kept(name);
      if (!response) throw error;
      if (event.resultingClientId) ofKept.add(event.resultingClientId);
      return response;
    }
  };
  const whole = ({ request }) => !request.headers.has("range"); // the browser asks for parts of media by itself
  registerRoute(({ url }) => fresh.get(url.origin + url.pathname), /** @type {any} */ (newest));
  registerRoute(
    ({ request, url }) => whole({ request }) && own.has(url.href),
    async ({ request, url }) => (await kept(url.href)) ?? fetch(request),
  );
  // Nothing is stored any more once this worker has left, while pages of its time are open.
  const stays = async ({ response }) =>
    response.status === 200 && (await caches.has(cacheNames.precache)) ? response : null;
  const used = new CacheFirst({ cacheName: nameOf("files"), plugins: [{ cacheWillUpdate: stays }] });
  registerRoute(({ request, url }) => whole({ request }) && further.has(url.href), used);

  addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(forgetEarlier()));
  async function forgetEarlier() {
    const cache = await caches.open(nameOf("files"));
    const earlier = (await cache.keys()).filter(({ url }) => !further.has(url));
    await Promise.all(earlier.map((request) => cache.delete(request)));
  }
}

/** Removes this worker and all that it keeps, where the page is now of a build without it. @param {Response} response */
async function leaveUnlessWanted(response) {
  const text = await response.text();
  if (!text.includes('id="mcpframe-boot"') || text.includes('<link rel="manifest"')) return;
  await registration.unregister();
  const own = (await caches.keys()).filter((name) => name.endsWith(registration.scope));
  await Promise.all(own.map((name) => caches.delete(name)));
}
