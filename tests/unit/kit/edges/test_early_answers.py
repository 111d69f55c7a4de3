"""Answers from the manifest, before a page is open: what a client gets, what the page hears, and what differs."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Any

import pytest

from mcpframe.kit.base.errors import PageFailed
from mcpframe.kit.edges.link.early_answers import EarlyAnswers, recorded_answers
from mcpframe.kit.edges.link.reopening_link import ReopeningLink
from tests.support.polling import until
from tests.unit.kit.edges.test_link import FakePage, Rig, methods

OFFERED = {"tools": {"listChanged": True}, "prompts": {}}
INFO = {"name": "pi", "version": "1"}
TOOLS = {"tools": [{"name": "estimate", "inputSchema": {"type": "object"}}]}
MANIFEST: dict[str, Any] = {
    "answers": [
        {
            "versions": ["2025-06-18", "2025-11-25"],
            "results": {
                "initialize": {"protocolVersion": "2025-06-18", "capabilities": OFFERED, "serverInfo": INFO},
                "tools/list": TOOLS,
                "prompts/list": {"prompts": []},
            },
        },
        {
            "versions": ["2026-07-28"],
            "results": {
                "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": OFFERED, "ttlMs": 0},
                "tools/list": {**TOOLS, "ttlMs": 0},
            },
        },
    ]
}
META = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}


class RealPage(FakePage):
    """A page that answers as the manifest says, or otherwise."""

    answers: dict[str, Any]

    def send(self, text: str) -> None:
        message = json.loads(text)
        self.heard.append(message)
        if message.get("method") == "initialize" and "initialize" not in self.answers:
            return  # the test answers
        if "id" in message and message["method"] in self.answers:
            result = self.answers[message["method"]]
            self.say({"jsonrpc": "2.0", "id": message["id"], "result": result})
        elif "id" in message:
            self.say({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}})


class EarlyRig(Rig):
    """A link with a manifest. Its page opens once it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may_open = asyncio.Event()
        self.answers: dict[str, Any] = copy.deepcopy(MANIFEST["answers"][0]["results"])
        self.answers["initialize"]["capabilities"]["experimental"] = {"mcpframe/boot": {"ms": 700}}
        self.answers["tools/call"] = {"content": []}
        self.link = ReopeningLink(self.open_page, self, early=EarlyAnswers(recorded_answers(MANIFEST)))  # type: ignore[arg-type]

    async def open_page(self, link: ReopeningLink) -> FakePage:
        await self.may_open.wait()
        if self.failures:
            raise PageFailed(str(self.failures[0]))
        page = RealPage(link)
        page.answers = self.answers
        self.pages.append(page)
        return page

    def initialize(self, version: str = "2025-11-25", *, then: bool = True) -> None:
        client = {"name": "x", "version": "1"}
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
        self.send(id=1, method="initialize", params=params)
        if then:
            self.send(method="notifications/initialized")


@pytest.fixture
async def early() -> EarlyRig:
    return EarlyRig()


async def test_a_client_begins_before_there_is_a_page_and_the_page_hears_the_same_once(early: EarlyRig) -> None:
    early.initialize()
    early.send(id=2, method="tools/list")
    early.send(id=3, method="prompts/list", params={})
    assert [message["id"] for message in early.got] == [1, 2, 3]
    assert early.got[0]["result"]["protocolVersion"] == "2025-11-25"
    assert early.got[1]["result"] == TOOLS
    early.send(id=4, method="tools/call", params={"name": "estimate"})
    assert (len(early.got), early.link.pending) == (3, 1)
    early.may_open.set()
    await early.settle()
    heard = methods(early.pages[0].heard)
    assert heard[:2] == ["initialize", "notifications/initialized"]
    assert sorted(heard[2:]) == ["prompts/list", "tools/call", "tools/list"]
    assert early.pages[0].heard[0]["params"]["clientInfo"] == {"name": "x", "version": "1"}
    assert [message.get("id") for message in early.got] == [1, 2, 3, 4]  # and no notification
    assert early.notes == []
    early.send(id=5, method="tools/list")
    assert early.pages[0].heard[-1]["id"] == 5  # the page answers from now on


