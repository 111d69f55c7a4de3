// In the page itself, before everything else: where the snapshot has been here before, it is asked for at once. See
// `isRemembered` in restore.js, which makes the note of it.
try {
  const { url, integrity } = document.currentScript.dataset;
  if (localStorage.getItem(`mcpframe snapshot ${location.pathname}`) === integrity) {
    const link = document.createElement("link");
    document.head.append(Object.assign(link, { rel: "preload", as: "fetch", crossOrigin: "anonymous", href: url }));
  }
} catch {
  // A page of opaque origin has no storage: the snapshot is fetched by restore.js.
}
