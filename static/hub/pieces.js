/**
 * Posts a text in pieces of at most `longest` characters: `+` begins one that is followed by others, `.` the last. The
 * other end is `mcpframe.hub.core.pieces`.
 * @param {string} text
 * @param {number} longest
 * @param {(piece: string) => void} post
 */
export function postInPieces(text, longest, post) {
  let start = 0;
  for (; text.length - start > longest; start += longest) post(`+${text.slice(start, start + longest)}`);
  post(`.${text.slice(start)}`);
}
