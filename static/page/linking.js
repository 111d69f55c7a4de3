// What Emscripten is given so that native libraries are linked without anything being compiled twice.

// The beginning of every WebAssembly module; alone, the smallest one.
const EMPTY_MODULE = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

const TYPES = { i: 0x7f, p: 0x7f, j: 0x7e, f: 0x7d, d: 0x7c, e: 0x6f }; // of Emscripten's signatures
const [FUNCTION_TYPE, CUSTOM, TYPE, IMPORT, EXPORT] = [0x60, 0, 1, 2, 7];

/** A number as WebAssembly writes it (LEB128). */
function number(value) {
  const bytes = [];
  for (let rest = value; rest || !bytes.length; rest >>>= 7) bytes.push((rest & 127) | (rest > 127 ? 128 : 0));
  return bytes;
}

const vector = (items) => [...number(items.length), ...items.flat()];
const name = (text) => vector([...new TextEncoder().encode(text)]);
const section = (id, content) => [id, ...vector(content)];

export const emptyModule = () => Uint8Array.from(EMPTY_MODULE);

/** The beginning of a library, with what Emscripten wants to know before it compiles one: which is done already. */
export function headOf(library) {
  const content = new Uint8Array(WebAssembly.Module.customSections(library, "dylink.0")[0]); // tool conventions, "Dynamic Linking"
  return Uint8Array.from([...EMPTY_MODULE, ...section(CUSTOM, [...name("dylink.0"), ...content])]);
}

/**
 * Functions of JavaScript as ones of WebAssembly, whose addresses native code can have: by one module for all, which
 * imports and exports them.
 * @param functions with `sig`: their types, the result's first
 * @returns a Map from function to function
 */
export function asWasm(functions) {
  const all = [...new Set(functions)];
  const types = [...new Set(all.map(({ sig }) => sig))];
  const valueTypes = (letters) => vector([...letters].map((letter) => TYPES[letter]));
  const typed = ([result, ...parameters]) => [FUNCTION_TYPE, ...valueTypes(parameters), ...valueTypes(result === "v" ? "" : result)];
  const bytes = Uint8Array.from([
    ...EMPTY_MODULE,
    ...section(TYPE, vector(types.map(typed))),
    ...section(IMPORT, vector(all.map(({ sig }, at) => [...name(""), ...name(String(at)), 0, ...number(types.indexOf(sig))]))),
    ...section(EXPORT, vector(all.map((_, at) => [...name(String(at)), 0, ...number(at)]))),
  ]);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { "": { ...all } });
  return new Map(all.map((one, at) => [one, exports[at]]));
}
