"""When the page's script takes Python for ended: not while Python is only busy."""

from __future__ import annotations

import json

from mcpframe.kit.base.data import checkout_dir, page_dir
from mcpframe.kit.base.node import find_node


def test_python_that_is_busy_has_not_ended() -> None:
    script = checkout_dir() / "tests" / "support" / "ending.mjs"
    said = json.loads(find_node().run(str(script), (page_dir() / "ending.js").as_uri(), timeout=60))
    ended = ["Python has ended (it does not answer any more): restart this page."]
    assert said == {"soon": [], "busy": [], "not": ended, "never": ended}
