// The format of a snapshot's layer, which mcpframe/kit/bundle/snapshot/memory.py describes.

/**
 * What a layer consists of. All sizes are in words.
 * @typedef {object} Content
 * @property {number} memory the size of the whole memory, in bytes
 * @property {number} table the number of entries in the table of functions
 * @property {number} [check] the checksum of what the lowest layer leaves out
 * @property {number} [links] the address of the first link of the list of objects that are tracked, in the lowest layer
 * @property {Uint32Array[]} runs for each part the sizes of what is there already, of the page's own, and of zeros before
 *   it, and that of the part: four columns
 * @property {Uint32Array} parts the parts of memory, one after another
 */

/**
 * Returns the content of a layer. It refers to nothing outside of itself: unpack-worker.js needs its text.
 * @param {Uint8Array} bytes
 * @returns {Content}
 */
export function contentOf(bytes) {
  let at = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const meta = JSON.parse(new TextDecoder().decode(bytes.subarray(4, at)));
  const runs = meta.runs.map((size) => {
    const numbers = new Uint32Array(size); // LEB128: at most one for each byte
    const end = at + size;
    let count = 0;
    for (let shift = 0; at < end; at += 1) {
      numbers[count] |= (bytes[at] & 127) << shift;
      shift += 7;
      if (bytes[at] > 127) continue;
      count += 1;
      shift = 0;
    }
    return numbers.subarray(0, count);
  });
  return { ...meta, runs, parts: new Uint32Array(bytes.buffer, bytes.byteOffset + at, (bytes.length - at) >>> 2) };
}
