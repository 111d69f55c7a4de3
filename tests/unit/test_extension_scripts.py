"""The extension's scripts, which only forward: a page says nothing else, and ports end at both ends."""

from __future__ import annotations

import json

from mcpframe.kit.base.data import checkout_dir, static_dir
from mcpframe.kit.base.node import find_node


def test_whoever_has_the_port_of_a_documents_tools_can_only_answer() -> None:
    script = checkout_dir() / "tests" / "support" / "content_script.mjs"
    said = json.loads(find_node().run(str(script), str(static_dir() / "extension" / "content.js"), timeout=60))
    assert said[0] == {"kind": "answer", "id": 1, "value": "1"}
    assert {each["kind"] for each in said} == {"answer"}


def test_a_program_that_could_not_be_connected_to_the_hub_is_started_again() -> None:
    script = checkout_dir() / "tests" / "support" / "outside_script.mjs"
    said = json.loads(find_node().run(str(script), str(static_dir() / "extension" / "outside.js"), timeout=60))
    assert said["started"] == [True, True, False]
    assert said["inside"] == [[{"name": "mcpframe-native", "from": {}}]]
