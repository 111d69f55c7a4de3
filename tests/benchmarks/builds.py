"""How long a build takes: with nothing in the cache but what was downloaded, and after a change of server.py."""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from mcpframe.kit.base.cache import cache_dir
from mcpframe.kit.base.data import templates_dir
from mcpframe.kit.bundle.pipeline import build
from tests.benchmarks.figures import Figure, Goal


def measure_builds(changes: int) -> list[Figure]:
    """The figures about builds of the template `pi-calculator`.

    Args:
        changes: How many times server.py is changed.
    """
    with tempfile.TemporaryDirectory(prefix="mcpframe-bench-") as scratch:
        project = Path(shutil.copytree(templates_dir() / "pi-calculator", Path(scratch) / "project"))
        cache = Path(scratch) / "cache"
        cache.mkdir()
        for kept in (cache_dir() / "wheels", *cache_dir().glob("pyodide-*")):
            (cache / kept.name).symlink_to(kept)
        before = os.environ.get("MCPFRAME_CACHE")
        os.environ["MCPFRAME_CACHE"] = str(cache)
        try:
            first = _timed(project, Path(scratch) / "out")
            later = []
            for _ in range(changes):
                with (project / "server.py").open("a") as server:
                    server.write("\n# changed\n")
                later.append(_timed(project, Path(scratch) / "out"))
        finally:
            del os.environ["MCPFRAME_CACHE"]
            if before is not None:
                os.environ["MCPFRAME_CACHE"] = before
    return [
        Figure("build, nothing compiled before", "s", first, goal=Goal(value=60)),
        Figure("build after a change of server.py", "s", statistics.median(later), goal=Goal(value=3)),
    ]


def _timed(project: Path, out: Path) -> float:
    began = time.perf_counter()
    built = build(project, out, allowed_origins=["https://host.example"], snapshot=True)
    assert built.manifest["snapshot"], built.manifest["start"]
    return time.perf_counter() - began
