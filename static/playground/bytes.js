// Bytes: as Base64 and hexadecimal digits, packed, and hashed.

/** @param {string} base64 @returns {Uint8Array<ArrayBuffer>} */
export const fromBase64 = (base64) => Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));

/** @param {Uint8Array} bytes */
export function toBase64(bytes) {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** @param {Uint8Array} bytes */
export const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Returns data packed by the browser. @param {Blob} blob @param {CompressionFormat} format */
export async function packed(blob, format) {
  const stream = blob.stream().pipeThrough(new CompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Returns the SHA-256 of data. @param {BufferSource} data */
export const sha256 = async (data) => new Uint8Array(await crypto.subtle.digest("SHA-256", data));
