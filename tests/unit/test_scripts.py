"""Scripts of pages and of the extension in Node, each with a program that says what it saw."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mcpframe.hub.core.pieces import cut_marked
from mcpframe.kit.base.data import PIECES, checkout_dir, page_dir, script_with, static_dir
from mcpframe.kit.base.node import find_node


def seen(program: str, script: Path | str) -> Any:
    """Run a program of `tests/support` with a script, and return what it prints."""
    return json.loads(find_node().run(str(checkout_dir() / "tests" / "support" / program), str(script), timeout=60))


def test_python_that_is_busy_has_not_ended() -> None:
    ended = ["Python has ended (it does not answer any more): restart this page."]
    expected = {"soon": [], "busy": [], "not": ended, "never": ended}
    assert seen("ending.mjs", (page_dir() / "ending.js").as_uri()) == expected


def test_whoever_has_the_port_of_a_documents_tools_can_only_answer(tmp_path: Path) -> None:
    (tmp_path / "content.js").write_text(script_with("extension/content.js", PIECES), "utf-8")
    said = seen("content_script.mjs", tmp_path / "content.js")
    assert said[0] == {"kind": "answer", "id": 1, "value": "1"}
    assert {each["kind"] for each in said} == {"answer"}


def test_texts_are_cut_as_in_python() -> None:
    for text, posted in seen("pieces.mjs", (static_dir() / "hub" / "pieces.js").as_uri()):
        assert posted == list(cut_marked(text, 3))


def test_a_program_that_could_not_be_connected_to_the_hub_is_started_again() -> None:
    said = seen("outside_script.mjs", static_dir() / "extension" / "outside.js")
    assert said["started"] == [True, True, False]
    assert said["inside"] == [[{"name": "mcpframe-native", "from": {}}]]
    assert said["reloads"] == 1, "once native messaging has been granted, and for no other permission"


def test_a_page_is_asked_only_while_it_is_silent_and_waited_for() -> None:
    assert seen("alive.mjs", (static_dir() / "host" / "liveness.js").as_uri()) == {
        "idle": [0],
        "busy": [],
        "answering": ["ping ours", True, False],
        "told": ["ping ours", True],
        "silent": ["ping ours", True, False],
        "cancelled": [[], ["ping ours", True]],
        "spared": ["ping ours"],
        "never": [],
        "left": 0,
    }
