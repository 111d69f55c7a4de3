// Inline script of the page at a run origin: it takes the page of a server from the playground, and from nobody else. Its
// policy stays in force for what is written; the server's own adds to it.
(() => {
  const { site } = document.currentScript.dataset;
  const take = ({ source, origin, data }) => {
    if (source !== parent || origin !== site || data?.type !== "mcpframe-page") return;
    document.open(); // removes this listener
    document.write(data.html);
    document.close();
  };
  if (parent === self) return;
  addEventListener("message", take);
  parent.postMessage({ type: "mcpframe-page-wanted" }, site);
})();
