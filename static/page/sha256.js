// A synchronous SHA-256 (FIPS 180-4), for synchronous requests. Asynchronous fetches check their integrity themselves.

const fraction = (value) => ((value - Math.floor(value)) * 2 ** 32) | 0;
const PRIMES = Array.from({ length: 311 }, (_, i) => i + 2).filter((n) => {
  for (let d = 2; d * d <= n; d += 1) if (n % d === 0) return false;
  return true;
});
const K = Int32Array.from(PRIMES.slice(0, 64), (prime) => fraction(Math.cbrt(prime)));
const START = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));

/** Returns the 32 bytes of the hash. */
export function sha256(bytes) {
  const state = Int32Array.from(START);
  const words = new Int32Array(64);
  const whole = bytes.length - (bytes.length % 64);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < whole; at += 64) block(state, words, view, at);

  // The rest, a one bit, zeros, and the length in bits.
  const tail = new Uint8Array(bytes.length % 64 < 56 ? 64 : 128);
  tail.set(bytes.subarray(whole));
  tail[bytes.length % 64] = 0x80;
  const end = new DataView(tail.buffer);
  end.setUint32(tail.length - 8, Math.floor(bytes.length / 2 ** 29));
  end.setUint32(tail.length - 4, (bytes.length << 3) >>> 0);
  for (let at = 0; at < tail.length; at += 64) block(state, words, end, at);

  const hash = new DataView(new ArrayBuffer(32));
  for (const [i, word] of state.entries()) hash.setInt32(i * 4, word);
  return new Uint8Array(hash.buffer);
}

// Without iterators, which take longer than all the rest.
function block(state, w, view, at) {
  for (let i = 0; i < 16; i += 1) w[i] = view.getInt32(at + i * 4);
  for (let i = 16; i < 64; i += 1) {
    const x = w[i - 15];
    const y = w[i - 2];
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
  }
  let a = state[0];
  let b = state[1];
  let c = state[2];
  let d = state[3];
  let e = state[4];
  let f = state[5];
  let g = state[6];
  let h = state[7];
  for (let i = 0; i < 64; i += 1) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}
