// Keeps the memory of a page as it was just after a snapshot was restored, for tests/benchmarks/blocks.py.
{
  const BLOCK = 16; // 64 bytes, in words
  const memories = [];
  let memory;
  let linked;
  let restored;
  for (const name of ["instantiate", "instantiateStreaming"]) {
    const link = WebAssembly[name];
    WebAssembly[name] = async (...args) => {
      const done = await link.apply(WebAssembly, args);
      const exports = Object.values((done.instance ?? done).exports);
      memories.push(...exports.filter((each) => each instanceof WebAssembly.Memory));
      return done;
    };
  }
  const copied = () => {
    memory = memories.reduce((one, other) => (one.buffer.byteLength < other.buffer.byteLength ? other : one));
    return new Uint32Array(memory.buffer).slice();
  };
  const mark = performance.mark.bind(performance);
  performance.mark = (name, options) => {
    if (name === "mcpframe:linked") linked = copied();
    if (name === "mcpframe:restored") restored = copied();
    return mark(name, options);
  };
  // Returns the places of blocks that differ now, and the memory after the restore, as gzip in Base64. What each page has
  // before it, and a snapshot does not, is zero there.
  globalThis.benchBlocks = async () => {
    if (!restored) return null;
    const now = new Uint32Array(memory.buffer);
    const written = [];
    for (let at = 0; at < restored.length; at += BLOCK) {
      for (let word = at; word < at + BLOCK; word += 1) {
        if (restored[word] === now[word]) continue;
        written.push(at / BLOCK);
        break;
      }
    }
    for (let at = 0; at < linked.length; at += BLOCK) {
      const block = restored.subarray(at, at + BLOCK);
      if (block.every((value, word) => value === linked[at + word])) block.fill(0);
    }
    const packed = await new Response(new Blob([restored]).stream().pipeThrough(new CompressionStream("gzip"))).blob();
    const reader = new FileReader();
    const url = await new Promise((resolve) => {
      reader.onload = () => resolve(reader.result);
      reader.readAsDataURL(packed);
    });
    return { written, memory: url.slice(url.indexOf(",") + 1) };
  };
}
