// Inline script of a page with a snapshot: starts the longest downloads before any other script has loaded. If it fails,
// the loader starts them later.
import { isChosen } from "./remembered.js";
import { allowsWorker, unpackInWorker } from "./unpack-worker.js";

export function prefetch() {
  try {
    const { files } = JSON.parse(document.getElementById("mcpframe-boot").textContent);
    const { snapshot, wasm, libraries } = files;
    const compiled = [wasm, ...libraries.slice(0, snapshot.libraries)];
    if (isChosen(files) && allowsWorker()) {
      globalThis.mcpframeUnpacking = unpackInWorker(snapshot);
      globalThis.mcpframeUnpacking.catch(() => {}); // reported by the loader
    } else if (isChosen(files)) {
      compiled.push(snapshot.decoder);
      for (const { url } of files.wasm.address ? [] : snapshot.layers) {
        const link = document.createElement("link");
        document.head.append(Object.assign(link, { rel: "preload", as: "fetch", crossOrigin: "anonymous", href: url }));
      }
    }
    const compiling = {};
    for (const { url, address, integrity } of compiled) {
      // See `compile` in bundle-files.js: a blob's hash is checked.
      const response = fetch(address ?? url, { credentials: "same-origin", integrity: address ? integrity : "" });
      const module = WebAssembly.compileStreaming(response);
      module.catch(() => {}); // reported by the loader
      compiling[url] = { response, module };
    }
    globalThis.mcpframeCompiling = compiling;
  } catch {
    // The loader does it.
  }
}
