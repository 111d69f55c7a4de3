"""A browser that hangs is given up: nobody waits for it for ever."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator

import pytest

from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.browser.devtools import protocol as devtools
from mcpframe.kit.browser.devtools.protocol import DevTools, connect_pipes


@pytest.fixture
async def silent() -> AsyncIterator[DevTools]:
    """A client whose browser takes every command and says nothing."""
    in_its, in_ours = os.pipe()
    out_ours, out_its = os.pipe()
    client = await connect_pipes(out_ours, in_ours)
    yield client
    await client.close()
    os.close(in_its)
    os.close(out_its)


async def test_a_browser_that_does_not_answer_counts_as_gone(silent: DevTools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devtools, "_ANSWER_SECONDS", 0.05)
    other = silent.post("Target.getTargets")
    with pytest.raises(BrowserGone, match="has not answered"):
        await silent.command("Target.createTarget")
    assert silent.closed.done()
    with pytest.raises(BrowserGone):
        await other
    with pytest.raises(BrowserGone):
        await silent.command("Target.createTarget")


async def test_a_deadline_of_the_callers_is_the_callers(silent: DevTools) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await silent.command("Browser.close")
    assert not silent.closed.done()


async def test_what_a_page_makes_too_long_is_not_the_browsers_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page can have DevTools pass on whatever it writes to its console, and answer with as much."""
    monkeypatch.setattr(devtools, "LONGEST", 10_000)
    in_its, in_ours = os.pipe()
    out_ours, out_its = os.pipe()
    client = await connect_pipes(out_ours, in_ours)
    heard: list[str] = []
    client.handle("", lambda method, params: heard.append(method))
    answers = [client.post("Runtime.evaluate") for _ in range(3)]
    lines = [
        '{"method":"Runtime.consoleAPICalled","params":{"args":["' + "c" * 5000 + '"]}}',
        '{"method":"Runtime.consoleAPICalled","params":{"args":["' + "c" * 500_000 + '"]}}',
        '{"method":"Page.javascriptDialogOpening","params":{"message":"' + "m" * 10_100 + '"}}',
        '{"method":"Page.first","params":{}}',
        '{"id":1,"result":{"value":"' + "r" * 70_000 + '"}}',
        '{"id":2,"result":{"value":"short"}}',
        '{"id":3,"result":{"value":"' + "r" * 10_000 + '"}}',
        '{"method":"Page.last","params":{}}',
    ]
    data = "".join(f"{line}\0" for line in lines).encode()
    await asyncio.to_thread(os.write, out_its, data[:300_000])
    await asyncio.to_thread(os.write, out_its, data[300_000:])
    async with asyncio.timeout(60):
        while heard != ["Page.first", "Page.last"]:  # noqa: ASYNC110
            await asyncio.sleep(0)
        for long in (answers[0], answers[2]):
            with pytest.raises(BrowserGone, match="too long"):
                await long
        assert await answers[1] == {"value": "short"}
    assert not client.closed.done()
    await client.close()
    os.close(in_its)
    os.close(out_its)


async def test_the_console_is_passed_on_up_to_a_length() -> None:
    in_its, in_ours = os.pipe()
    out_ours, out_its = os.pipe()
    client = await connect_pipes(out_ours, in_ours)
    client.longest_of_console = 200
    heard: list[str] = []
    client.handle("", lambda method, params: heard.append(params["text"]))
    long = [("consoleAPICalled", "c" * 200), ("exceptionThrown", "e" * 200)]
    for event, text in (("consoleAPICalled", "short"), *long, ("exceptionThrown", "uncaught")):
        os.write(out_its, f'{{"method":"Runtime.{event}","params":{{"text":"{text}"}}}}\0'.encode())
    os.write(out_its, b'{"method":"Page.last","params":{"text":"last"}}\0')
    async with asyncio.timeout(60):
        while "last" not in heard:  # noqa: ASYNC110
            await asyncio.sleep(0)
    assert heard == ["short", "uncaught", "last"]
    await client.close()
    os.close(in_its)
    os.close(out_its)


async def test_commands_end_with_their_session() -> None:
    in_its, in_ours = os.pipe()
    out_ours, out_its = os.pipe()
    client = await connect_pipes(out_ours, in_ours)
    of_browser, of_page, of_another = [client.post("Runtime.evaluate", session) for session in ("", "a", "b")]
    os.write(out_its, b'{"method":"Target.detachedFromTarget","params":{"sessionId":"a"}}\0')
    async with asyncio.timeout(60):
        with pytest.raises(BrowserGone, match="page has ended"):
            await of_page
    assert not of_browser.done()
    os.write(out_its, b'{"id":2,"result":{}}\0{"id":3,"result":{"value":3}}\0')  # the first is late
    async with asyncio.timeout(60):
        assert await of_another == {"value": 3}
    assert not client.closed.done()
    await client.close()
    os.close(in_its)
    os.close(out_its)
