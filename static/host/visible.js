/** Untrusted texts for the user to read. The same as `mcpframe/frame/core/visible.py`, which a test compares. */

const UNSEEN =
  /(?![\t\n])[\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Surrogate}\p{Cc}\p{Zl}\p{Zp}\ufff9-\ufffb\u{13430}-\u{1343f}\u2800\u{13441}\u{13442}\u{16fe4}\u{1d159}]/gu;
const PRESENTATION = /[\ufe0e\ufe0f]/;
const JOINERS = /[\u200c\u200d]/;
const KEYCAPS = /[#*0-9]/;
const SYMBOL = /[\p{So}\p{Sm}\p{Sk}\u203c\u2049\u2139\u3030]/u;
const BLANK = /[\u2800\u{1d159}]/u;
const LETTER = /\p{L}/u;
/** A combining mark of one script, such as a virama, which joins letters. Marks of all scripts do not. */
const JOINING_MARK = /(?!\p{Script=Inherited})\p{M}/u;
const CURSIVE = /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;

const isSymbol = (character) => SYMBOL.test(character) && !BLANK.test(character);

/** Return the last character before a place, and the one before that. */
function before(text, at) {
  return [...text.slice(Math.max(0, at - 4), at)].reverse();
}

/** Return whether a character changes the glyphs at its place. */
function isSeen(character, text, at) {
  const [last, earlier] = before(text, at);
  const [next] = text.slice(at + 1, at + 3);
  if (last === undefined) return false;
  if (PRESENTATION.test(character)) return isSymbol(last) || (KEYCAPS.test(last) && next === "\u20e3");
  if (!JOINERS.test(character) || next === undefined) return false;
  if (JOINING_MARK.test(last)) return LETTER.test(next);
  if (character === "\u200c") return CURSIVE.test(last) && CURSIVE.test(next);
  return isSymbol(PRESENTATION.test(last) ? (earlier ?? "") : last) && isSymbol(next);
}

function escaped(character) {
  const code = character.codePointAt(0);
  const short = { "\r": "\\r" }[character];
  if (short) return short;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
}

/**
 * Return a text with control and invisible characters as escapes, such as `\u202e`; tabs and newlines stay.
 * @param {unknown} text
 */
export function visible(text) {
  return String(text).replace(UNSEEN, (character, at, whole) =>
    isSeen(character, whole, at) ? character : escaped(character),
  );
}

/** Return a text of at most so many characters; an ellipsis stands for the rest. */
export function cut(text, most) {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
