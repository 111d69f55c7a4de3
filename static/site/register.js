// Starts the service worker beside the page, in browsers and at addresses that have one. Without it, pages need a network.
navigator.serviceWorker?.register(new URL("offline.js", document.baseURI)).catch(() => {});
