"""A link without a browser: nobody waits for ever, and a page that is opened again goes on where the first ended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from mcpframe.kit.base.errors import BuildError, KitError, PageFailed
from mcpframe.kit.edges.link.messages import ServerMessage
from mcpframe.kit.edges.link.reopening_link import ReopeningLink
from mcpframe.kit.edges.stdio.edge import _LinkEdge
from tests.support.polling import until

JSON = dict[str, Any]


class FakePage:
    """A page that answers what it is told to answer."""

    def __init__(self, link: ReopeningLink, *, silent: bool = False) -> None:
        self.link = link
        self.silent = silent
        self.heard: list[JSON] = []
        self.closed = self.cancelled = False
        self.watched: Callable[[], bool] = lambda: False

    def send(self, text: str) -> None:
        message = json.loads(text)
        self.heard.append(message)
        if "id" in message and "method" in message and not self.silent and message["method"] != "wait":
            self.say({"jsonrpc": "2.0", "id": message["id"], "result": {"of": message["method"]}})

    def say(self, message: JSON) -> None:
        self.link.on_message(ServerMessage(json.dumps(message), message.get("id"), message.get("method")))

    def await_answer(self, awaited: Callable[[], bool]) -> None:
        self.watched = awaited

    def answer_cancelled(self) -> None:
        self.cancelled = True

    async def close(self) -> None:
        self.closed = True


class Rig:
    """A link, its pages, and what its client has got."""

    def __init__(self) -> None:
        self.pages: list[FakePage] = []
        self.got: list[JSON] = []
        self.notes: list[str] = []
        self.failures: list[str | KitError] = []
        self.link = ReopeningLink(self.open_page, self)  # type: ignore[arg-type]

    async def open_page(self, link: ReopeningLink) -> FakePage:
        await asyncio.sleep(0)
        if self.failures:
            failure = self.failures.pop(0)
            raise failure if isinstance(failure, KitError) else PageFailed(failure)
        self.pages.append(FakePage(link))
        return self.pages[-1]

    def deliver(self, server_message: ServerMessage) -> None:
        self.got.append(json.loads(server_message.text))

    def note(self, text: str) -> None:
        self.notes.append(text)

    def send(self, **message: Any) -> None:
        message = {"jsonrpc": "2.0", **message}
        self.link.send(json.dumps(message), message)

    async def settle(self) -> None:
        while self.link._opening:
            await asyncio.wait([self.link._opening])
            await asyncio.sleep(0)


@pytest.fixture
async def rig() -> Rig:
    return Rig()


def methods(messages: list[JSON]) -> list[str]:
    return [message["method"] for message in messages]


async def test_messages_wait_for_the_page_and_keep_their_order(rig: Rig) -> None:
    for number in range(3):
        rig.send(id=number, method="ping")
    assert rig.link.pending == 3
    await rig.settle()
    assert [message["id"] for message in rig.pages[0].heard] == [0, 1, 2]
    assert [message["id"] for message in rig.got] == [0, 1, 2]
    assert rig.link.pending == 0


async def test_a_page_that_cannot_be_opened_fails_whoever_waits_and_is_tried_again(rig: Rig) -> None:
    rig.failures.append("It is not there.")
    rig.send(id=1, method="ping")
    rig.send(method="notifications/initialized")
    with pytest.raises(PageFailed):
        await rig.link.open()
    [failed] = rig.got
    unsent = {"reason": "ConnectionClosed", "mayHaveRun": False}
    assert (failed["id"], failed["error"]) == (1, {"code": -32000, "message": "It is not there.", "data": unsent})
    rig.send(id=2, method="ping")
    await rig.settle()
    assert methods(rig.pages[0].heard) == ["notifications/initialized", "ping"]
    assert rig.got[-1]["id"] == 2


async def test_a_build_that_fails_is_told_to_whoever_waits(rig: Rig) -> None:
    rig.failures.append(BuildError("It does not compile."))
    rig.send(id=1, method="ping")
    with pytest.raises(BuildError):
        await rig.link.open()
    assert [(message["id"], message["error"]["message"]) for message in rig.got] == [(1, "It does not compile.")]


async def test_a_crash_answers_everybody_and_begins_again(rig: Rig) -> None:
    rig.send(id=0, method="initialize", params={"protocolVersion": "2025-11-25"})
    await rig.settle()
    rig.send(method="notifications/initialized")
    rig.send(id=1, method="logging/setLevel", params={"level": "info"})
    rig.send(id=2, method="resources/subscribe", params={"uri": "a://kept"})
    rig.send(id=3, method="resources/subscribe", params={"uri": "a://left"})
    rig.send(id=4, method="resources/unsubscribe", params={"uri": "a://left"})
    first = rig.pages[0]
    first.say({"jsonrpc": "2.0", "id": 7, "method": "sampling/createMessage", "params": {}})
    rig.got.clear()
    rig.send(id=5, method="wait")
    rig.link.on_gone("It has crashed.")
    failed, withdrawn = rig.got
    assert (failed["id"], failed["error"]["message"]) == (5, "It has crashed.")
    assert failed["error"]["data"]["mayHaveRun"]
    assert (withdrawn["method"], withdrawn["params"]["requestId"]) == ("notifications/cancelled", 7)
    rig.send(id=7, result={})  # too late: the next page has asked nothing
    rig.send(id=6, method="ping")
    await rig.settle()
    assert first.closed
    repeated = rig.pages[1].heard
    assert methods(repeated) == [
        "initialize",
        "notifications/initialized",
        "logging/setLevel",
        "resources/subscribe",
        "ping",
    ]
    assert repeated[0]["params"] == {"protocolVersion": "2025-11-25"}
    assert repeated[3]["params"] == {"uri": "a://kept"}
    assert [message["id"] for message in rig.got[2:]] == [6]  # nothing of what was repeated


@pytest.mark.parametrize("is_answered", [False, True])
async def test_a_page_that_ends_before_it_has_begun_again_is_replaced(rig: Rig, is_answered: bool) -> None:
    rig.send(id=0, method="initialize", params={"protocolVersion": "2025-11-25"})
    await rig.settle()
    make = rig.open_page

    async def open_and_lose_once(link: ReopeningLink) -> FakePage:
        rig.link._open_page = make  # type: ignore[assignment]
        page = await make(link)
        page.silent = True
        return page

    rig.link._open_page = open_and_lose_once  # type: ignore[assignment]
    rig.link.on_gone("It has crashed.")
    await until(lambda: len(rig.pages) == 2 and rig.pages[1].heard)
    rig.send(id=1, method="ping")
    if is_answered:  # and lost before whoever waits for the answer gets a turn
        rig.pages[1].say({"jsonrpc": "2.0", "id": rig.pages[1].heard[0]["id"], "result": {}})
    rig.link.on_gone("It has crashed again.")
    async with asyncio.timeout(20):
        await rig.settle()
    assert [page.closed for page in rig.pages] == [True, True, False]
    assert [methods(page.heard) for page in rig.pages[1:]] == [["initialize"], ["initialize", "ping"]]
    assert [(message["id"], "result" in message) for message in rig.got[1:]] == [(1, True)]


async def test_pages_that_end_before_they_have_begun_again_are_not_replaced_for_ever(rig: Rig) -> None:
    rig.send(id=0, method="initialize", params={"protocolVersion": "2025-11-25"})
    await rig.settle()

    class Lost(FakePage):
        def send(self, text: str) -> None:
            self.heard.append(json.loads(text))
            asyncio.get_running_loop().call_soon(rig.link.on_gone, "It has crashed again.")

    async def open_lost(link: ReopeningLink) -> FakePage:
        rig.pages.append(Lost(link))
        return rig.pages[-1]

    rig.link._open_page = open_lost  # type: ignore[assignment]
    rig.link.on_gone("It has crashed.")
    rig.send(id=1, method="ping")
    async with asyncio.timeout(20):
        await rig.settle()
    assert [(page.closed, methods(page.heard)) for page in rig.pages[1:]] == [(True, ["initialize"])] * 3
    assert [(message["id"], message["error"]["message"]) for message in rig.got[1:]] == [(1, "It has crashed again.")]
    rig.link._open_page = rig.open_page  # type: ignore[assignment]
    rig.send(id=2, method="ping")
    await rig.settle()
    assert rig.got[-1]["id"] == 2


async def test_a_page_that_goes_before_it_is_open_gets_no_message(rig: Rig) -> None:
    make = rig.open_page

    async def open_and_lose(link: ReopeningLink) -> FakePage:
        page = await make(link)
        rig.link.on_gone("It has crashed.")
        rig.send(id=2, method="ping")  # while its files are still loaded
        await asyncio.sleep(0)
        return page

    rig.link._open_page = open_and_lose  # type: ignore[assignment]
    rig.send(id=1, method="ping")
    await rig.settle()
    assert [(page.closed, page.heard) for page in rig.pages] == [(True, [])] * 3  # it is not tried for ever
    assert [(message["id"], message["error"]["data"]["mayHaveRun"]) for message in rig.got] == [(1, False), (2, False)]

    async def open_and_lose_once(link: ReopeningLink) -> FakePage:
        rig.link._open_page = make  # type: ignore[assignment]
        return await open_and_lose(link)

    rig.link._open_page = open_and_lose_once  # type: ignore[assignment]
    rig.send(id=3, method="ping")
    await rig.settle()
    assert (rig.pages[3].closed, rig.pages[3].heard) == (True, [])
    assert [message["id"] for message in rig.got[2:]] == [3, 2]
    assert all("result" in message for message in rig.got[2:])


async def test_nothing_is_repeated_for_a_client_without_a_handshake(rig: Rig) -> None:
    rig.send(id=1, method="server/discover")
    await rig.settle()
    rig.link.on_gone("It has crashed.")
    await rig.settle()
    assert rig.pages[1].heard == []


async def test_a_cancelled_request_does_not_count(rig: Rig) -> None:
    rig.send(id=1, method="wait")
    await rig.settle()
    rig.send(method="notifications/cancelled", params={"requestId": 1})
    rig.link.on_gone("It has crashed.")
    assert rig.got == []
    await rig.settle()


@pytest.mark.parametrize("params", [None, [1], 5, {}, {"requestId": [1]}, {"requestId": {}}, {"requestId": True}])
async def test_a_cancellation_that_is_none_changes_nothing(rig: Rig, params: Any) -> None:
    rig.send(id=1, method="wait")
    await rig.settle()
    rig.send(method="notifications/cancelled", params=params)
    rig.pages[0].say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": params}})
    assert rig.link.pending == 1
    rig.pages[0].say({"jsonrpc": "2.0", "id": 1, "result": {}})
    assert rig.got[-1] == {"jsonrpc": "2.0", "id": 1, "result": {}}


WRONG = [{"result": 5}, {"result": None}, {"error": {}}, {"error": []}, {"error": {"code": 1.5, "message": ""}}]
WRONG += [{"error": {"code": 1, "message": "\ud800"}}, {"result": {"\udfff": 1}}, {"result": {}, "error": {}}, {}]


@pytest.mark.parametrize("wrong", WRONG)
async def test_an_answer_that_is_none_becomes_an_error(rig: Rig, wrong: JSON) -> None:
    rig.send(id="a", method="wait")
    await rig.settle()
    rig.pages[0].say({"jsonrpc": "2.0", "id": "a", **wrong})
    [answer] = rig.got
    assert (answer["id"], answer["error"]["code"], rig.link.pending) == ("a", -32603, 0)


@pytest.mark.parametrize("wrong", [{"method": 5}, {"method": "x", "params": None}, {"id": [], "method": "x"}, {}])
async def test_what_is_no_message_is_dropped_and_told(rig: Rig, wrong: JSON) -> None:
    await rig.link.open()
    rig.pages[0].say({"jsonrpc": "2.0", **wrong})
    assert rig.got == []
    assert "dropped" in rig.notes[0]


async def test_an_edge_that_fails_ends_nothing(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    rig.send(id=1, method="wait")
    rig.send(id=2, method="wait")
    await rig.settle()
    deliver, rig.deliver = rig.deliver, lambda _: 1 / 0  # type: ignore[method-assign, assignment, return-value]
    rig.pages[0].say({"jsonrpc": "2.0", "id": 1, "result": {}})
    rig.deliver = deliver  # type: ignore[method-assign]
    rig.pages[0].say({"jsonrpc": "2.0", "id": 2, "result": {}})
    assert [message["id"] for message in rig.got] == [2]
    assert "ZeroDivisionError" in caplog.text


async def test_no_id_of_a_client_is_one_of_what_is_repeated(rig: Rig) -> None:
    rig.send(id=0, method="initialize", params={})
    await rig.settle()
    rig.link.on_gone("It has crashed.")
    for number in range(3):
        rig.send(id=f"mcpframe-bridge-{number}", method="ping")
    await rig.settle()
    assert [message["id"] for message in rig.got[-3:]] == [f"mcpframe-bridge-{number}" for number in range(3)]


async def test_the_clients_answers_pass_once(rig: Rig) -> None:
    await rig.link.open()
    rig.pages[0].say({"jsonrpc": "2.0", "id": 7, "method": "roots/list"})
    rig.send(id=7, result={"roots": []})
    rig.send(id=7, result={"roots": []})
    rig.pages[0].say({"jsonrpc": "2.0", "id": 8, "method": "roots/list"})
    rig.pages[0].say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 8}})
    rig.send(id=8, result={"roots": []})
    assert len(rig.pages[0].heard) == 1


async def test_a_closed_link_says_nothing_more(rig: Rig) -> None:
    rig.send(id=1, method="wait")
    await rig.settle()
    await rig.link.close()
    assert rig.pages[0].closed
    rig.pages[0].say({"jsonrpc": "2.0", "id": 1, "result": {}})
    rig.link.on_gone("It has crashed.")
    assert (rig.got, rig.notes, len(rig.pages)) == ([], [], 1)


async def test_a_page_is_watched_while_a_client_waits(rig: Rig) -> None:
    rig.send(id=1, method="wait")
    await rig.settle()
    (page,) = rig.pages
    assert page.watched()
    rig.send(id=2, method="ping")
    assert page.watched()
    rig.send(method="notifications/cancelled", params={"requestId": 1})
    assert not page.watched()
    assert page.cancelled


async def test_what_others_wait_for_is_not_cut_short_by_a_cancellation(rig: Rig) -> None:
    rig.send(id=1, method="wait")
    rig.send(id=2, method="wait")
    await rig.settle()
    rig.send(method="notifications/cancelled", params={"requestId": 1})
    assert rig.pages[0].watched()
    assert not rig.pages[0].cancelled


async def test_a_request_is_answered_that_arrives_as_the_opening_fails() -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
    attempts: list[ReopeningLink] = []
    answered = asyncio.Event()

    async def fail(link: ReopeningLink) -> FakePage:
        attempts.append(link)
        if len(attempts) == 1:  # it arrives before anybody is called back
            asyncio.get_running_loop().call_soon(link.send, json.dumps(message), message)
        raise PageFailed("There is none.")

    class Answered(Rig):
        def deliver(self, server_message: ServerMessage) -> None:
            super().deliver(server_message)
            answered.set()

    rig = Answered()
    link = ReopeningLink(fail, rig)
    with pytest.raises(PageFailed):
        await link.open()
    async with asyncio.timeout(5):
        await answered.wait()
    assert rig.got[0]["error"]["message"] == "There is none."
    assert rig.notes == []  # `open` has raised it
    await link.close()


async def test_an_id_in_use_is_refused_over_stdio(rig: Rig) -> None:
    class Written:
        texts: list[str] = []

        def write(self, text: str) -> None:
            self.texts.append(text)

    async def lines() -> AsyncIterator[bytes]:
        for id_, method in (("7", "wait"), ("7.0", "ping"), ("8", "notifications/cancelled"), ("9", "ping")):
            yield f'{{"jsonrpc":"2.0","id":{id_},"method":"{method}"}}\n'.encode()

    edge = _LinkEdge(output := Written(), "test")  # type: ignore[arg-type]
    edge.link = rig.link = ReopeningLink(rig.open_page, edge)  # type: ignore[arg-type]
    await edge.read_all(lines())
    await rig.settle()
    assert [(message["id"], message["method"]) for message in rig.pages[-1].heard] == [(7, "wait"), (9, "ping")]
    answers = [json.loads(text) for text in output.texts]
    assert [(each["id"], each.get("error", {}).get("code")) for each in answers] == [
        (7, -32600),
        (8, -32600),
        (9, None),
    ]
    assert rig.link.waits_for(7)
