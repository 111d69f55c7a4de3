"""The file of a snapshot: memory without what is zero in it, compressed as every browser can undo it.

    gzip( length of the JSON, 4 bytes, little-endian | JSON | the parts of memory that are not zero, one after another )

The JSON has `memory`, the size of the whole; `runs`, for each part how many bytes of zeros come before it and how long
it is; and what `static/restore.js` needs besides: `build`, `table`, `references`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from typing import Any

_LEVEL = 7  # 9 takes three times as long, for half a percent
_GRAIN = 512
"""Bytes of zeros that make it worth to begin a new part."""


def sparse(memory: bytes, meta: Mapping[str, Any]) -> tuple[bytes, int]:
    """Write a snapshot.

    Args:
        memory: The whole memory.
        meta: What else belongs into the JSON.

    Returns:
        The file, and its size before compression.
    """
    nothing = bytes(_GRAIN)
    runs: list[int] = []
    parts: list[bytes] = []
    end = start = 0
    view = memoryview(memory)
    for at in range(0, len(memory) + _GRAIN, _GRAIN):
        if any(view[at : at + _GRAIN]) if at + _GRAIN > len(memory) else view[at : at + _GRAIN] != nothing:
            continue
        stop = min(at, len(memory))
        if stop > start:  # a part ends here
            runs += [start - end, stop - start]
            parts.append(bytes(view[start:stop]))
            end = stop
        start = at + _GRAIN
    head = json.dumps({**meta, "memory": len(memory), "runs": runs}, separators=(",", ":")).encode()
    whole = b"".join([len(head).to_bytes(4, "little"), head, *parts])
    return gzip.compress(whole, _LEVEL, mtime=0), len(whole)
