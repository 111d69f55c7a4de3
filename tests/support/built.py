"""The bundles that tests serve, built once for all runs of this clone: by `build.py fixtures`, or by the first test.

A build compares the hash of its inputs with the manifest in its folder, so a bundle is built anew after a change.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from docs.generate.public_site import build_public_site
from mcpframe.kit.base.data import checkout_dir, static_dir, templates_dir
from mcpframe.kit.base.locking import locked
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle import pipeline
from mcpframe.kit.bundle.output_root import BuildResult
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.bundle.pyodide.compile import cache_key
from mcpframe.kit.bundle.snapshot.camera import Camera, camera
from mcpframe.kit.project.project import find_project
from tests.support.origins import HOST

SERVERS = checkout_dir() / "tests" / "browser" / "servers"

_BUILT_BY_TESTS = {
    *("compared", "conversation", "copilot", "dashboard", "data-analyst", "fastmcp"),
    *("fastmcp4", "fetching", "formed", "notes-board", "scientific"),
}
"""Servers that their tests complete, or build with other options."""

_OPENED_ONCE = {"framing", "hosting", "mcp1-everything", "mcp1-lowlevel", "paged"}
"""Servers whose pages a run opens once or twice: their snapshots would cost more than they save."""

SNAPSHOTS = os.environ.get("MCPFRAME_TEST_SNAPSHOTS") != "0"
"""Whether the bundles that tests share start from a snapshot: not in one part of `build.py test --all`."""

build_plain = partial(build, snapshot=False)
"""`build` for a bundle whose page is opened once or never: its snapshot would cost more than it saves."""

_FOLDER = checkout_dir() / ".cache" / "fixtures"
_PROCESSES = 2

OWN: tuple[str, ...] = ()
Origins = Sequence[str] | Mapping[str, Sequence[str]]


def built(
    project: Path | str,
    *,
    allowed_origins: Origins | None = None,
    group: str = "",
    taking: Camera | None = None,
    **options: Any,
) -> tuple[Path, BuildResult]:
    """Build a project, unless that has been done, and return the output root, which others share, and the result.

    Args:
        project: Its folder, or the name of one in tests/browser/servers or templates.
        allowed_origins: Who may embed it, by default the host pages; `OWN` for the project's own list, as a page has.
        group: A name for the output root, for bundles that must have one of their own.
        taking: As for `build`.
        options: Further arguments of `build`, on which the output root depends.
    """
    folder = find(project) if isinstance(project, str) else project
    if allowed_origins is None and find_project(folder).config.kind == "server":
        allowed_origins = [HOST]
    allowed_origins = allowed_origins or None
    options.setdefault("snapshot", SNAPSHOTS and folder.name not in _OPENED_ONCE)
    settings = repr((allowed_origins, sorted(options.items())))
    root = _FOLDER / (group + hashlib.sha256(settings.encode()).hexdigest()[:12])
    with locked(root / folder.name):
        return root, build(folder, root, allowed_origins=allowed_origins, taking=taking, **options)


def built_public_site() -> Path:
    """Build the public site, with one server and a page of documentation, unless that has been done from these sources.

    Returns:
        Its folder, two levels below one to serve. In it, `frame.html` has the playground in a frame.
    """
    root = _FOLDER / "public"
    site = root / "below" / "site"
    sources = [checkout_dir() / "mcpframe", static_dir(), templates_dir(), checkout_dir() / "docs" / "generate"]
    files = [path for folder in sources for path in sorted(folder.rglob("*")) if path.is_file()]
    files = [path for path in files if "__pycache__" not in path.parts] + [checkout_dir() / "package-lock.json"]
    key = cache_key(str(SNAPSHOTS), *(part for path in files for part in (str(path), path.read_bytes())))
    stamp = root / "inputs"
    with locked(root), scratch("public-site") as made:
        if stamp.is_file() and stamp.read_text("utf-8") == key:
            return site
        shutil.rmtree(root, ignore_errors=True)
        docs, servers = made / "docs", made / "servers"
        docs.mkdir()
        (docs / "index.html").write_text("<!doctype html><link rel=icon href='data:,'><h1>Documentation</h1>")
        shutil.copytree(templates_dir() / "pi-calculator", servers / "pi-calculator")
        assert build_public_site(site, docs=docs, servers=servers, snapshot=SNAPSHOTS, pictures=False) == []
        page = '<!doctype html><link rel="icon" href="data:,"><iframe src="playground/"></iframe>'
        (site / "frame.html").write_text(page, "utf-8")
        stamp.write_text(key, "utf-8")
    return site


def opened_often(config: pytest.Config) -> bool:
    """Return whether the pages of a module's own bundle are opened so often that its snapshot saves more than it costs.

    In the default suite two or three are.
    """
    return SNAPSHOTS and bool(config.getoption("all"))


@pytest.fixture(scope="module")
def one_browser() -> Iterator[None]:
    """Let the builds of a module share a browser, as the authors of tests trust each other."""
    with camera(reused=True) as taking, pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "camera", lambda _: nullcontext(taking))
        yield


def find(name: str) -> Path:
    """Return the project of a name."""
    return next(folder for folder in (SERVERS / name, templates_dir() / name) if folder.is_dir())


def build_all() -> Iterator[tuple[str, float]]:
    """Build all test servers and templates, side by side; yield the name of each and its seconds."""
    found = {path.parent.name for root in (SERVERS, templates_dir()) for path in root.glob("*/pyproject.toml")}
    names = sorted(found - _BUILT_BY_TESTS)
    with ProcessPoolExecutor(_PROCESSES) as pool:
        for timed in pool.map(_build_some, [names[number::_PROCESSES] for number in range(_PROCESSES)]):
            yield from timed


def _build_some(names: Sequence[str]) -> list[tuple[str, float]]:
    """Build some of them with one browser for all snapshots; return the name of each and its seconds."""
    timed = []
    with camera(reused=True) as taking:
        for name in names:
            start = time.monotonic()
            built(name, taking=taking)
            timed.append((name, time.monotonic() - start))
    return timed


if __name__ == "__main__":
    began = time.monotonic()
    for name, seconds in build_all():
        if "--quiet" not in sys.argv:
            print(f"{name}: {seconds:.1f} s", flush=True)
    print(f"test bundles: {time.monotonic() - began:.0f} s")
