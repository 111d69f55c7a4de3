"""What the memory of a snapshot consists of, by kind and by module, and which of its blocks a start writes.

The page of `servers/blocks` describes its objects, and its memory just after the restore is taken. WebAssembly does not
say what is read; which code runs is noted instead, by `sys.monitoring`, in a page of its own, as that writes into code.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import gzip
import itertools
import json
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.bundle.snapshot.memory import LEVEL_OF_SHARED, zstd
from tests.benchmarks.browser import BenchmarkBrowser, BenchmarkError, host_page
from tests.benchmarks.figures import Figure
from tests.benchmarks.sites import PAGES, SERVERS, Sites, serving
from tests.benchmarks.start import OURS

BLOCK = 64
_WORD = 4
_FEW = 10_000
"""Bytes: kinds of objects that are smaller, compressed, make one line."""
_MODULES = 40
"""How many modules have a line of their own."""
_RAN, _DID_NOT_RUN = "code that runs", "code that does not run"
_OTHER, _BETWEEN, _NATIVE, _STATIC = "other objects", "between objects", "native memory", "static data"
_PAGE = 4096
# Containers with a table elsewhere: where the pointer to it is in CPython 3.14, and the size of the object without it.
_TABLES = {"dict": (24, 32), "list": (12, 20), "set": (20, 100), "frozenset": (20, 100)}


@dataclass(frozen=True)
class Piece:
    """A stretch of memory that belongs to one object.

    Attributes:
        start: Its address.
        end: The address behind it.
        kind: What it is.
        owner: The module; "" if none is known.
    """

    start: int
    end: int
    kind: str
    owner: str


def measure_blocks(browser: BenchmarkBrowser, sites: Sites) -> Iterator[Figure]:
    """Yield the size of each kind and each module's objects, compressed alone, beside that in memory.

    Raises:
        BenchmarkError: The page has not started from its snapshot, or its Python is another one.
    """
    ran, _ = _asked(browser, sites, "ran", notes=True)
    (sizes, objects), found = _asked(browser, sites, "objects", notes=False)
    if not found:
        raise BenchmarkError("The page has not started from its snapshot.")
    if sizes != {kind: size for kind, (_, size) in _TABLES.items()}:
        raise BenchmarkError(f"Python has other containers than `_TABLES` in {__name__}: {sizes}.")
    memory = gzip.decompress(base64.b64decode(found["memory"]))
    yield from figures_of(memory, pieces(objects, memory, frozenset(ran)), found["written"])


def _asked(browser: BenchmarkBrowser, sites: Sites, tool: str, *, notes: bool) -> tuple[Any, dict[str, Any] | None]:
    """Start the server; return a tool's answer, and what `benchBlocks` has found after the first answer."""
    with tempfile.TemporaryDirectory(prefix="mcpframe-bench-") as folder, contextlib.ExitStack() as stack:
        project = Path(shutil.copytree(SERVERS / "blocks", Path(folder, "blocks")))
        server = project / "server.py"
        server.write_text(server.read_text("utf-8").replace("NOTES = False", f"NOTES = {notes}"), "utf-8")
        out = Path(folder, "out")
        out.mkdir()
        build(project, out, allowed_origins=["*"], snapshot=True)
        url = serving(stack, out, "blocks")("blocks/").url
        context = stack.enter_context(browser.profile())
        context.add_init_script(path=PAGES / "restored_memory.js")
        host = stack.enter_context(host_page(context, sites.host))
        host.bench("open", OURS, url)
        host.bench("ask", OURS, "echo", {"text": "a"})
        found = host.frame(url).evaluate("benchBlocks()")
        return json.loads(host.bench("ask", OURS, tool)), found