async def test_a_list_that_differs_is_said_to_have_changed(early: EarlyRig) -> None:
    early.answers["tools/list"] = {"tools": []}
    early.answers["initialize"]["instructions"] = "New ones."
    early.initialize()
    early.send(id=2, method="tools/list")
    early.may_open.set()
    await early.settle()
    assert methods(early.got[2:]) == ["notifications/tools/list_changed"]
    assert len(early.notes) == 1


async def test_what_a_client_says_while_the_page_is_told_of_it_is_not_missing(early: EarlyRig) -> None:
    early.answers["tools/list"] = {"tools": []}
    initialize = early.answers.pop("initialize")
    early.may_open.set()
    early.initialize(then=False)
    await until(lambda: early.pages and early.pages[0].heard)
    early.send(method="notifications/initialized")
    early.send(id=2, method="tools/list")
    [asked] = early.pages[0].heard
    early.pages[0].say({"jsonrpc": "2.0", "id": asked["id"], "result": initialize})
    await early.settle()
    assert methods(early.pages[0].heard) == ["initialize", "notifications/initialized", "tools/list"]
    assert methods(early.got[2:]) == ["notifications/tools/list_changed"]


async def test_lists_that_were_not_asked_for_are_not_compared(early: EarlyRig) -> None:
    early.answers["tools/list"] = {"tools": []}
    early.initialize()
    early.may_open.set()
    await early.settle()
    assert methods(early.pages[0].heard) == ["initialize", "notifications/initialized"]
    assert len(early.got) == 1


async def test_requests_of_2026_07_28(early: EarlyRig) -> None:
    early.send(id=1, method="server/discover", params=META)
    early.send(id=2, method="tools/list", params=META)
    assert [message["result"]["ttlMs"] for message in early.got] == [0, 0]
    early.send(id=3, method="tools/call", params={**META, "name": "estimate"})
    early.may_open.set()
    await early.settle()
    assert methods(early.pages[0].heard) == ["tools/call"]


@pytest.mark.parametrize(
    "request_",
    [
        {"method": "initialize", "params": {"protocolVersion": "2099-01-01"}},
        {"method": "initialize", "params": {"protocolVersion": ["2025-11-25"]}},
        {"method": "initialize"},
        {"method": "initialize", "params": [1]},
        {"method": "tools/list"},  # by nobody that has initialized
        {"method": "tools/list", "params": {"_meta": 1}},
        {"method": "tools/list", "params": {**META, "cursor": "2"}},
        {"method": "prompts/list", "params": META},  # not recorded
        {"method": "tools/call", "params": META},
    ],
)
async def test_what_only_the_page_can_answer_waits(early: EarlyRig, request_: dict[str, Any]) -> None:
    early.send(id=1, **request_)
    assert early.got == []
    early.may_open.set()
    await early.settle()
    assert [message["id"] for message in early.got] == [1]


async def test_a_page_that_does_not_start_fails_the_call(early: EarlyRig) -> None:
    early.initialize()
    early.failures.append("It needs its setup.")
    early.may_open.set()
    await early.settle()
    early.send(id=2, method="tools/list")
    assert early.got[-1]["result"] == TOOLS
    early.send(id=3, method="tools/call", params={"name": "estimate"})
    await early.settle()
    assert (early.got[-1]["id"], early.got[-1]["error"]["message"]) == (3, "It needs its setup.")
    early.failures.clear()
    early.send(id=4, method="tools/call", params={"name": "estimate"})
    await early.settle()
    assert early.got[-1] == {"jsonrpc": "2.0", "id": 4, "result": {"content": []}}


async def test_a_page_that_failed_before_the_client_began_fails_its_first_request(early: EarlyRig) -> None:
    early.failures.append("It is not there.")
    early.may_open.set()
    with pytest.raises(PageFailed):
        await early.link.open()
    early.initialize()
    await early.settle()
    assert early.got[0]["error"]["message"] == "It is not there."


@pytest.mark.parametrize(
    "answers",
    [
        None,
        {},
        "x",
        [1],
        [{"versions": "2025-11-25", "results": {}}],
        [{"versions": ["2025-11-25"], "results": {"initialize": 1}}],
        [{"versions": ["2025-11-25"]}],
    ],
)
def test_a_manifest_of_another_form_has_none(answers: Any) -> None:
    assert recorded_answers({"answers": answers}) == {}
    assert recorded_answers(None) == {}
