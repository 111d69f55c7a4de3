// In the page itself, before its scripts: begins with what takes longest, and does no more where that is not possible.
try {
  const { snapshot, wasm, libraries } = JSON.parse(document.getElementById("mcpframe-boot").textContent).files;
  const compiling = {}; // see `compile` in loader.js
  for (const { url } of [wasm, ...libraries.slice(0, snapshot.libraries)]) {
    const response = fetch(url, { credentials: "same-origin" });
    const module = WebAssembly.compileStreaming(response);
    module.catch(() => {}); // told by the loader
    compiling[url] = { response, module };
  }
  globalThis.mcpframeCompiling = compiling;
  // Where the snapshot has been here before, it is asked for at once: `isRemembered` in restore.js has noted it.
  if (localStorage.getItem(`mcpframe snapshot ${location.pathname}`) === snapshot.integrity) {
    const link = document.createElement("link");
    document.head.append(Object.assign(link, { rel: "preload", as: "fetch", crossOrigin: "anonymous", href: snapshot.url }));
  }
} catch {
  // A page of opaque origin has no storage: the snapshot is fetched by restore.js.
}
