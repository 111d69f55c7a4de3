"""The storage that a page leaves to its session's next page: data, whatever the page returns."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from mcpframe.kit.bridge.chromium.carried_storage import MOST, CarriedStorage

URL = "https://tools.example/pi/"
VALUES = [[["id", "text"], '"</script>\u2028"', None], [["id", "bytes"], None, "AAE="]]


def test_values_are_written_into_pages_of_the_servers_origin_only() -> None:
    storage = CarriedStorage()
    assert storage.script(URL) == ""
    storage.take(json.dumps(VALUES))
    assert storage.script(URL).endswith(f')("https://tools.example", {json.dumps(VALUES)})')


@pytest.mark.parametrize(
    "text",
    [
        None,
        7,
        "",
        "{}",
        "[1]",
        '[["key", "text", null]]',
        '[[["id", "key"], "text", "AAE="]]',
        '[[["id", "key"], {"a": 1}, null]]',
        "[" * 100_000,
        json.dumps([[["id", "key"], "x" * 2 * MOST, None]]),
    ],
    ids=range(10),
)
def test_what_is_no_value_is_not_carried(text: object, caplog: pytest.LogCaptureFixture) -> None:
    storage = CarriedStorage()
    storage.take(json.dumps(VALUES))
    with caplog.at_level(logging.WARNING):
        storage.take(text)
        storage.take(text)
    assert storage.values == []
    assert len(caplog.records) == 1


class Page:
    """DevTools of one page, which answers the methods that it has results for."""

    def __init__(self, **results: Any) -> None:
        self.results = results
        self.asked: list[str] = []

    def post(self, method: str, session: str, **_: Any) -> asyncio.Future[Any]:
        name = method.partition(".")[2]
        self.asked.append(name)
        answer = asyncio.get_running_loop().create_future()
        if name in self.results:
            answer.set_result(self.results[name])
        return answer


FOLLOWED = {"getFrameTree": {"frameTree": {"frame": {"id": "1"}}}, "getStorageKey": {"storageKey": "k"}}


async def test_a_page_is_read_once_its_changes_are_followed() -> None:
    value = {"result": {"value": json.dumps(VALUES)}}
    storage, page = CarriedStorage(), Page(**FOLLOWED, trackIndexedDBForStorageKey={}, evaluate=value)
    storage.follow(page, "session")  # type: ignore[arg-type]
    async with asyncio.timeout(10):
        while not storage.values:  # noqa: ASYNC110  a few turns of the loop
            await asyncio.sleep(0)
    assert storage.values == VALUES
    assert page.asked == ["getFrameTree", "getStorageKey", "trackIndexedDBForStorageKey", "evaluate"]


@pytest.mark.parametrize("silent", ["getFrameTree", "getStorageKey"])
async def test_nobody_waits_for_a_page_that_computes_or_has_crashed(silent: str) -> None:
    storage, page = CarriedStorage(), Page(**{name: each for name, each in FOLLOWED.items() if name != silent})
    storage.follow(page, "session")  # type: ignore[arg-type]
    await asyncio.sleep(0)
    storage.stop()
    assert storage._following is not None
    await asyncio.wait([storage._following], timeout=10)
    assert storage._following.cancelled()
