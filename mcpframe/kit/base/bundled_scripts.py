"""Modules of `static` that esbuild has bundled. They are in the repository: an installed mcpframe has no esbuild.

The first line of each is a comment with its sources and their hash, which detects an outdated script.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.errors import KitError

HOST = "host/bundled/host.js"
"""The script for hosts in JavaScript."""
ELEMENT_SCRIPT = "host/bundled/element.js"
"""The element `<mcp-server>`, which imports `bundled.js` when a server starts."""

NOTEBOOK_SCRIPT = "notebook/bundled/widget.js"
"""The front end of a notebook's widget: the forms of `<mcp-server>`, and the SDK's client."""


def bundled_script(name: str) -> str:
    """Return a script, without its first line.

    Args:
        name: Its path in `static`.

    Raises:
        KitError: It is missing, or its sources have changed since it was bundled.
    """
    path = static_dir() / name
    try:
        first, _, script = path.read_text("utf-8").partition("\n")
        record = json.loads(first.removeprefix("//"))
        current = sources_hash(record["sources"])
    except (OSError, ValueError, LookupError, TypeError):
        current, record, script = "", {}, ""
    if current != record.get("sha256"):
        raise KitError(
            f"{path} does not fit the scripts beside it: run `python3 build.py scripts`, which bundles them."
        )
    return script


def with_record(script: str, sources: Iterable[str]) -> str:
    """Return the text of the bundled file.

    Args:
        script: The output of esbuild.
        sources: The bundled files, relative to `static`.
    """
    names = sorted(sources)
    record = json.dumps({"sources": names, "sha256": sources_hash(names)})
    return f"// {record}\n{script}"


def sources_hash(names: Iterable[str]) -> str:
    """Return one hash of files in `static`, which does not depend on their line endings."""
    texts = [(static_dir() / name).read_text("utf-8") for name in names]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
