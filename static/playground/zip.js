// Zip files with stored members, as pages unpack (../page/unzip.js) and as a download: files of some megabytes. In a
// download, members may be deflated.

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

const GZIP_HEAD = 10; // bytes, without a name and other extras
const GZIP_END = 8; // the checksum and the size of the content

/** The content of a gzip file, as a member that is deflated. */
export class Deflated {
  /** @param {Uint8Array} gzip of one member, with no name */
  constructor(gzip) {
    if (gzip[0] !== 0x1f || gzip[1] !== 0x8b || gzip[3]) throw new Error("This is no plain gzip file.");
    const end = new DataView(gzip.buffer, gzip.byteOffset + gzip.length - GZIP_END, GZIP_END);
    this.data = gzip.subarray(GZIP_HEAD, -GZIP_END);
    this.crc = end.getUint32(0, true);
    this.size = end.getUint32(4, true);
    this.method = 8;
  }
}

const encode = (text) => new TextEncoder().encode(text);

function member(content) {
  if (content instanceof Deflated) return content;
  const data = typeof content === "string" ? encode(content) : content;
  return { data, crc: crc32(data), size: data.length, method: 0 };
}

/** Returns a zip file. @param {Record<string, string | Uint8Array | Deflated>} files */
export function zipOf(files) {
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const [path, content] of Object.entries(files)) {
    const name = encode(path);
    const { data, crc, size, method } = member(content);
    const common = [
      [2, 20],
      [2, UTF8],
      [2, method],
      [2, 0],
      [2, DATE],
      [4, crc],
      [4, data.length],
      [4, size],
      [2, name.length],
      [2, 0],
    ];
    const head = record([[4, 0x04034b50], ...common]);
    parts.push(head, name, data);
    directory.push(record([[4, 0x02014b50], [2, 20], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]]), name);
    offset += head.length + name.length + data.length;
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
