"""The extension's content script, which forwards what the page's half says, and lets the page say nothing else."""

from __future__ import annotations

import json

from mcpframe.kit.base.data import checkout_dir, static_dir
from mcpframe.kit.base.node import find_node


def test_whoever_has_the_port_of_a_documents_tools_can_only_answer() -> None:
    script = checkout_dir() / "tests" / "support" / "content_script.mjs"
    said = json.loads(find_node().run(str(script), str(static_dir() / "extension" / "content.js"), timeout=60))
    assert said[0] == {"kind": "answer", "id": 1, "value": "1"}
    assert {each["kind"] for each in said} == {"answer"}
