// Unpacks archives as the build writes them: zip files whose members are stored uncompressed. They may begin with something
// else: positions count from the beginning of the file. See `pack_as_wasm` in mcpframe/kit/bundle/pyodide/archive.py.

/** Yields the name and content of each file of a zip; the content is a view into the zip. */
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

const DEFERRED_INDEX = "deferred-index.json"; // the positions of the files in the archive of deferred modules

/** Writes the files of a zip into the folder `to`. The index of the deferred modules, if it has one, goes to `deferred`. */
export function unpack(FS, zip, to, deferred) {
  const known = new Set([to]);
  FS.mkdirTree(to); // the archive may have no files
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
 * Sets the modification time of the folders that archives were unpacked into to the same value at every start. Python's
 * importer lists a folder again if this time has changed, though its cached listing is still right.
 */
export function settle(FS, archives) {
  for (const { to } of archives) FS.utime(to, 0, 0);
}
