// Prepares native libraries for Emscripten's linker, so that nothing is compiled twice.

// The header of every WebAssembly module; alone, the smallest module.
const EMPTY_MODULE = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

const TYPES = { i: 0x7f, p: 0x7f, j: 0x7e, f: 0x7d, d: 0x7c, e: 0x6f }; // of Emscripten's signatures
const [FUNCTION_TYPE, CUSTOM, TYPE, IMPORT, FUNCTION, TABLE, EXPORT, ELEMENT, CODE] = [0x60, 0, 1, 2, 3, 4, 7, 9, 10];

/** Encodes a number as WebAssembly does (LEB128). */
function number(value) {
  const bytes = [];
  for (let rest = value; rest || !bytes.length; rest >>>= 7) bytes.push((rest & 127) | (rest > 127 ? 128 : 0));
  return bytes;
}

const vector = (items) => [...number(items.length), ...items.flat()];
const name = (text) => vector([...new TextEncoder().encode(text)]);
const section = (id, content) => [id, ...vector(content)];

// A module whose only function is both exported and in its table.
const ONE_FUNCTION = [
  ...EMPTY_MODULE,
  ...section(TYPE, vector([[FUNCTION_TYPE, 0, 0]])),
  ...section(FUNCTION, vector([[0]])),
  ...section(TABLE, vector([[0x70, 0, 1]])), // functions, at least one
  ...section(
    EXPORT,
    vector([
      [...name("one"), 0, 0],
      [...name("table"), 1, 0],
    ]),
  ),
  ...section(ELEMENT, vector([[0, 0x41, 0, 0x0b, 1, 0]])), // at `i32.const 0`: the function
  ...section(CODE, vector([[2, 0, 0x0b]])),
];

export const emptyModule = () => Uint8Array.from(EMPTY_MODULE);

/** Returns the head of a compiled library: the section that Emscripten reads before it would compile the library. */
export function headOf(library) {
  // WebAssembly's tool conventions, "Dynamic Linking"
  const content = new Uint8Array(WebAssembly.Module.customSections(library, "dylink.0")[0]);
  return Uint8Array.from([...EMPTY_MODULE, ...section(CUSTOM, [...name("dylink.0"), ...content])]);
}

/**
 * Returns whether tables have other objects for a module's functions than its exports, as in WebKit 2.50, against the
 * specification. Emscripten looks up the address of a function by its object.
 */
export function hasCopies() {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(ONE_FUNCTION)));
  const { one, table } = /** @type {any} */ (exports);
  return table.get(0) !== one;
}

/** Puts the exported functions of a module that has just been linked into the table, in place of their copies. */
export function replaceCopies({ exports }, { env }) {
  const { __indirect_function_table: table = env.__indirect_function_table } = exports; // Python's own, which all use
  const first = table === exports.__indirect_function_table ? 0 : env.__table_base;
  const functions = Object.values(exports).filter((one) => typeof one === "function");
  const byNumber = new Map(functions.map((one) => [one.name, one])); // each is named by its number in the module
  for (let place = first; place < table.length; place += 1) {
    const exported = byNumber.get(table.get(place)?.name);
    if (exported) table.set(place, exported);
  }
}

/**
 * Prepares linked libraries for Python, which looks them up by their paths. The function that initializes a module gets an
 * entry in the table of functions now: it has none if another library exports the same name, and a table that grows during
 * an import would be of another size than before it.
 * @param libraries the entries of the libraries in the boot config
 */
export function settleLibraries({ LDSO: { loadedLibsByName: loaded }, addFunction }, libraries) {
  for (const { path, neededAs } of libraries) {
    loaded[path] ??= loaded[neededAs];
    for (const [name, exported] of Object.entries(loaded[path].exports)) {
      if (name.startsWith("PyInit_")) addFunction(exported);
    }
  }
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
