// Keeps the memories in which WebAssembly modules note what they run: tests/wasm_profile/noting.py.
{
  const NOTED = "mcpframe-noted:";
  const noted = [];
  const { instantiate } = WebAssembly;
  /** @type {any} */ (WebAssembly).instantiate = async (source, imports) => {
    const done = /** @type {any} */ (await instantiate.call(WebAssembly, source, imports));
    const all = Object.entries((done.instance ?? done).exports);
    const found = all.find(([name]) => name.startsWith(NOTED));
    if (!found) return done;
    noted.push([found[0].slice(NOTED.length), found[1]]);
    const exports = Object.fromEntries(all.filter((each) => each !== found));
    return done.instance ? { ...done, instance: { exports } } : { exports };
  };
  // Returns the hash of each module, and the places of its functions that have run.
  globalThis.mcpframePlaces = () =>
    noted.map(([hash, { buffer }]) => [
      hash,
      [...new Uint8Array(buffer)].flatMap((ran, place) => (ran ? [place] : [])),
    ]);
}
