// The snapshot is here, and not at the other end of a connection that may be slow: see `keyOf` in remembered.js.
const { snapshot } = JSON.parse(document.getElementById("mcpframe-boot").textContent).files;
for (const { url, integrity, name } of snapshot.layers) {
  const { pathname } = new URL(".", new URL(url, document.baseURI));
  localStorage.setItem(`mcpframe snapshot ${pathname}${name}`, integrity);
}
