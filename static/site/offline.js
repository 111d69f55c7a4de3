// The service worker of a folder of the public site: what is here works again without a network. Files of the folder's own
// page are fetched at its first visit; all others of this origin are kept as they are visited. A frame of opaque origin is
// out of its reach, and the playground hands such a frame its files.
import { clientsClaim } from "workbox-core";
import { ExpirationPlugin } from "workbox-expiration";
import { precacheAndRoute } from "workbox-precaching";
import { registerRoute } from "workbox-routing";
import { CacheFirst, NetworkFirst } from "workbox-strategies";

// From the build (docs/generate/offline.py): addresses beside this script, each with the hash of a file whose name has none;
// and the paths of files that never change.
/** @type {{ url: string, revision: string | null }[]} */
const FILES = OWN_FILES;
const HASHED = new RegExp(HASHED_NAME);
const WAITING = 5; // seconds for the network, before what is kept is shown
const MOST = 500; // files of each kind, of some megabytes each at most

// A later version takes over once all pages of this one are closed: its files belong together.
// No `cleanupOutdatedCaches`: it would delete the playground's files, too, whose scope begins with that of the site.
clientsClaim();
precacheAndRoute(FILES);

const kept = (name) => ({
  cacheName: `mcpframe ${name} ${/** @type {any} */ (self).registration.scope}`,
  plugins: [new ExpirationPlugin({ maxEntries: MOST, purgeOnQuotaError: true })],
});
registerRoute(({ sameOrigin, url }) => sameOrigin && HASHED.test(url.pathname), new CacheFirst(kept("files")));
registerRoute(({ sameOrigin }) => sameOrigin, new NetworkFirst({ ...kept("pages"), networkTimeoutSeconds: WAITING }));
