// Inline script of a page with a snapshot: starts the longest downloads before any other script has loaded. If it fails,
// the loader starts them later.
export function prefetch() {
  try {
    const { snapshot, wasm, libraries } = JSON.parse(document.getElementById("mcpframe-boot").textContent).files;
    const compiling = {}; // see `compile` in loader.js
    for (const { url } of [wasm, ...libraries.slice(0, snapshot.libraries)]) {
      const response = fetch(url, { credentials: "same-origin" });
      const module = WebAssembly.compileStreaming(response);
      module.catch(() => {}); // reported by the loader
      compiling[url] = { response, module };
    }
    globalThis.mcpframeCompiling = compiling;
    // Layers that were fetched before are in the HTTP cache: see `isRemembered` in restore.js.
    for (const { url, integrity } of snapshot.layers) {
      const { pathname } = new URL(".", new URL(url, document.baseURI));
      if (localStorage.getItem(`mcpframe snapshot ${pathname}`) !== integrity) continue;
      const link = document.createElement("link");
      document.head.append(Object.assign(link, { rel: "preload", as: "fetch", crossOrigin: "anonymous", href: url }));
    }
  } catch {
    // A page of opaque origin has no storage: the snapshot is fetched by restore.js.
  }
}
