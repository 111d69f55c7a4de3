"""host.js in Node, without a browser: `tests/vectors/host_in_node.mjs` plays the cases."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from mcpframe.kit.base.data import HOST_JSON, static_dir
from mcpframe.kit.base.node import find_node
from mcpframe.kit.web.host_page import copy_host_modules
from tests.vectors.cases import ROLES_FILE, VECTORS, Case, Result

_DRIVER = VECTORS / "host_in_node.mjs"
_READER = VECTORS / "texts_in_node.mjs"


def host_folder(folder: Path) -> Path:
    """Put the host modules, and those of other dialects, into a folder, where Node takes them for modules."""
    copy_host_modules(folder)
    for name in ("host", "bridge"):
        shutil.copytree(static_dir() / name, folder / name, ignore=shutil.ignore_patterns("bundled", "*.json"))
    (folder / "package.json").write_text('{"type": "module"}')
    return folder


def through_host_js(folder: Path, table: list[Case], dialect: str = "sep") -> list[Result | None]:
    """Play cases; None for one that host.js has no part in. A case may have a `make`: JavaScript in place of a message.

    Returns:
        The result of each case, with the processor time that it took in `milliseconds`.
    """
    cases = folder / "cases.json"
    cases.write_text(json.dumps(table))
    written = folder / "results.json"
    module = folder / ("host.js" if dialect == "sep" else f"bridge/dialects/{dialect}.js")
    driver = [str(_DRIVER), module.as_uri(), str(VECTORS / dialect / ROLES_FILE)]
    find_node().run(*driver, str(cases), str(written), timeout=120)
    results: list[Result | None] = json.loads(written.read_text("utf-8"))
    return results


def texts_of(folder: Path, makes: list[str], *, wanted: bool = True) -> list[Any]:
    """Return what a page hands to Python of each value, which is given as JavaScript: a text, or a reason, or None.

    With `wanted=False`, large messages are not read.
    """
    values = folder / "makes.json"
    values.write_text(json.dumps(makes))
    written = folder / "texts.json"
    asked = [] if wanted else ["unasked"]
    find_node().run(str(_READER), (static_dir() / HOST_JSON).as_uri(), str(values), str(written), *asked, timeout=120)
    texts: list[Any] = json.loads(written.read_text("utf-8"))
    return texts
