"""The inspector beside bundles that are published, in which each of them can be tried."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from mcpframe.kit.base.cache import write_file
from mcpframe.kit.base.inspector_source import inspector_source
from mcpframe.kit.base.progress import Progress, labelled, silent
from mcpframe.kit.bundle.output_root import BuildResult
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.bundle.snapshot.camera import Camera


def build_inspector(
    out: Path,
    results: Sequence[BuildResult],
    *,
    runs: str = "",
    taking: Camera | None = None,
    progress: Progress = silent,
) -> None:
    """Build it into an output root, and name the bundles to it: it opens these without a question to its user.

    Args:
        out: The output root of the bundles.
        results: The bundles, in the order in which it lists them.
        runs: The address of the playground's page for runs of its projects, relative to the inspector; empty for none.
        taking: As for `build`.
        progress: Reports long steps.

    Raises:
        KitError: It cannot be built, or written.
    """
    built = build(inspector_source(), out, taking=taking, progress=labelled("The inspector", progress))
    servers = [{"title": result.manifest["title"], "url": f"../{result.url_path}"} for result in results]
    offered = {"servers": servers, **({"runs": runs} if runs else {})}
    write_file(built.folder / "examples.json", json.dumps(offered).encode(), public=True)
