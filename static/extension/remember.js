// The snapshot is here, and not at the other end of a connection that may be slow: see `isRemembered` in restore.js.
const { snapshot } = JSON.parse(document.getElementById("mcpframe-boot").textContent).files;
for (const { url, integrity } of snapshot.layers) {
  const { pathname } = new URL(".", new URL(url, document.baseURI));
  localStorage.setItem(`mcpframe snapshot ${pathname}`, integrity);
}
