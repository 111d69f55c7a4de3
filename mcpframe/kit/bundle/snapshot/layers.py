"""The layers of a snapshot: each is taken in a page that was restored from the layer below it, and kept in the cache.

The SDK's layer is the same for all servers of one SDK, and is taken once for all projects. A server's own layer is the
difference to it, or to a layer with its requirements above it, if these are large; where none can be taken, that of the
modules of mcpframe that this bundle has besides. With native libraries of its own, the layer of its requirements is the
lowest and has the SDK: such a library is linked before Python runs, which moves all that is in memory.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mcpframe.frame.compat import later_modules
from mcpframe.kit.base.cache import write_file
from mcpframe.kit.bundle.assembly.page_scripts import snapshot_maker_script
from mcpframe.kit.bundle.assembly.snapshot_file import PACKAGES, PARTS, SDK, SERVER, LayerFile, Snapshot
from mcpframe.kit.bundle.pyodide.compile import cache_key, cached
from mcpframe.kit.bundle.pyodide.job_texts import job_text
from mcpframe.kit.bundle.snapshot.build_site import NoOutcome
from mcpframe.kit.bundle.snapshot.memory import LEVEL, LEVEL_OF_SHARED, QUICK, filled, repacked, sparse, whole
from mcpframe.kit.bundle.snapshot.reasons import failure, reason
from mcpframe.kit.bundle.snapshot.snapshot_page import OpenedBundle, PageTimeout

_FORMAT = "16"
"""Increase it when this module or `memory` writes the same inputs differently: the key of the cache has the rest."""
_ENV = {"PYTHONHASHSEED": "0"}
_PROGRAMS = ("prepare_snapshot", "rehearse")

_FactsAndData = tuple[dict[str, Any], bytes]


@dataclass(frozen=True)
class Server:
    """The properties of the author's server that a snapshot depends on.

    Attributes:
        name: The bundle's folder.
        entry: `module:object`, or `module:factory()`.
        kind: `server` or `page`.
        tools: Its tools, if known.
    """

    name: str
    entry: str
    kind: str
    tools: tuple[dict[str, Any], ...] | None


@dataclass(frozen=True)
class SnapshotLayer:
    """A layer to take.

    Attributes:
        name: `SDK`, `PARTS`, `PACKAGES` or `SERVER`.
        parent: The layer below; None for the lowest.
        modules: The modules of mcpframe that it imports, besides those that they import.
        packages: The modules of the author's requirements, or of the standard library, that it imports.
        settings: The environment of the author's code, for these and the server; see `Project.settings`.
        server: The author's server, which it imports; None for the other layers.
    """

    name: str
    parent: SnapshotLayer | None = None
    modules: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=lambda: {"args": [], "env": {}})
    server: Server | None = None

    @property
    def lowest(self) -> SnapshotLayer:
        """The lowest layer of its chain."""
        return self.parent.lowest if self.parent else self

    @property
    def identity(self) -> list[str]:
        """The inputs of its memory besides the files of its page, which also decide the modules."""
        below = self.parent.identity if self.parent else []
        server = self.server
        of_server = [server.entry, server.kind, json.dumps(server.tools)] if server else []
        return [*below, self.name, *self.packages, json.dumps(self.settings), *of_server]


_SDK = SnapshotLayer(SDK)


def planned(
    server: Server | None,
    shared: Collection[str],
    parts: Collection[str],
    *,
    shares_sdk: bool,
    packages: Sequence[str] = (),
    later: Collection[str] = (),
    settings: Mapping[str, Any] = _SDK.settings,
) -> tuple[SnapshotLayer, ...]:
    """Return the layers that a bundle may have in its snapshot, the best first.

    Args:
        server: The author's server; None if it is not imported for a snapshot.
        shared: The modules of mcpframe that all servers of this SDK have.
        parts: Those that this bundle has besides.
        shares_sdk: Whether the server's layer is above the SDK's.
        packages: The modules of its requirements that may have a layer of their own below it, in the order of import.
        later: The modules that it imports of those which the SDK's layer has dropped.
        settings: The environment of the author's code; see `Project.settings`.
    """
    sdk, own = replace(_SDK, modules=tuple(sorted(shared))), tuple(sorted(parts))
    without_server = SnapshotLayer(PARTS, sdk, own, tuple(sorted(later))) if own or later else sdk
    parent, modules = (sdk, own) if shares_sdk else (None, (*sdk.modules, *own))
    of_packages = SnapshotLayer(PACKAGES, parent, modules, tuple(packages), settings)
    with_packages = (of_packages, without_server) if packages else (without_server,)
    if server is None:
        return with_packages
    in_one = SnapshotLayer(SERVER, parent, modules, settings=settings, server=server)
    above = (replace(in_one, parent=of_packages, modules=()),) if packages else ()
    return *above, in_one, *with_packages


class NoLayer(Exception):
    """A layer cannot be taken; the message has the reason, as half a sentence."""


def layers_of(browser: OpenedBundle, layer: SnapshotLayer) -> Snapshot:
    """Return a layer and those below it, from the cache if possible.

    Raises:
        NoLayer: It cannot be taken.
        NoBrowser: No browser is installed, or it does not start.
        NoOutcome: The browser crashed twice, or the page sent invalid data twice.
    """
    with ThreadPoolExecutor(1, "packing") as thread:
        chain = _chain(browser, layer, thread)
    return Snapshot(tuple(packing.result() if packing else each for each, packing in chain))


_Packing = tuple[LayerFile, Future[LayerFile] | None]
"""A layer, and the same once it is compressed at the level to publish; None if it is that."""


def _chain(browser: OpenedBundle, layer: SnapshotLayer, thread: Executor) -> list[_Packing]:
    """Return a layer and those below it. A layer above is taken while the thread compresses the lowest."""
    below = _chain(browser, layer.parent, thread) if layer.parent else []
    path = _path(browser, layer)
    if path.is_file():
        return [*below, (_kept(path, layer), None)]
    files = tuple(each for each, _ in below)
    try:
        taken = _take(browser, layer, files)
    except PageTimeout:
        raise
    except NoOutcome:  # browsers crash and machines stall now and then
        taken = _take(browser, layer, files)

    def keep(level: int | None) -> LayerFile:
        header, data = taken
        write_file(path, _pack((header, repacked(data, level) if level else data)))
        return _kept(path, layer)

    if below or layer.server or not taken[1]:
        return [*below, (keep(None), None)]
    return [(LayerFile(layer.name, taken[1], **taken[0]), thread.submit(keep, LEVEL_OF_SHARED))]


def sdk_in_cache(browser: OpenedBundle) -> Snapshot | None:
    """Return the SDK's layer, if it is in the cache."""
    path = _path(browser, _SDK)
    try:
        return Snapshot((_kept(path, _SDK),)) if path.is_file() else None
    except NoLayer:
        return None


