"""The server that makes bundles for the playground, in a frame of its own: see `static/playground/making.js`.

It is run in the donor's page. Beside it are the pure part of the build and the sources of which a bundle's mcpframe is
made (`mcpframe`), the files of `static` (`static`), the donor's files (`lent`) and the project (`project`).
"""

from __future__ import annotations

import base64
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from mcpframe import FrameServer

HERE = Path(__file__).parent
for name, module in [*sys.modules.items()]:  # the page's own mcpframe has no kit, and not all of the frame
    if name.partition(".")[0] == "mcpframe" and hasattr(module, "__path__"):
        module.__path__.append(str(HERE.joinpath(*name.split("."))))

from mcpframe.kit.base.errors import KitError  # noqa: E402
from mcpframe.kit.bundle.assembly.donor import Donor, read_donor  # noqa: E402
from mcpframe.kit.bundle.assembly.ready_bundle import CheckedProject, checked_project, ready_bundle  # noqa: E402

DONOR = "playground"
server = FrameServer("playground-maker")
made: list[tuple[Donor, CheckedProject]] = []


@server.tool(structured_output=False)
def check() -> str:
    """Check the project, and return its entry, the paths of its files, and the environment of its code; or `error`."""
    try:
        donor = read_donor(DONOR, files_in(HERE / "lent"))
        checked = checked_project(folder(), donor)
    except KitError as error:
        return failed(error)
    made[:] = [(donor, checked)]
    source = checked.project.source.relative_to(checked.project.root).as_posix()
    return json.dumps(
        {
            "entry": checked.project.entry,
            "source": "" if source == "." else f"{source}/",
            "paths": list(checked.author),
            "imports": checked.project.config.import_server,
            "timeout": checked.project.config.import_timeout,
            "environment": checked.environment,
        }
    )


@server.tool(structured_output=False)
def make(report: dict[str, Any] | None, lent: dict[str, int | None]) -> str:
    """Make the bundle, and return it as JSON, its files in Base64; or `error`.

    Args:
        report: The report on the import of the server.
        lent: The donor's files, by path: the bytes of each as gzip, if it is worth it.
    """
    donor, checked = made[-1]
    try:
        bundle = ready_bundle(checked, donor, lent, report)
    except KitError as error:
        return failed(error)
    texts = {name: in_base64(getattr(bundle, name)) for name in ("made", "packed")}
    return json.dumps({**dataclasses.asdict(bundle), **texts})


def folder() -> Path:
    return next((HERE / "project").iterdir())


def failed(error: KitError) -> str:
    return json.dumps({"error": str(error).replace(f"{folder()}/", "")})


def files_in(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def in_base64(files: dict[str, bytes]) -> dict[str, str]:
    return {path: base64.b64encode(data).decode() for path, data in files.items()}
