"""The size that a page reports: whatever its host makes of it, and whatever the page makes of its frame, it ends."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcpframe.kit.base.data import checkout_dir, page_dir
from mcpframe.kit.base.limits import VIEW_FILLED_PIXELS as LEAST
from mcpframe.kit.base.node import find_node

FIRST = 150
HOSTS = ("exact", "adds", "takes away", "at most 500")


@pytest.fixture(scope="module")
def seen() -> Any:
    """What `tests/support/own_size.mjs` prints."""
    program = str(checkout_dir() / "tests" / "support" / "own_size.mjs")
    return json.loads(find_node().run(program, (page_dir() / "fitting.js").as_uri(), timeout=60))


def test_it_ends_with_every_host(seen: Any) -> None:
    for page, hosts in seen["settled"].items():
        for host, reports in hosts.items():
            assert reports is not None, (page, host)
            assert len(reports) < 12, (page, host)
            assert max(reports) <= max(16 * FIRST, 700), (page, host)


@pytest.mark.parametrize("host", HOSTS)
def test_each_page_has_its_height(seen: Any, host: str) -> None:
    reports = {page: hosts[host] for page, hosts in seen["settled"].items()}
    assert reports["content"] == [400]
    assert reports["at least 400"][0] == 400
    assert reports["fills"] == reports["100vh"] == reports["collapsed to nothing"] == [LEAST]
    assert reports["fills, with more content"] == [700]
    assert reports["100vh with margins"] == [LEAST]
    assert seen["fill, as its author says"][host] == [LEAST]
    assert seen["a height of its author"][host] == [480]


def test_only_changes_are_reported(seen: Any) -> None:
    assert seen["changes"] == [[300, 400], [200, 600], [200, 100]]


def test_content_that_grows_while_its_frame_does_is_reported_in_the_end(seen: Any) -> None:
    assert seen["growing with its frame"][-1] == [300, 480]


def test_another_change_is_reported_again(seen: Any) -> None:
    assert len(seen["following, then another change"]) == 4
    assert seen["following, then another change"][-1] == [300, 700]


def test_a_page_that_fills_its_frame_keeps_the_height_that_its_host_gives_it(seen: Any) -> None:
    assert seen["a host that resizes by itself"] == [[300, LEAST]]
    assert seen["content after what fills"] == [[300, LEAST], [300, 120], [300, LEAST]]
