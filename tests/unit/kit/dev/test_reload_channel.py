"""Host pages hear of a build when it ends, and what they have missed at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from mcpframe.kit.dev.reload_channel import DevChannel, WithChannel
from mcpframe.kit.web.serve import serve_app


async def elsewhere(scope, receive, send):  # type: ignore[no-untyped-def]
    await send({"type": "http.response.start", "status": 404, "headers": []})
    await send({"type": "http.response.body", "body": b"elsewhere"})


@pytest.fixture
def channel() -> DevChannel:
    return DevChannel()


@pytest.fixture
def address(channel: DevChannel) -> Iterator[str]:
    with serve_app(WithChannel(elsewhere, "/state", channel)) as served:
        yield f"{served.origin}/state?{channel.query}"


def ask(address: str) -> object:
    with urlopen(address, timeout=20) as answer:
        assert answer.headers["cache-control"] == "no-store"
        return json.load(answer)


def test_what_was_missed_comes_at_once(channel: DevChannel, address: str) -> None:
    channel.publish(url="http://here/a/")
    channel.publish(error="line 3")
    assert ask(f"{address}after=0") == {
        "version": 2,
        "url": "http://here/a/",
        "built": 1,
        "error": "line 3",
        "fails": "build",
    }
    assert ask(address.rstrip("&")) == ask(f"{address}after=nonsense")


def test_who_is_up_to_date_waits_for_news(channel: DevChannel, address: str) -> None:
    channel.publish(url="http://here/a/")
    with ThreadPoolExecutor() as pool:
        waiting = [pool.submit(ask, f"{address}after=1") for _ in range(3)]
        while len(channel._waiting) < 3:
            assert not any(answer.done() for answer in waiting)
        channel.publish(url="http://here/a/")
        news = {"version": 2, "url": "http://here/a/", "built": 2, "error": None, "fails": None}
        assert [answer.result(20) for answer in waiting] == [news] * 3


def test_a_start_that_fails_is_told_of_the_last_build_only(channel: DevChannel, address: str) -> None:
    for _ in range(2):
        channel.publish(url="http://here/a/")
    assert not channel.publish(error="line 3", of=1)
    assert ask(address)["version"] == 2  # type: ignore[index]
    assert channel.publish(error="line 3", of=2)
    assert ask(address.rstrip("&")) == {
        "version": 3,
        "url": "http://here/a/",
        "built": 2,
        "error": "line 3",
        "fails": "start",
    }


def test_a_build_runs_once_a_page_is_connected_to_it(channel: DevChannel, address: str) -> None:
    channel.publish(url="http://here/a/")
    assert not channel.runs(1, within=60)  # nobody has heard of it: nobody is waited for
    with ThreadPoolExecutor() as pool:
        listening = pool.submit(ask, f"{address}after=1")
        while not channel._waiting:
            assert not listening.done()
        channel.publish(url="http://here/a/")
        assert channel.runs(1, within=0)  # there is a newer one
        assert not channel.runs(2, within=0)
        waiting = pool.submit(channel.runs, 2, 60)
        for number in ("1", "nonsense", "2"):
            assert ask(f"{address}running={number}")["version"] == 2  # type: ignore[index]
        assert waiting.result(20)


def test_what_the_server_says_is_for_the_terminal() -> None:
    said: list[str] = []
    channel = DevChannel(said.append)
    with serve_app(WithChannel(elsewhere, "/state", channel)) as served:
        address = f"{served.origin}/state"
        assert ask(f"{address}?{channel.query}said=a%0Ab%26c%20%C3%A9")["built"] == 0  # type: ignore[index]
        with pytest.raises(HTTPError, match="403") as refused:
            urlopen(f"{address}?token=x&said=a", timeout=20).close()
        refused.value.close()
    assert said == ["a", "b&c é"]


@pytest.mark.parametrize("query", ["", "?after=0", "?token=&after=0", "?token=x", "?token=%ed%a0%80", "?running=1"])
def test_nothing_is_answered_without_the_token(channel: DevChannel, address: str, query: str) -> None:
    channel.publish(url="http://here/a/", error="/home/me/server.py, line 3")
    with pytest.raises(HTTPError, match="403") as refused:
        urlopen(f"{address.partition('?')[0]}{query}", timeout=20).close()
    refused.value.close()
    assert not channel.runs(1, within=0)


def test_each_run_has_another_token() -> None:
    assert DevChannel().query != DevChannel().query
