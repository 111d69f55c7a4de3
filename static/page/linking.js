// Prepares native libraries for Emscripten's linker, so that nothing is compiled twice.

// The beginning of every WebAssembly module; alone, the smallest one.
const EMPTY_MODULE = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

const TYPES = { i: 0x7f, p: 0x7f, j: 0x7e, f: 0x7d, d: 0x7c, e: 0x6f }; // of Emscripten's signatures
const [FUNCTION_TYPE, CUSTOM, TYPE, IMPORT, EXPORT] = [0x60, 0, 1, 2, 7];

/** Encodes a number as WebAssembly does (LEB128). */
function number(value) {
  const bytes = [];
  for (let rest = value; rest || !bytes.length; rest >>>= 7) bytes.push((rest & 127) | (rest > 127 ? 128 : 0));
  return bytes;
}

const vector = (items) => [...number(items.length), ...items.flat()];
const name = (text) => vector([...new TextEncoder().encode(text)]);
const section = (id, content) => [id, ...vector(content)];

export const emptyModule = () => Uint8Array.from(EMPTY_MODULE);

/** Returns the head of a compiled library: the section that Emscripten reads before it would compile the library. */
export function headOf(library) {
  // WebAssembly's tool conventions, "Dynamic Linking"
  const content = new Uint8Array(WebAssembly.Module.customSections(library, "dylink.0")[0]);
  return Uint8Array.from([...EMPTY_MODULE, ...section(CUSTOM, [...name("dylink.0"), ...content])]);
}

/**
 * Wraps JavaScript functions as WebAssembly functions, which can be in the table that native code calls. One module
 * imports and exports all of them.
 * @param functions each with `sig`, Emscripten's signature: the type of the result, then those of the parameters
 * @returns a Map from JavaScript function to WebAssembly function
 */
export function asWasm(functions) {
  const all = [...new Set(functions)];
  const types = [...new Set(all.map(({ sig }) => sig))];
  const valueTypes = (letters) => vector([...letters].map((letter) => TYPES[letter]));
  const typed = ([result, ...parameters]) => [
    FUNCTION_TYPE,
    ...valueTypes(parameters),
    ...valueTypes(result === "v" ? "" : result),
  ];
  const bytes = Uint8Array.from([
    ...EMPTY_MODULE,
    ...section(TYPE, vector(types.map(typed))),
    ...section(
      IMPORT,
      vector(all.map(({ sig }, at) => [...name(""), ...name(String(at)), 0, ...number(types.indexOf(sig))])),
    ),
    ...section(EXPORT, vector(all.map((_, at) => [...name(String(at)), 0, ...number(at)]))),
  ]);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { "": { ...all } });
  return new Map(all.map((one, at) => [one, exports[at]]));
}
