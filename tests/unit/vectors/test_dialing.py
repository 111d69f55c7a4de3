"""A tab's port to a hub in a page does the same in Python and in JavaScript (`hub-port.js`, in Node)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.node import find_node
from tests.vectors.cases import VECTORS, expanded
from tests.vectors.python_dialing import Outcome, Story, play

STORIES: list[Story] = json.loads(expanded((VECTORS / "hub_tabs" / "dialing.json").read_text("utf-8")))["stories"]


def comparable(outcomes: list[Outcome]) -> list[list[str]]:
    """Return the outcome of each step; within a step there is no order."""
    return [sorted(json.dumps(each, sort_keys=True) for each in outcome) for outcome in outcomes]


EXPECTED = {story["name"]: comparable([step.get("outcome", []) for step in story["steps"]]) for story in STORIES}


def test_in_python() -> None:
    assert {story["name"]: comparable(play(story)) for story in STORIES} == EXPECTED


def test_in_javascript(tmp_path: Path) -> None:
    shutil.copy(static_dir() / "host" / "hub-port.js", tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "stories.json").write_text(json.dumps(STORIES))
    files = [str(tmp_path / name) for name in ("stories.json", "results.json")]
    find_node().run(str(VECTORS / "dialing_in_node.mjs"), (tmp_path / "hub-port.js").as_uri(), *files, timeout=60)
    results: list[Any] = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert {story["name"]: comparable(played) for story, played in zip(STORIES, results, strict=True)} == EXPECTED
