"""The file of a snapshot says where everything is that a page has to put into its memory."""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpframe.kit.base.data import page_dir
from mcpframe.kit.base.node import find_node
from mcpframe.kit.bundle.snapshot.memory import filled, sparse, whole, zstd


def restored(data: bytes, before: bytes) -> tuple[bytes, dict[str, Any], int]:
    """As static/page/restore.js does it: the memory, the JSON, and the check of what was there already."""
    whole = zstd.decompress(data)
    length = int.from_bytes(whole[:4], "little")
    meta = json.loads(whole[4 : 4 + length])
    memory = bytearray(before.ljust(meta["memory"], b"\0"))
    taken, at, check = 4 + length, 0, 0
    columns = []
    for size in meta["runs"]:
        columns.append(sizes(whole[taken : taken + size]))
        taken += size
    assert taken % 4 == 0
    for same, own, zeros, size in zip(*columns, strict=True):
        for word in range(at, at + same, 4):
            check = (check ^ int.from_bytes(memory[word : word + 4], "little")) * 0x01000193 % (1 << 32)
        at += same + own
        memory[at : at + zeros] = bytes(zeros)
        at += zeros
        memory[at : at + size] = whole[taken : taken + size]
        taken, at = taken + size, at + size
    assert at == len(memory)
    assert taken == len(whole)
    return bytes(memory), meta, check


