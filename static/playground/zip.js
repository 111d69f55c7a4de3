// Zip files with stored members, as pages unpack (../page/unzip.js) and as a download: files of some megabytes.

const CRC = Uint32Array.from({ length: 256 }, (_, number) => {
  let value = number;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});
const UTF8 = 1 << 11; // names are UTF-8
const DATE = (1 << 5) | 1; // 1980-01-01, so that the same files give the same bytes

/** Returns the checksum of a zip's member. @param {Uint8Array} bytes */
export function crc32(bytes) {
  let value = 0xffffffff;
  for (const byte of bytes) value = CRC[(value ^ byte) & 255] ^ (value >>> 8);
  return ~value >>> 0;
}

function record(fields) {
  const bytes = new Uint8Array(fields.reduce((sum, [size]) => sum + size, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [size, value] of fields) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += size;
  }
  return bytes;
}

/** Returns a zip file. @param {Record<string, string | Uint8Array>} files */
export function zipOf(files) {
  const encode = (text) => new TextEncoder().encode(text);
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const [path, text] of Object.entries(files)) {
    const [name, data] = [encode(path), typeof text === "string" ? encode(text) : text];
    const [crc, { length }] = [crc32(data), data];
    const common = [
      [2, 20],
      [2, UTF8],
      [2, 0],
      [2, 0],
      [2, DATE],
      [4, crc],
      [4, length],
      [4, length],
      [2, name.length],
      [2, 0],
    ];
    const head = record([[4, 0x04034b50], ...common]);
    parts.push(head, name, data);
    directory.push(record([[4, 0x02014b50], [2, 20], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]]), name);
    offset += head.length + name.length + length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const count = Object.keys(files).length;
  const end = record([
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, count],
    [2, count],
    [4, size],
    [4, offset],
    [2, 0],
  ]);
  return new Blob([...parts, ...directory, end], { type: "application/zip" });
}
