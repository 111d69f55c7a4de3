// The snapshot is here, and not at the other end of a connection that may be slow: see `isRemembered` in restore.js.
const { snapshot } = JSON.parse(document.getElementById("mcpframe-boot").textContent).files;
localStorage.setItem(`mcpframe snapshot ${location.pathname}`, snapshot.integrity);