def sizes(column: bytes) -> list[int]:
    """The sizes in a column, in bytes: numbers of words in LEB128."""
    found = [0]
    shift = 0
    for byte in column:
        found[-1] += (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(0)
            shift = 0
    assert found.pop() == 0
    return [4 * each for each in found]


pieces = st.lists(st.tuples(st.integers(0, 3000), st.binary(min_size=1, max_size=700)), max_size=8)


def joined(parts: list[tuple[int, bytes]], rest: int) -> bytes:
    """Memory, whose size is one of whole pages."""
    memory = b"".join(bytes(gap) + data for gap, data in parts) + bytes(rest)
    return memory.ljust(-(-len(memory) // 4096) * 4096, b"\0")


@given(pieces, pieces, st.integers(0, 3000), st.integers(0, 9000), st.sets(st.integers(0, 2000), max_size=9))
def test_what_is_written_comes_back(
    parts: list[tuple[int, bytes]], earlier: list[tuple[int, bytes]], rest: int, shared: int, words: set[int]
) -> None:
    memory = joined(parts, rest)
    before = (memory[:shared] + joined(earlier, 0))[: len(memory)]
    own = {4 * word for word in words if 4 * word + 4 <= len(before)}
    data, unpacked = sparse(memory, before, {"table": 7}, own=own)
    there, meta, check = restored(data, before)
    expected = bytearray(memory)
    for at in own:
        expected[at : at + 4] = before[at : at + 4]
    assert there == expected
    assert filled(data, before) == expected
    assert check == meta["check"]
    assert (meta["table"], meta["memory"]) == (7, len(memory))
    assert unpacked == len(zstd.decompress(data))


@given(
    pieces, st.lists(st.tuples(st.integers(0, 90_000), st.binary(max_size=9)), max_size=9), st.sets(st.integers(0, 9))
)
def test_a_layer_is_the_difference_to_the_memory_below(
    parts: list[tuple[int, bytes]], changed: list[tuple[int, bytes]], words: set[int]
) -> None:
    below = joined([(16 * gap, data) for gap, data in parts], 40_000)
    memory = bytearray(below.ljust(len(below) + 4096, b"\0"))
    for at, data in changed:
        place = at % (len(memory) - 9)
        memory[place : place + len(data)] = data
    own = {4 * word for word in words}
    data, unpacked = sparse(bytes(memory), below, {}, own=own, is_lowest=False)
    there, meta, _ = restored(data, below)
    for at in own:
        memory[at : at + 4] = below[at : at + 4]
    assert there == filled(data, below) == memory
    assert "check" not in meta
    assert unpacked < 500 + sum(80 + 2 * len(data) for _, data in changed)


def with_list(places: list[int], flags: list[int], size: int) -> bytearray:
    """Memory with a list of tracked objects, in this order of addresses."""
    memory = bytearray(size)
    for at, following in zip(places, [*places[1:], places[0]], strict=True):
        struct.pack_into("<I", memory, at, following | flags[at % len(flags)])
    for at, before in zip(places, [places[-1], *places[:-1]], strict=True):
        struct.pack_into("<I", memory, at + 4, before | flags[(at + 1) % len(flags)])
    return memory


@given(
    st.lists(st.integers(1, 1000), min_size=1, max_size=60, unique=True),
    st.lists(st.integers(0, 3), min_size=1, max_size=5),
    st.booleans(),
)
def test_the_list_of_tracked_objects_comes_back_in_order(places: list[int], flags: list[int], is_lowest: bool) -> None:
    addresses = [16 * place for place in places]
    memory = with_list(addresses, flags, 32768)
    data, _ = sparse(bytes(memory), b"", {}, links=addresses[-1], is_lowest=is_lowest)
    assert filled(data, b"") == (with_list(sorted(addresses), flags, 32768) if is_lowest else memory)
    assert ("links" in restored(data, b"")[1]) is is_lowest


@pytest.mark.parametrize("word", [0, 16, 0xFFFFFFF0, 33000])
@pytest.mark.parametrize("place", [160, 164])
def test_what_is_no_list_stays_as_it_is(word: int, place: int) -> None:
    memory = with_list([320, 160, 480], [1], 32768)
    struct.pack_into("<I", memory, place, word)
    for link in (480, 481, 32766, 1 << 31):
        data, _ = sparse(bytes(memory), b"", {}, links=link)
        assert filled(data, b"") == memory


def test_distances_of_a_list_are_smaller_than_its_addresses() -> None:
    addresses = [64 * place for place in range(1, 10_000)]
    random.Random(1).shuffle(addresses)
    memory = bytes(with_list(addresses, [1], 1 << 20))
    assert 10 * len(sparse(memory, b"", {}, links=64)[0]) < len(sparse(memory, b"", {})[0])


@given(pieces, st.sets(st.integers(0, 20000), max_size=9))
def test_zeros_between_other_things_are_found(parts: list[tuple[int, bytes]], words: set[int]) -> None:
    # Stretches of nothing are longer here than what is looked at in one go.
    memory = joined([(16 * gap, data) for gap, data in parts], 40_000)
    own = {4 * word for word in words if 4 * word < len(memory)}
    there, _, _ = restored(sparse(memory, b"", {}, own=own)[0], bytes(len(memory)))
    expected = bytearray(memory)
    for at in own:
        expected[at : at + 4] = bytes(4)
    assert there == expected


@given(pieces)
def test_what_the_page_sends_is_the_whole_memory(parts: list[tuple[int, bytes]]) -> None:
    memory = joined(parts, 0)
    places, at = [], 0
    for gap, data in parts:
        places += [at + gap, len(data)]
        at += gap + len(data)
    sent = struct.pack(f"<{2 + len(places)}I", len(parts), len(memory), *places) + b"".join(data for _, data in parts)
    assert whole(sent) == memory


READ = """
import { readFileSync } from "node:fs";
const { contentOf } = await import(process.argv[2]);
const { runs, parts, ...meta } = contentOf(new Uint8Array(readFileSync(process.argv[3])));
console.log(JSON.stringify({ ...meta, runs: runs.map((column) => [...column]), parts: [...parts] }));
"""


def test_a_page_reads_what_is_written(tmp_path: Path) -> None:
    memory = bytearray(random.Random(1).randbytes(1 << 18))
    for at in range(0, 1 << 18, 1 << 12):
        memory[at : at + at // 64] = bytes(at // 64)
    own = {8, 12, 4096}
    data, _ = sparse(bytes(memory), bytes(memory[: 1 << 17]), {"table": 7}, own=own)
    _, meta, check = restored(data, bytes(memory[: 1 << 17]))
    (tmp_path / "layer").write_bytes(zstd.decompress(data))
    (tmp_path / "read.mjs").write_text(READ)
    module = (page_dir() / "layer-content.js").as_uri()
    read = json.loads(find_node().run(str(tmp_path / "read.mjs"), module, str(tmp_path / "layer")))
    content = zstd.decompress(data)
    at = 4 + int.from_bytes(content[:4], "little")
    for size, column in zip(meta["runs"], read["runs"], strict=True):
        assert sizes(content[at : at + size]) == [4 * each for each in column]
        at += size
    assert max(max(column) for column in read["runs"]) > 127
    assert struct.pack(f"<{len(read['parts'])}I", *read["parts"]) == content[at:]
    assert (read["check"], read["table"], read["memory"]) == (check, 7, len(memory))


def test_zeros_take_no_room() -> None:
    assert sparse(bytes(1 << 20) + b"x" * 512, b"", {})[1] < 1000


def test_what_a_page_has_anyway_takes_no_room() -> None:
    before = random.Random(1).randbytes(1 << 20)
    changed = bytearray(before)
    changed[5000:5008] = bytes(8)
    assert sparse(bytes(changed), before, {})[1] < 1000


def test_the_check_tells_another_beginning() -> None:
    before = random.Random(1).randbytes(1 << 16)
    data, _ = sparse(before, before, {})
    other = before[:777] + b"!" + before[778:]
    memory, meta, check = restored(data, other)
    assert memory == other
    assert check != meta["check"]


@pytest.mark.parametrize("is_lowest", [True, False])
def test_what_second_files_write_is_left_to_them(is_lowest: bool) -> None:
    size, late = 16384, range(16384, 3 * 16384)
    memory, below = random.Random(1).randbytes(4 * size), bytes(4 * size)
    data, _ = sparse(memory, below, {}, later=[late], is_lowest=is_lowest)
    before = below[:size] + b"s" * len(late) + below[:size]
    there, *_ = restored(data, before)
    assert there == memory[:size] + b"s" * len(late) + memory[-size:]
    assert filled(data, below) == memory[:size] + bytes(len(late)) + memory[-size:]
