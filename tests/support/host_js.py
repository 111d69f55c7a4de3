"""host.js in Node, without a browser: `tests/vectors/host_frame.mjs` says what comes of a case."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.node import find_node
from mcpframe.kit.web.host_page import HOST_MODULES

_DRIVER = Path(__file__).resolve().parents[1] / "vectors" / "host_frame.mjs"


def host_folder(folder: Path) -> Path:
    """Put the host modules into a folder, where Node takes them for modules."""
    for module in HOST_MODULES:
        shutil.copy2(static_dir() / module, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    return folder


def through_host_js(folder: Path, table: list[dict[str, Any]]) -> list[Any]:
    """Return what comes of each case: its outcome, with its processor time where it has a `make`."""
    cases = folder / "cases.json"
    cases.write_text(json.dumps(table))
    written = folder / "outcomes.json"
    find_node().run(str(_DRIVER), (folder / "host.js").as_uri(), str(cases), str(written), timeout=120)
    outcomes: list[Any] = json.loads(written.read_text("utf-8"))
    return outcomes
