"""The file of a snapshot says where everything that is not zero was."""

from __future__ import annotations

import gzip
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mcpframe.kit.bundle.memory import sparse


def restored(data: bytes) -> tuple[bytes, dict[str, Any]]:
    """As static/restore.js does it."""
    whole = gzip.decompress(data)
    length = int.from_bytes(whole[:4], "little")
    meta = json.loads(whole[4 : 4 + length])
    memory = bytearray(meta["memory"])
    at, end = 4 + length, 0
    runs = iter(meta["runs"])
    for gap, size in zip(runs, runs, strict=True):
        memory[end + gap : end + gap + size] = whole[at : at + size]
        at, end = at + size, end + gap + size
    assert at == len(whole)
    return bytes(memory), meta


pieces = st.lists(st.tuples(st.integers(0, 3000), st.binary(min_size=1, max_size=700)), max_size=8)


@given(pieces, st.integers(0, 3000))
def test_what_is_written_comes_back(parts: list[tuple[int, bytes]], rest: int) -> None:
    memory = b"".join(bytes(gap) + data for gap, data in parts) + bytes(rest)
    data, unpacked = sparse(memory, {"table": 7})
    there, meta = restored(data)
    assert there == memory
    assert (meta["table"], meta["memory"]) == (7, len(memory))
    assert unpacked == len(gzip.decompress(data))


def test_zeros_take_no_room() -> None:
    assert sparse(bytes(1 << 20) + b"x", {})[1] < 1000
