// Which layers of snapshots this page has fetched before, and whether it starts from its snapshot.
import { archivesAtStart } from "./archives-at-start.js";

const keyOf = ({ url, name }) => `mcpframe snapshot ${new URL(".", new URL(url, document.baseURI)).pathname}${name}`;

/** The part of an archive, which is bytecode, or of a WebAssembly file that is left of it as gzip. */
const GZIPPED = 0.29;

/**
 * Returns whether to start from the snapshot: on a slow connection, if it needs no more bytes than a start without it.
 * A page that was handed its files has all.
 */
export function isChosen(files) {
  return (
    Boolean(files.snapshot) &&
    (Boolean(files.wasm.address) || !isSlow() || ofSnapshot(files) <= ofArchives(files, "all"))
  );
}

const bytesOf = (files) => files.reduce((sum, { bytes }) => sum + bytes, 0);

/** Returns the bytes of layers that were not fetched before, and of the archives that a start from them needs, too. */
function ofSnapshot(files) {
  const { layers, decoder, files: which } = files.snapshot;
  const missing = layers.filter((layer) => !isRemembered(layer));
  return bytesOf(missing) + (missing.length === layers.length ? decoder.bytes : 0) + ofArchives(files, which);
}

/**
 * Returns the bytes of archives over the wire, and of the second WebAssembly files, which a start needs that imports the
 * server. `which`: see `archivesAtStart`.
 */
function ofArchives(files, which) {
  const { deferred, wasm, libraries } = files;
  const fetched = archivesAtStart(files, which);
  if (which === "all" && deferred.atStart) fetched.push(deferred);
  if (which !== "none") fetched.push(...[wasm, ...libraries].flatMap(({ second }) => second ?? []));
  return GZIPPED * bytesOf(fetched);
}

/** Returns whether the connection is so slow that bytes decide over the time of a start. */
function isSlow() {
  const line = navigator.connection; // only Chromium has it
  return Boolean(line?.saveData || ["slow-2g", "2g", "3g"].includes(line?.effectiveType));
}

/**
 * Returns whether a layer has been fetched before. Asking the HTTP cache itself would log an error. The key has the
 * layer's folder, so that all pages of a site know the SDK's layer.
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
