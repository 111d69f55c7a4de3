"""Each limit has one name and one value: the scripts for hosts have those of Python."""

from __future__ import annotations

import re

import pytest

from mcpframe.frame.core import limits
from mcpframe.frame.session.places import HINT_AFTER
from mcpframe.hub.core.codec import MAX_MESSAGE_BYTES
from mcpframe.kit.base.data import static_dir

OF_SCRIPTS = [
    ("host.js", "const DEFAULT_TIMEOUT = (.+);", limits.HANDSHAKE_SECONDS * 1000),
    ("host.js", "const SETUP_TIMEOUT = (.+);", limits.SETUP_SECONDS * 1000),
    ("host.js", "const DEFAULT_SILENCE = (.+);", limits.UNRESPONSIVE_SECONDS * 1000 / 2),
    ("host.js", "const HINT_AFTER = (.+);", HINT_AFTER * 1000),
    ("host.js", "maxMessageBytes: ([^,]+),", limits.MESSAGE_BYTES),
    ("host.js", "maxNesting: ([^,]+),", limits.MESSAGE_NESTING),
    ("host.js", "maxPending: ([^ ]+) ", limits.PENDING_REQUESTS),
    ("host-json.js", "const MOST_NESTING = (.+);", limits.DEEPEST_NESTING),
    ("app-hub.js", "const MOST_BYTES = (.+);", MAX_MESSAGE_BYTES),
]


@pytest.mark.parametrize(("script", "pattern", "value"), OF_SCRIPTS, ids=[each[1] for each in OF_SCRIPTS])
def test_a_script_has_the_same_limit(script: str, pattern: str, value: float) -> None:
    found = re.search(pattern, (static_dir() / "host" / script).read_text("utf-8"))
    assert found
    factors = [float(factor.replace("_", "")) for factor in found[1].split("*")]
    product = 1.0
    for factor in factors:
        product *= factor
    assert product == value
