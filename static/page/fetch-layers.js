// Fetches and unpacks the layers of a snapshot: in a worker (unpack-worker.js), or in this thread where there is none.
import { remember } from "./remembered.js";
import { allowsWorker, unpackInWorker } from "./unpack-worker.js";
import { decompress } from "./zstd.js";

/** Throws if the hash of `data` is not `integrity`, which has the format of a fetch. Needs a secure context. */
export async function verify(data, integrity) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
  if (integrity !== `sha256-${btoa(String.fromCharCode(...digest))}`) throw new Error("its hash is wrong");
}

/**
 * An unpacked layer, its content if it has been read, and a promise that is rejected if its hash is wrong.
 * @typedef {{ bytes: Uint8Array, content?: import("./layer-content.js").Content, checked?: Promise<void> }} Layer
 */

/**
 * Fetches a snapshot and unpacks its layers.
 * @param file the snapshot's entry in the boot config
 * @param get fetches a file and checks its hash
 * @param compile fetches and compiles a file
 * @param {(file: any) => void} loaded is called with the entry of each file that a worker has fetched
 * @returns {Promise<Layer[]>} the lowest first
 */
export async function fetchSnapshot(file, get, compile, loaded) {
  const begun = globalThis.mcpframeUnpacking ?? (allowsWorker() && unpackInWorker(file)); // by prefetch.js
  delete globalThis.mcpframeUnpacking;
  const layers = await Promise.resolve(begun).catch(() => null);
  // What has failed in the worker fails here with a reason, or works.
  if (!layers) return fetchHere(file, get, compile);
  for (const each of [...file.layers, file.decoder]) loaded(each);
  layers.forEach(({ checked }, number) => {
    checked.then(
      () => remember(file.layers[number]),
      () => {}, // reported by `fill`
    );
  });
  return layers;
}

function fetchHere(file, get, compile) {
  const decoder = compile(file.decoder);
  decoder.catch(() => {}); // reported by each layer
  return Promise.all(file.layers.map((layer) => fetchLayer(layer, decoder, get)));
}

async function fetchLayer(file, decoder, get) {
  // If possible, the hash is computed in parallel with the decompression. Only secure contexts have `subtle`.
  const response = await get(crypto.subtle ? { ...file, integrity: null } : file);
  try {
    const { packed, unpacked } = await decompress(await decoder, response.body, file.bytes, file.unpacked);
    const isRight = crypto.subtle ? verify(packed, file.integrity) : Promise.resolve();
    const checked = isRight.then(() => remember(file));
    checked.catch(() => {}); // reported by `fill`
    return { bytes: unpacked, checked };
  } catch (error) {
    await get(file); // throws if its hash is wrong
    throw error;
  }
}
