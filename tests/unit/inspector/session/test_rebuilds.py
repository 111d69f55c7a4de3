"""Notices of builds in the inspector: each once, through restarts and invalid answers."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from inspector.session import rebuilds
from inspector.session.rebuilds import Rebuilt, Terminal, news

PAGE = "http://127.0.0.1:8721/adder/"


def state(version: int, built: int, error: str | None = None) -> bytes:
    return json.dumps({"version": version, "url": PAGE if built else None, "built": built, "error": error}).encode()


async def test_each_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rebuilds, "PAUSE", 0.0)
    answers: list[Any] = [
        state(1, 0, "line 3"),
        state(2, 1),
        state(2, 1),  # it was held back for as long as anybody waits
        OSError("nobody there"),
        b"<html>",
        b"[]",
        state(3, 1, "line 4"),
        state(1, 1),  # started again
        state(1, 1),
        state(5, 4),
    ]
    asked: list[str] = []

    async def fetch(address: str) -> bytes:
        asked.append(address.partition("after=")[2])
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return bytes(answer)

    async def find() -> str:
        return "rebuilds?"

    heard: list[Rebuilt] = []
    async for each in news(fetch, find):
        heard.append(each)
        if not answers:
            break
    assert heard == [
        Rebuilt("", is_new=False, error="line 3", running="rebuilds?running=0", said="rebuilds?said="),
        Rebuilt(PAGE, is_new=True, error="", running="rebuilds?running=1", said="rebuilds?said="),
        Rebuilt(PAGE, is_new=False, error="line 4", running="rebuilds?running=1", said="rebuilds?said="),
        Rebuilt(PAGE, is_new=True, error="", running="rebuilds?running=1", said="rebuilds?said="),
        Rebuilt(PAGE, is_new=True, error="", running="rebuilds?running=4", said="rebuilds?said="),
    ]
    assert asked == ["0", "1", "2", "2", "2", "2", "2", "3", "0", "1"]


async def test_another_run_has_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rebuilds, "PAUSE", 0.0)
    found = ["rebuilds?token=1&", "", "rebuilds?token=2&"]

    async def find() -> str:
        return found.pop(0)

    asked: list[str] = []

    async def fetch(address: str) -> bytes:
        asked.append(address)
        if len(asked) in (2, 3):
            raise OSError("HTTP status 403")
        return state(2, 2)

    heard: list[Rebuilt] = []
    async for each in news(fetch, find):
        heard.append(each)
        if len(heard) == 2:
            break
    assert asked == [
        "rebuilds?token=1&after=0",
        "rebuilds?token=1&after=2",
        "rebuilds?token=1&after=2",
        "rebuilds?token=2&after=0",
    ]
    address = "rebuilds?token=2&"
    assert heard[1] == Rebuilt(PAGE, is_new=True, error="", running=f"{address}running=2", said=f"{address}said=")


async def test_the_terminal_is_told_in_order_and_in_few_requests() -> None:
    asked: list[str] = []
    hold = asyncio.Event()

    async def fetch(address: str) -> bytes:
        asked.append(address)
        await hold.wait()
        if len(asked) == 2:
            raise OSError("stopped")
        return b"{}"

    terminal = Terminal(fetch)
    terminal.address = "rebuilds?said="
    saying = [asyncio.ensure_future(terminal.say(text)) for text in ("one", "two", "x" * 3999, "é&\ud800")]
    while not asked:  # noqa: ASYNC110
        await asyncio.sleep(0)
    hold.set()
    await asyncio.gather(*saying)
    assert asked == [
        "rebuilds?said=one",
        "rebuilds?said=two",
        "rebuilds?said=" + "x" * 3999,
        "rebuilds?said=%C3%A9%26%3F",
    ]
