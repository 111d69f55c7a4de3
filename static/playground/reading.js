// Streams of strangers, read up to a limit.
import { ProjectError } from "./project-files.js";

/**
 * Returns all bytes of a stream.
 * @param {ReadableStream<any>} stream
 * @param {number} most
 * @param {string} refusal the error's text if there are more; no more is read then
 * @returns {Promise<Blob>}
 * @throws {ProjectError}
 */
export async function readAll(stream, most, refusal) {
  const parts = [];
  let size = 0;
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts);
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw new ProjectError(refusal);
    }
    parts.push(value);
  }
}
