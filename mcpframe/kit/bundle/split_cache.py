"""Python's WebAssembly in its two files, from the cache: splitting it takes a second of each build."""

from __future__ import annotations

from functools import lru_cache

from mcpframe.kit.base.cache import write_file
from mcpframe.kit.bundle.assembly.wasm_files import in_two
from mcpframe.kit.bundle.pyodide.compile import cache_key, cached
from mcpframe.kit.bundle.wasm.profile import FOLDER, profiled
from mcpframe.kit.bundle.wasm.split import Pair

_SIZE = 8  # bytes of the first file's size


def in_two_once(data: bytes) -> Pair:
    """Return what `in_two` returns for a module, which it makes only once."""
    texts = profiled()
    return _kept(data, texts) if texts else in_two(data)


@lru_cache(maxsize=1)  # for `mcpframe dev`, which builds after each change
def _kept(data: bytes, texts: tuple[str, ...]) -> Pair:
    sources = [path.read_bytes() for path in sorted(FOLDER.parent.glob("*.py"))]
    path = cached("split", cache_key(data, *texts, *sources))
    if not path.is_file():
        pair = in_two(data)
        write_file(path, len(pair.first).to_bytes(_SIZE, "big") + pair.first + pair.second)
        return pair
    kept = path.read_bytes()
    end = _SIZE + int.from_bytes(kept[:_SIZE], "big")
    return Pair(kept[_SIZE:end], kept[end:])