def _kept(path: Path, layer: SnapshotLayer) -> LayerFile:
    header, data = _unpack(path.read_bytes())
    if "reason" in header:
        raise NoLayer(header["reason"])
    return LayerFile(layer.name, data, **header)


def _path(browser: OpenedBundle, layer: SnapshotLayer) -> Path:
    """Return the path of a layer in the cache."""
    inputs = (_FORMAT, browser.chromium.identity, "".join(map(job_text, _PROGRAMS)), snapshot_maker_script())
    contents = cache_key(*browser.inputs(layer=layer.name))
    return cached("snapshots", cache_key(*inputs, *layer.identity)[:32] + contents[:32])


def _take(browser: OpenedBundle, layer: SnapshotLayer, below: tuple[LayerFile, ...]) -> _FactsAndData:
    server = layer.server
    job = {
        "program": job_text(_PROGRAMS[0]),
        "rehearsal": job_text(_PROGRAMS[1]),
        "env": _ENV,
        "entry": server and server.entry,
        "kind": server.kind if server else "server",
        "settings": json.dumps(layer.settings),
        "modules": json.dumps(layer.modules),
        "packages": json.dumps(layer.packages),
        "continues": bool(below),
    }
    before, start = _start(browser, layer=layer.lowest.name)
    if failed := failure(before):
        return {"reason": failed}, b""
    with ThreadPoolExecutor(1, "layers") as thread:
        filling = thread.submit(_filled, start, below)  # while the page works
        drops = set() if below else set(later_modules.NAMES)
        while True:
            outcome, sent = browser.run(
                {**job, "step": "take", "drawnOrTimed": before["drawnOrTimed"], "drops": sorted(drops)},
                layer=layer.name,
                snapshot=Snapshot(below) if below else None,
            )
            if not (kept := (outcome.get("found") or {}).get("kept")):
                break
            drops -= set(kept)  # a package of this SDK has classes or functions of them
        memory = filling.result()
    if refused := reason(outcome):
        return {"reason": refused}, b""
    own = frozenset(outcome["own"])
    meta = {"table": outcome["table"]}
    # The lowest layer of several is compressed while the next is taken; a difference is small.
    level = LEVEL_OF_SHARED if below else LEVEL if server else QUICK
    data, unpacked = sparse(
        whole(sent["memory"]),
        memory,
        meta,
        own=own,
        later=browser.later(before["bases"]),
        links=outcome["links"],
        is_lowest=not below,
        level=level,
    )
    header = {
        "unpacked": unpacked,
        "build": outcome["build"],
        "references": outcome["references"],
        "modules": outcome["found"]["modules"],
        "made_with": browser.version,
    }
    taken = Snapshot((*below, LayerFile(layer.name, data, **header)))
    tried, _ = browser.run({**job, "step": "check"}, layer=layer.name, snapshot=taken)
    if failed := failure(tried, "a restored page"):
        return {"reason": failed}, b""
    if server and server.tools is not None and tried["tools"] != list(server.tools):
        return {"reason": "its tools differ once it is restored"}, b""
    return header, data


def _start(browser: OpenedBundle, *, layer: str) -> tuple[dict[str, Any], bytes]:
    """Return the page's outcome and the memory before Python runs, for `whole`. Neither depends on the author's files.

    They are cached for each browser, runtime and set of libraries.
    """
    path = cached(
        "starts",
        cache_key(_FORMAT, browser.chromium.identity, snapshot_maker_script(), *browser.before_python(layer=layer)),
    )
    if not path.is_file():
        outcome, sent = browser.run({"step": "start"}, layer=layer)
        if "failure" in outcome:
            return outcome, b""
        write_file(path, _pack((outcome, sent["start"])))
    return _unpack(path.read_bytes())


def _filled(start: bytes, below: Sequence[LayerFile]) -> bytes:
    """Return the memory of layers, given that before Python runs, as a page has sent it."""
    memory = whole(start)
    for each in below:
        memory = filled(each.data, memory)
    return memory


def _pack(taken: _FactsAndData) -> bytes:
    header, data = taken
    head = json.dumps(header).encode()
    return len(head).to_bytes(4, "big") + head + data


def _unpack(packed: bytes) -> _FactsAndData:
    length = int.from_bytes(packed[:4], "big")
    return json.loads(packed[4 : 4 + length]), packed[4 + length :]
