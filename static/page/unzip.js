// Archives as the build writes them: zips that store their files uncompressed.

/** The files of a zip, as views into it. */
function* stored(zip) {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  const text = new TextDecoder();
  let end = zip.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end -= 1;
  if (end < 0) throw new Error("An archive of this page is damaged: upload the whole folder that was built.");
  let at = view.getUint32(end + 16, true);
  for (let count = view.getUint16(end + 10, true); count > 0; count -= 1) {
    const size = view.getUint32(at + 24, true);
    const nameLength = view.getUint16(at + 28, true);
    const header = view.getUint32(at + 42, true);
    const start = header + 30 + view.getUint16(header + 26, true) + view.getUint16(header + 28, true);
    yield [text.decode(zip.subarray(at + 46, at + 46 + nameLength)), zip.subarray(start, start + size)];
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
}

const DEFERRED_INDEX = "deferred-index.json"; // where the files of the deferred archive are in it: see deferred-modules.js

/** Puts the files of a zip into the folder `to`, and the index that is in one of them where it belongs. */
export function unpack(FS, zip, to, deferred) {
  const known = new Set();
  for (const [name, content] of stored(zip)) {
    if (name === DEFERRED_INDEX) {
      deferred.index = JSON.parse(new TextDecoder().decode(content));
      continue;
    }
    const path = `${to}/${name}`;
    const folder = path.slice(0, path.lastIndexOf("/"));
    if (!known.has(folder)) {
      FS.mkdirTree(folder);
      known.add(folder);
    }
    FS.writeFile(path, content, { canOwn: true });
  }
}

/**
 * Gives the folders that archives were put into a date that is the same at every start: Python lists a folder anew when
 * its date is another one, and what it has in memory of it is still right.
 */
export function settle(FS, archives) {
  for (const { to } of archives) FS.utime(to, 0, 0);
}
