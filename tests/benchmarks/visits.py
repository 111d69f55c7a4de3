"""What visitors of a site fetch: of a first server, and after a change of it or of a second one like it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mcpframe.kit.base.data import templates_dir
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.project.packaged import PackageOptions, package_project
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.sites import SERVERS
from tests.support.scientific import scientific_packages

_HOST = "https://host.example"
_SYMPY = "mcp-sympy==0.1.0"
_SMALL = Goal(value=0.3)


def measure_visits() -> Iterator[Figure]:
    """Yield a figure of each server: the bytes of a visit after a change of it, beside those of a first one.

    Raises:
        BuildError: A server cannot be built: an index of packages is needed.
    """
    with tempfile.TemporaryDirectory(prefix="mcpframe-bench-") as folder:
        sympy = package_project(_SYMPY, Path(folder) / "sympy", PackageOptions(allowed_origins=[_HOST]))
        # The second is a package, with a schema for each of its tools.
        projects: dict[str, tuple[Path, Mapping[str, Any], Goal | None]] = {
            "pi-calculator": (templates_dir() / "pi-calculator", {}, _SMALL),
            _SYMPY: (sympy, {}, None),
            "numpy, pandas, matplotlib": (SERVERS / "with-numpy", {"distribution": str(scientific_packages())}, _SMALL),
        }
        for name, (project, options, goal) in projects.items():
            built = build(project, Path(folder) / "out", allowed_origins=[_HOST], snapshot=True, **options)
            first, changed = (built.sizes[size] / 1e6 for size in ("first_visit", "own"))
            title = f"{name}, {len(built.tools or ())} tools: fetched after a change of the server"
            yield Figure(title, "MB", changed, first, "a first visit", goal)
