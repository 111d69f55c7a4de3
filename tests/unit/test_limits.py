"""Each limit has one name and one value: the scripts, and the inspector, have those of the package."""

from __future__ import annotations

import re

import pytest

from mcpframe.frame.core import limits
from mcpframe.frame.core.places import HINT_AFTER
from mcpframe.hub.core import limits as hub
from mcpframe.kit.base import limits as kit
from mcpframe.kit.base.data import static_dir

OF_SCRIPTS = [
    ("app/limits.js", "const LOADING = (.+);", kit.VIEW_LOADING_SECONDS * 1000),
    ("app/limits.js", "const CALLING = (.+);", kit.VIEW_CALLING_SECONDS * 1000),
    ("app/limits.js", "const PAINTING = (.+);", kit.VIEW_PAINTING_SECONDS * 1000),
    ("app/limits.js", "const DRAWING = (.+);", kit.VIEW_DRAWING_SECONDS * 1000),
    ("app/limits.js", "const STARTING = (.+);", kit.VIEW_STARTING_SECONDS * 1000),
    ("app/limits.js", "const LEAST_FILLED = (.+);", kit.VIEW_FILLED_PIXELS),
    ("app/limits.js", "const MOST_KEPT = (.+);", kit.EARLY_MESSAGES),
    ("app/limits.js", "const MOST_HELD = (.+);", kit.VIEW_HELD_CHARACTERS),
    ("host/limits.js", "const DEFAULT_TIMEOUT = (.+);", limits.HANDSHAKE_SECONDS * 1000),
    ("host/limits.js", "const SETUP_TIMEOUT = (.+);", limits.SETUP_SECONDS * 1000),
    ("host/limits.js", "const DEFAULT_SILENCE = (.+);", limits.UNRESPONSIVE_SECONDS * 1000 / 2),
    ("host/limits.js", "const HINT_AFTER = (.+);", HINT_AFTER * 1000),
    ("host/limits.js", "maxMessageBytes: ([^,]+),", limits.MESSAGE_BYTES),
    ("host/limits.js", "maxNesting: ([^,]+),", limits.MESSAGE_NESTING),
    ("host/limits.js", "maxPending: ([^ ]+) ", limits.PENDING_REQUESTS),
    ("host/host-json.js", "const MOST_NESTING = (.+);", limits.DEEPEST_NESTING),
    ("host/page-hub.js", "const MOST_BYTES = (.+);", hub.HUB_MESSAGE_BYTES),
    ("host/hub-port.js", "const PING_MS = (.+);", hub.PING_SECONDS * 1000),
    ("host/hub-port.js", "const STRIKES = (.+);", hub.PING_STRIKES),
    ("host/hub-port.js", "const NUMBER_MS = (.+);", hub.NUMBER_SECONDS * 1000),
    ("host/hub-port.js", "const LONGEST_NAME = (.+);", hub.HUB_NAME_CHARACTERS),
    ("host/hub-port.js", "const LONGEST_CONTROL = (.+);", hub.HUB_CONTROL_BYTES),
    ("host/hub-port.js", "const LONGEST_MESSAGE = (.+);", limits.MESSAGE_BYTES),
    ("extension/popup.js", "const DELAY = (\\d+);", hub.CONSENT_DELAY_SECONDS * 1000),
    ("hub/document-tools.js", "const MOST = (.+);", limits.LISTED_TOOLS),
    ("inspector/inspector/panels/listing.py", "MOST_PAGES = (.+)", limits.LISTED_PAGES),
]


@pytest.mark.parametrize(("script", "pattern", "value"), OF_SCRIPTS, ids=[each[1] for each in OF_SCRIPTS])
def test_a_script_has_the_same_limit(script: str, pattern: str, value: float) -> None:
    found = re.search(pattern, (static_dir() / script).read_text("utf-8"))
    assert found
    factors = [float(factor.replace("_", "")) for factor in found[1].split("*")]
    product = 1.0
    for factor in factors:
        product *= factor
    assert product == value


def test_the_hub_drops_no_answer_that_it_has_sent() -> None:
    """A dropped answer would leave its request waiting for ever."""
    assert hub.HUB_MESSAGE_BYTES < hub.ANSWER_BYTES < limits.MESSAGE_BYTES
    assert hub.PAGE_TOOLS <= limits.LISTED_TOOLS
