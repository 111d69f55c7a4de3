// Decompresses a snapshot while it downloads, with zstd: a sixth smaller than gzip, which browsers have built in, and
// twice as fast. The decoder is the unchanged zstd.wasm of the npm package zstddec.

/**
 * Decompresses one zstd frame. It refers to nothing outside of itself: unpack-worker.js needs its text.
 * @param decoder the compiled decoder
 * @param arriving a stream of the frame's bytes
 * @param length the size of the frame in bytes
 * @param size the size of its content in bytes
 * @returns `packed`, the frame, and `unpacked`, its content: views into the decoder's memory
 */
export async function decompress(decoder, arriving, length, size) {
  const BUFFER = 12; // bytes of ZSTD_inBuffer and ZSTD_outBuffer: address, length, position
  const DAMAGED = "it is damaged, or not as long as it was";
  const { exports } = /** @type {any} */ (
    await WebAssembly.instantiate(decoder, { env: { emscripten_notify_memory_growth: () => {} } })
  );
  const [context, from, to, buffers] = [exports.ZSTD_createDCtx(), ...[length, size, 2 * BUFFER].map(exports.malloc)];
  if (!context || !from || !to || !buffers) throw new Error("there is too little memory to unpack it");
  const [input, output] = [buffers, buffers + BUFFER];
  const words = (at) => new Uint32Array(exports.memory.buffer, at, BUFFER / 4); // a new view each time, as memory may grow
  words(input).set([from, 0, 0]);
  words(output).set([to, size, 0]);
  let left = 1; // zstd's return value: 0 once the frame is complete
  const reader = arriving.getReader();
  for (let arrived = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    if (arrived + value.length > length) throw new Error(DAMAGED);
    new Uint8Array(exports.memory.buffer, from).set(value, arrived);
    arrived += value.length;
    words(input)[1] = arrived;
    left = exports.ZSTD_decompressStream(context, output, input);
    if (left < 0) throw new Error(DAMAGED);
  }
  if (left !== 0 || words(input)[2] !== length || words(output)[2] !== size) throw new Error(DAMAGED);
  return {
    packed: new Uint8Array(exports.memory.buffer, from, length),
    unpacked: new Uint8Array(exports.memory.buffer, to, size),
  };
}
