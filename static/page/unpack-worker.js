// Fetches and unpacks the layers of a snapshot in a worker, while the page's thread starts Python. The program of the
// worker is the text of functions: as a blob, it has the page's policy, and needs no file of its own.

import { contentOf } from "./layer-content.js";
import { decompress } from "./zstd.js";

const PATIENCE = 5_000; // milliseconds for a worker to begin, as there may be no event if it never does

/** Runs in the worker: posts each layer, then its hash. It refers to nothing outside of itself. */
function unpackAll(unpackOne, readContent) {
  const get = async (url, integrity = "") => {
    const response = await fetch(url, { credentials: "same-origin", integrity });
    if (!response.ok) throw new Error(`${url} is missing`);
    return response;
  };
  const hash = async (data) => {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
    return `sha256-${btoa(String.fromCharCode(...digest))}`;
  };
  const post = /** @type {(data: object, transfer?: Transferable[]) => void} */ (globalThis.postMessage);
  addEventListener("message", async ({ data: { layers, decoder } }) => {
    try {
      const compiled = WebAssembly.compileStreaming(get(decoder));
      compiled.catch(() => {}); // reported by each layer
      const one = async ({ url, integrity, bytes, unpacked: size }, number) => {
        // Only secure contexts have `subtle`, with which the hash is computed in parallel.
        const response = await get(url, crypto.subtle ? "" : integrity);
        const { packed, unpacked } = await unpackOne(await compiled, response.body, bytes, size);
        const hashed = crypto.subtle ? hash(packed) : integrity;
        const copy = unpacked.slice();
        const content = readContent(copy);
        post({ number, layer: { bytes: copy, content } }, [copy.buffer, ...content.runs.map(({ buffer }) => buffer)]);
        post({ number, hash: await hashed });
      };
      await Promise.all(layers.map(one));
    } catch (error) {
      post({ error: String(error) });
    }
  });
  post({ begun: true });
}

/** Returns whether the page's own policy allows the worker: in the document of a view, which has none, nobody knows. */
export function allowsWorker() {
  const meta = document.querySelector('meta[http-equiv="Content-Security-Policy"]');
  return /worker-src[^;]* blob:/.test(meta?.getAttribute("content"));
}

/**
 * Fetches and unpacks the layers of a snapshot in a worker.
 * @param snapshot its entry in the boot config
 * @returns {Promise<import("./fetch-layers.js").Layer[]>} the lowest first; rejected if the worker fails
 */
export async function unpackInWorker({ layers, decoder }) {
  const absolute = ({ address, url }) => new URL(address ?? url, document.baseURI).href;
  const program = new Blob([`(${unpackAll})(${decompress}, ${contentOf});`], { type: "text/javascript" });
  const address = URL.createObjectURL(program);
  const worker = new Worker(address, { name: "mcpframe: unpacks a snapshot" });
  worker.postMessage({
    layers: layers.map((layer) => ({ ...layer, url: absolute(layer), references: null })),
    decoder: absolute(decoder),
  });
  const hashed = layers.map(({ integrity }) => {
    let settle;
    const checked = new Promise((right, wrong) => {
      settle = (hash) => (hash === integrity ? right() : wrong(new Error("its hash is wrong")));
    });
    return { checked, settle };
  });
  Promise.all(hashed.map(({ checked }) => checked)).then(
    () => worker.terminate(),
    () => {}, // reported by those who await it
  );
  return new Promise((resolve, reject) => {
    const unpacked = layers.map(() => null);
    const fail = (reason) => {
      worker.terminate();
      reject(new Error(reason));
      for (const { settle } of hashed) settle(null);
    };
    const timer = setTimeout(fail, PATIENCE, "its worker does not begin");
    worker.onerror = (event) => {
      event.preventDefault();
      fail(event.message || "there is no worker for it");
    };
    worker.onmessage = ({ data: { begun, error, number, layer, hash } }) => {
      clearTimeout(timer);
      if (begun) URL.revokeObjectURL(address);
      else if (error) fail(error);
      else if (layer) unpacked[number] = { ...layer, checked: hashed[number].checked };
      else hashed[number].settle(hash);
      if (unpacked.every(Boolean)) resolve(unpacked);
    };
  });
}
