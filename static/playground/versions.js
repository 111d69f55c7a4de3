// Versions of a project: which files differ, and which versions are too old to be kept.

export const MOST_VERSIONS = 50; // of a project
export const MOST_VERSION_BYTES = 20_000_000; // of all versions of a project

/** @typedef {string | Uint8Array} Content a text, or the bytes of a file that is none */
/** @typedef {{ key?: number, project: string, date: number, reason: string, bytes: number, files: Record<string, Content> }} Version */

/** Returns whether two files have the same content. @param {Content} one @param {Content} other */
export function sameContent(one, other) {
  if (typeof one === "string" || typeof other === "string" || !one || !other) return one === other;
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

/**
 * Returns the paths of files that were added, changed or removed.
 * @param {Record<string, Content>} before
 * @param {Record<string, Content>} after
 */
export function changedFiles(before, after) {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  const content = (files, path) => (Object.hasOwn(files, path) ? files[path] : undefined);
  return [...paths].filter((path) => !sameContent(content(before, path), content(after, path))).sort();
}

/** Returns the bytes of files and their names; of texts, at least. @param {Record<string, Content>} files */
export function sizeOf(files) {
  return Object.entries(files).reduce((sum, [path, { length }]) => sum + path.length + length, 0);
}

/**
 * Returns the versions that are over the limits, the oldest first. The newest is never one of them.
 * @param {Pick<Version, "bytes">[]} versions of one project, the oldest first
 */
export function surplus(versions) {
  let bytes = 0;
  const kept = versions.toReversed().findIndex((version, at) => {
    bytes += version.bytes;
    return at > 0 && (at >= MOST_VERSIONS || bytes > MOST_VERSION_BYTES);
  });
  return kept === -1 ? [] : versions.slice(0, versions.length - kept);
}
