"""When host.js asks a page whether it lives, and when it tells its host that it does not."""

from __future__ import annotations

import json

from mcpframe.kit.base.data import checkout_dir, static_dir
from mcpframe.kit.base.node import find_node


def test_a_page_is_asked_only_while_it_is_silent_and_waited_for() -> None:
    script = checkout_dir() / "tests" / "support" / "alive.mjs"
    got = json.loads(find_node().run(str(script), (static_dir() / "host" / "host-alive.js").as_uri(), timeout=60))
    assert got == {
        "idle": [0],
        "busy": [],
        "answering": ["ping ours", True, False],
        "told": ["ping ours", True],
        "silent": ["ping ours", True, False],
        "never": [],
        "left": 0,
    }
