"""Decisions of the extension's user: clients from outside, consent, pages, the program, and the log."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from mcpframe.hub.core import limits
from mcpframe.hub.core.errors import CallDenied
from mcpframe.hub.core.limits import DECISION_SECONDS, KEEP_ALIVE_SECONDS, WORKER_SECONDS
from mcpframe.hub.homes.extension.outside import name_of_client
from mcpframe.hub.serving.native_clients import begin_of, frames_of
from tests.support.fake_extension import ID, FakeExtension, FarEnd
from tests.support.fake_hub import tool
from tests.support.settling import settled
from tests.unit.hub.homes.extension.test_extension_hub import ADD, SHOP, World, answered, world

OTHER = "ponmlkjihgfedcbaponmlkjihgfedcba"
POPUP = f"chrome-extension://{ID}/popup.html"
CHAT = "https://chat.example"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "POPUP_SECONDS", 0.001)


def extension_client(here: World, id_: str = OTHER) -> FarEnd:
    origin = f"chrome-extension://{id_}"
    return here.extension.connect("mcp", external=True, id=id_, url=f"{origin}/page.html", origin=origin)


def page_client(here: World, origin: str) -> FarEnd:
    return here.extension.connect("mcp", external=True, url=f"{origin}/", origin=origin, tab={"id": 5}["id"], frame=0)


class Shown:
    """An open popup."""

    def __init__(self, here: World, url: str = POPUP) -> None:
        self.end = here.extension.connect("mcpframe-popup", id=ID, url=url)

    async def state(self) -> Any:
        await asyncio.sleep(0.1)  # what popups show is collected for a moment, which is short here
        await settled()
        return self.end.heard[-1]

    async def does(self, what: str, **more: Any) -> Any:
        self.end.post({"do": what, **more})
        return await self.state()


async def is_served(client: FarEnd) -> bool:
    client.post(INITIALIZE)
    await settled()
    return any(each.get("id") == 0 and "result" in each for each in client.heard)


async def test_a_client_waits_for_the_decision_which_is_kept() -> None:
    extension = FakeExtension()
    async with world(extension) as here:
        popup = Shown(here)
        client, again = extension_client(here), extension_client(here)
        assert not await is_served(client)
        origin = f"chrome-extension://{OTHER}"
        shown = (await popup.state())["clients"]
        assert shown == [{"origin": origin, "name": "t", "allowed": None, "asking": True, "connected": 0}]
        assert extension.badge == "!"
        shown = (await popup.does("client", origin=origin, on=True))["clients"]
        assert shown == [{"origin": origin, "name": "t", "allowed": True, "asking": False, "connected": 2}]
        assert extension.badge == ""
        assert client.heard[0]["id"] == 0  # what it had sent before
        assert await is_served(again)
        await here.clock.pass_(KEEP_ALIVE_SECONDS)
        assert client.heard[-1]["type"] == "keep-alive"
        client.close()
        assert (await popup.state())["clients"][0]["connected"] == 1
    async with world(extension) as here:
        popup = Shown(here)
        assert [each["name"] for each in (await popup.state())["clients"]] == ["t"]
        assert await is_served(extension_client(here))
        served = extension_client(here)
        await popup.does("client", origin=origin, on=False)
        assert served.is_closed
        assert extension_client(here).is_closed


async def test_who_may_be_a_client() -> None:
    async with world(clients=[CHAT]) as here:
        assert await is_served(page_client(here, CHAT))
        assert page_client(here, "null").is_closed
        assert here.extension.connect("mcp", external=True, url="data:,").is_closed
        late = page_client(here, "https://late.example")
        many = [extension_client(here, chr(ord("a") + number) * 32) for number in range(16)]
        assert [each.is_closed for each in many] == [False] * 15 + [True]
        many[0].close()
        await here.clock.pass_(DECISION_SECONDS)
        assert late.is_closed
        assert here.extension.badge == ""
        # A content script is as much as its page; the popup's port is for the popup.
        assert here.extension.connect("mcp", id=ID, url=SHOP, origin="https://shop.example", tab=1, frame=0).is_closed
        for url in (SHOP, f"{POPUP}.evil", f"chrome-extension://{OTHER}/popup.html"):
            assert Shown(here, url).end.is_closed


async def test_a_client_that_waits_takes_no_more_than_its_room() -> None:
    async with world() as here:
        many = [extension_client(here) for _ in range(20)]
        assert [each.is_closed for each in many] == [False] * 4 + [True] * 16
        other = extension_client(here, "a" * 32)
        for message, times in ((INITIALIZE, 64), ("x" * 9_000_000, 1)):
            for _ in range(times):
                other.post(message)
            assert not other.is_closed
            other.post(message)
            assert other.is_closed
            other = extension_client(here, "a" * 32)
        assert [each["asking"] for each in (await Shown(here).state())["clients"]] == [True, True]


async def test_consent_is_asked_for_in_a_window_that_shows_what_is_meant() -> None:
    async with world(ask=True) as here:
        page = here.proxied(1, tool("add"))
        popup = Shown(here)
        await settled()
        for answer in ("once", "deny", "close"):
            calling = asyncio.ensure_future(here.home.hub.call(ADD, {"x": "<b>\u202e"}))
            window = Shown(here, f"{POPUP}?ask")
            question = (await window.state())["question"]
            assert (question["origin"], question["tool"]) == ("https://shop.example", "add")
            assert question["client"]
            assert "<b>\\u202e" in question["text"]
            await popup.does("answer", id="of another question", answer="once")
            assert not calling.done()
            if answer == "close":
                window.end.close()
            else:
                await popup.does("answer", id=question["id"], answer=answer)
            if answer == "once":
                await answered(page, "5")
                assert (await calling)["content"][0]["text"] == "5"
            else:
                with pytest.raises(CallDenied):
                    await calling
            window.end.close()
            assert (await popup.state())["question"] is None
        assert here.extension.windows == 3
        assert not (await popup.does("ask", on=False))["ask"]
        calling = asyncio.ensure_future(here.home.hub.call(ADD, {}))
        await answered(page, "6")
        assert (await calling)["content"][0]["text"] == "6"
        assert json.loads(here.extension.store["mcpframe:choices"]) == {"ask": False, "denied": []}


async def test_the_question_names_the_client_by_its_origin_and_what_it_calls_itself() -> None:
    async with world(ask=True, clients=[CHAT]) as here:
        here.proxied(1, tool("add"))
        client = page_client(here, CHAT)
        assert await is_served(client)
        client.post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": ADD, "arguments": {}}})
        await settled()
        window = Shown(here, f"{POPUP}?ask")
        question = (await window.state())["question"]
        assert (question["client"], question["name"]) == (CHAT, "t 1")
        window.end.close()
        await settled()


@pytest.mark.parametrize(
    ("first", "name"),
    [
        ({"method": "initialize", "params": {"clientInfo": {"name": "a", "title": "A\u202e\nB"}}}, "A\\u202e B"),
        ({"params": {"_meta": {"io.modelcontextprotocol/clientInfo": {"name": "a"}}}}, "a"),
        *((each, "") for each in ({}, [], 5, {"params": []}, {"params": {"clientInfo": {"name": 5}}}, "{")),
    ],
)
def test_the_name_that_a_client_gives_itself(first: Any, name: str) -> None:
    assert name_of_client(json.dumps(first)) == name
    assert len(name_of_client(json.dumps({"params": {"clientInfo": {"name": "x" * 9999}}}))) < 200


async def test_pages_are_excluded_and_what_they_say_is_shown_without_controls() -> None:
    extension = FakeExtension()
    async with world(extension) as here:
        popup = Shown(here)
        page = here.proxied(1, {**tool("add"), "title": "\x1b[2J", "description": "\u202etxt.exe" + "x" * 9999})
        extension.active = 1
        extension.event("active")
        state = await popup.state()
        assert (state["page"], state["offered"]) == ("https://shop.example", True)
        [shown] = state["tabs"][0]["tools"]
        assert shown["title"] == "[2J"
        assert shown["description"].startswith("txt.exe")
        assert len(shown["description"]) < 1000
        assert any("registers 1 tools" in line["text"] for line in state["log"])
        state = await popup.does("site", origin="https://shop.example", on=False)
        assert (page.is_closed, state["tabs"], state["excluded"]) == (True, [], ["https://shop.example"])
    async with world(extension) as here:
        assert here.proxied(1, tool("add")).is_closed
        popup = Shown(here)
        assert (await popup.does("site", origin="https://shop.example", on=True))["excluded"] == []
        here.proxied(1, tool("add"))
        await settled()
        assert here.names == {ADD}
        for wrong in ({"do": "site", "origin": 5}, {"do": "nothing"}, {"do": {}}, 5, None):
            popup.end.post(wrong)
        await settled()


async def test_what_pages_cause_without_end_does_not_push_calls_out_of_the_log() -> None:
    async with world() as here:
        page = here.proxied(1, tool("add"))
        popup = Shown(here)
        await settled()
        calling = asyncio.ensure_future(here.home.hub.call(ADD, {}))
        await answered(page, "5")
        await calling
        for number in range(300):
            page.post({"type": "register-tools", "tools": 5})
            page.post({"type": "tool-progress", "requestId": "x", "progress": "x", "message": str(number)})
        log = (await popup.state())["log"]
        assert len(log) == 200
        assert any("'add' is executed" in line["text"] for line in log)


async def test_the_program_is_started_again_later_each_time() -> None:
    async with world() as here:
        assert here.extension.programs == 1
        here.proxied(1, tool("add"))
        popup = Shown(here)
        for pause in (5, 10, 20):
            program = here.extension.connect("mcpframe-native", external=True)
            here.extension.event("native", error="Specified native messaging host not found.")
            program.close()
            error = (await popup.state())["native"]["error"]
            assert "installed" in error
            assert "native messaging host" not in error
            before = here.extension.programs
            await here.clock.pass_(pause - 1)
            assert here.extension.programs == before
            await here.clock.pass_(1)
            assert here.extension.programs == before + 1
        # Nor does a service worker that does not answer end it.
        here.extension.connect("mcpframe-native", external=True).close()
        here.extension.stops = True
        await here.clock.pass_(40)
        await here.clock.pass_(WORKER_SECONDS)
        assert "did not answer" in (await popup.state())["native"]["error"]
        here.extension.stops = False
        before = here.extension.programs
        await here.clock.pass_(80)
        assert here.extension.programs == before + 1
        program = here.extension.connect("mcpframe-native", external=True)
        program.post({"state": {"serves": True, "http": None, "trouble": ""}})
        assert (await popup.state())["native"] == {"serves": True, "http": None, "trouble": "", "error": ""}
        program.post(begin_of("1"))
        for frame in frames_of("1", json.dumps(INITIALIZE), 50):
            program.post(frame)
        await settled()
        assert json.loads(program.heard[-1]["text"])["result"]["serverInfo"]["name"] == "mcpframe-hub"
        assert (await popup.state())["count"] == 1
        program.close()
        assert (await popup.state())["count"] == 0


async def test_nobody_outside_is_taken_for_the_program_of_this_machine() -> None:
    async with world(clients=[CHAT]) as here:
        here.proxied(1, tool("add"))
        program = here.extension.connect("mcpframe-native", external=True)
        program.post({"state": {"serves": True}})
        origin = f"chrome-extension://{OTHER}"
        for who in (
            {"id": OTHER, "url": f"{origin}/page.html", "origin": origin},
            {"id": OTHER, "origin": origin},
            {"url": f"{CHAT}/", "origin": CHAT, "tab": 5, "frame": 0},
        ):
            client = here.extension.connect("mcpframe-native", external=True, **who)
            client.post(begin_of("1"))
            for frame in frames_of("1", json.dumps(INITIALIZE), 50):
                client.post(frame)
            await settled()
            assert (client.is_closed, client.heard) == (True, [])
        state = await Shown(here).state()
        assert (state["native"]["serves"], state["count"], program.is_closed) == (True, 0, False)
