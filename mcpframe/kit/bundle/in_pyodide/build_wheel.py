"""Build a wheel from the sources of a package, with the hooks of its build backend (PEP 517).

The sources are in /source, the packages that build them in /tools. /in/given.json has the `backend`, as pyproject.toml
names it; `paths`, the folders of the sources that it is imported from; and `asked`, the requirements that the hooks
have asked for before, or null if the tools have them all. The result is {"needs": requirements}, {"error": sentence,
"printed": the last line of output}, or {"wheel": its name} with the file `wheel`.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

_MOST_NEEDS, _LONGEST = 50, 500


async def main() -> dict[str, Any]:
    """Build the wheel."""
    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        result = build_wheel()
    if "error" in result:
        result["printed"] = output.getvalue().rstrip().rpartition("\n")[2][:_LONGEST]
    return result


def build_wheel() -> dict[str, Any]:
    """Build the wheel; return the result."""
    given = json.loads(Path("/in/given.json").read_text("utf-8"))
    os.chdir("/source")
    sys.path[:0] = [*(f"/source/{path}" for path in given["paths"]), "/tools"]
    sys.argv = ["build"]
    Path("/built").mkdir()
    try:
        backend = load(given["backend"])
        ask = getattr(backend, "get_requires_for_build_wheel", None)
        needs = [str(item)[:_LONGEST] for item in (ask({}) if ask else ())][:_MOST_NEEDS]
        if given["asked"] is not None and not set(needs) <= set(given["asked"]):
            return {"needs": needs}
        name = str(backend.build_wheel("/built", {}))
        Path("/out/wheel").write_bytes(Path("/built", name).read_bytes())
    except BaseException as error:  # noqa: BLE001 a package's code may raise anything, SystemExit included
        return {"error": f"{type(error).__name__}: {error}"[:_LONGEST]}
    return {"wheel": name[:_LONGEST]}


def load(name: str) -> Any:
    """Return the object with the hooks: `module`, or `module:object`."""
    module, _, path = name.partition(":")
    target: Any = importlib.import_module(module)
    for part in filter(None, path.split(".")):
        target = getattr(target, part)
    return target
