/** Prints the pieces in which `static/hub/pieces.js` posts each of some texts. */
const { postInPieces } = await import(process.argv[2]);
const texts = ["", "a", "abc", "abcd", "abcdefg"];
const pieces = texts.map((text) => {
  const posted = [];
  postInPieces(text, 3, (piece) => posted.push(piece));
  return [text, posted];
});
console.log(JSON.stringify(pieces));