def pieces(objects: Iterable[Sequence[Any]], memory: bytes, ran: Collection[str]) -> list[Piece]:
    """Return the pieces of the objects that were in memory, sorted, without overlaps.

    Args:
        objects: What `servers/blocks` says.
        memory: The memory after the restore.
        ran: The names of the code that runs.
    """
    found = []
    for address, size, before, kind, owner, name, inline in objects:
        if address + 2 * _WORD > len(memory) or not _word(memory, address + _WORD):
            continue  # it has no type yet: it was made later
        if kind == "code":
            kind = _RAN if name in ran else _DID_NOT_RUN
        length = size - before
        if inline:  # a number of attributes, three more bytes, then a pointer and a byte for each
            length = inline + _WORD + (_WORD + 1) * memory[min(address + inline, len(memory) - 1)]
        if kind in _TABLES:
            pointer, own = _TABLES[kind]
            if length > own and (table := _word(memory, address + pointer)):
                found.append(Piece(table, min(table + length - own, len(memory)), kind, owner))
            length = min(length, own)
        found.append(Piece(address - before, min(address + length, len(memory)), kind, owner))
    found.sort(key=lambda piece: piece.start)
    ends = [*(piece.start for piece in found), len(memory)][1:]
    return [replace(piece, end=min(piece.end, end)) for piece, end in zip(found, ends, strict=True)]


def with_rest(found: Sequence[Piece], memory: bytes) -> list[Piece]:
    """Return pieces and what is between them: static data, below the heap, which begins at the first dict; whole pages
    without an object; and the rest, such as the keys of types and what Python has freed.
    """
    heap = min((piece.start for piece in found if piece.kind == "dict"), default=0)
    whole, at = [], 0
    for piece in (*found, Piece(len(memory), len(memory), "", "")):
        first, last = -(-at // _PAGE) * _PAGE, piece.start // _PAGE * _PAGE
        cuts = (at, *sorted(cut for cut in (heap, first, last) if at < cut < piece.start), piece.start)
        for start, end in itertools.pairwise(cuts):
            kind = _BETWEEN if start % _PAGE or end % _PAGE else _NATIVE
            whole.append(Piece(start, end, _STATIC if start < heap else kind, ""))
        whole.append(piece)
        at = max(at, piece.end)
    return [piece for piece in whole if piece.start < piece.end]


def figures_of(memory: bytes, found: Sequence[Piece], written: Collection[int]) -> Iterator[Figure]:
    """Yield a figure for each kind, and for each of the largest modules.

    Args:
        memory: The memory after the restore.
        found: The pieces of objects.
        written: The places of blocks that are written before the first answer.
    """
    blocks = frozenset(written)
    by_kind: defaultdict[str, _Sum] = defaultdict(_Sum)
    by_owner: defaultdict[str, _Sum] = defaultdict(_Sum)
    for piece in with_rest(found, memory):
        data = memory[piece.start : piece.end]
        if piece.kind in (_STATIC, _BETWEEN, _NATIVE):
            data = b"".join(data[at : at + BLOCK] for at in range(0, len(data), BLOCK) if any(data[at : at + BLOCK]))
        touched = sum(
            min(piece.end, (block + 1) * BLOCK) - max(piece.start, block * BLOCK)
            for block in range(piece.start // BLOCK, -(-piece.end // BLOCK))
            if block in blocks
        )
        for each in (by_kind[piece.kind], by_owner[piece.owner or "none"]):
            each.data.append(data)
            each.written += touched
            each.runs += len(data) if piece.kind == _RAN else 0
    few = [kind for kind, each in by_kind.items() if each.compressed < _FEW]
    others = _Sum()
    for kind in few:
        others.add(by_kind.pop(kind))
    by_kind[_OTHER] = others
    largest = sorted(by_owner, key=lambda owner: -by_owner[owner].size)[:_MODULES]
    for title, sums in (("", by_kind), ("module ", {owner: by_owner[owner] for owner in largest})):
        for name, each in sorted(sums.items(), key=lambda item: -item[1].compressed):
            yield Figure(
                f"snapshot: {title}{name}",
                "KB",
                each.compressed / 1e3,
                each.size / 1e3,
                f"in memory; written {each.written / 1e3:.1f}, code that runs {each.runs / 1e3:.1f}",
            )


@dataclass
class _Sum:
    """Pieces that are counted together."""

    data: list[bytes] = field(default_factory=list)
    written: int = 0
    runs: int = 0

    @property
    def size(self) -> int:
        """Their bytes."""
        return sum(map(len, self.data))

    @functools.cached_property
    def compressed(self) -> int:
        """Their bytes when they are compressed alone, as a snapshot is."""
        return len(zstd.compress(b"".join(self.data), LEVEL_OF_SHARED))

    def add(self, other: _Sum) -> None:
        """Count others, too."""
        self.data += other.data
        self.written += other.written
        self.runs += other.runs


def _word(memory: bytes, address: int) -> int:
    return int.from_bytes(memory[address : address + _WORD], "little")
