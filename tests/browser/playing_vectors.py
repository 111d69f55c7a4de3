"""The vectors on host.js in a browser, between real frames: all in one load of `pages/vectors.html`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.vectors.cases import ROLES_FILE, VECTORS, cases, comparable


def write_vectors(site: Path) -> None:
    """Write the files that the page loads."""
    (site / "cases.json").write_text(json.dumps(cases("sep")))
    shutil.copy(VECTORS / "sep" / ROLES_FILE, site)
    shutil.copy(VECTORS / "host_driver.mjs", site)


def check_vectors(text: str) -> int:
    """Compare the results of `playAll` with the vectors; return how many were played."""
    results = zip(cases("sep"), json.loads(text), strict=True)
    played = [(case, result) for case, result in results if result is not None]
    assert {case["name"]: comparable(result) for case, result in played} == {
        case["name"]: comparable(case) for case, _ in played
    }
    assert len(played) > 2000
    return len(played)
