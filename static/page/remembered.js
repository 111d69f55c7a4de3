// Which layers of snapshots this page has fetched before, and whether it starts from its snapshot.

const keyOf = ({ url }) => `mcpframe snapshot ${new URL(".", new URL(url, document.baseURI)).pathname}`;

/** Returns whether to start from the snapshot: on a slow connection it has to be cached. */
export function isChosen({ snapshot }) {
  return Boolean(snapshot) && (!isSlow() || snapshot.layers.every(isRemembered));
}

/** Returns whether the connection is so slow that the snapshot, larger than the files it replaces, would cost time. */
function isSlow() {
  const line = navigator.connection; // only Chromium has it
  return Boolean(line?.saveData || ["slow-2g", "2g", "3g"].includes(line?.effectiveType));
}

/**
 * Returns whether a layer has been fetched before. Asking the HTTP cache itself would log an error. The key is the layer's
 * folder, so that all pages of a site know the SDK's layer.
 */
function isRemembered(layer) {
  try {
    return localStorage.getItem(keyOf(layer)) === layer.integrity;
  } catch {
    return false; // a page of opaque origin has no storage
  }
}

/** Remembers that a layer is in the HTTP cache. */
export function remember(layer) {
  try {
    if (!isRemembered(layer)) localStorage.setItem(keyOf(layer), layer.integrity);
  } catch {
    return; // no storage
  }
}
