"""A form for a tool of the page's server: for its user, and for the agent that fills it in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import anyio
import pytest
from mcp.server.lowlevel import Server
from mcp_types import CallToolResult, ListToolsResult, Tool

from mcpframe import FrameServer, wrap
from mcpframe.frame.core.errors import PageError
from mcpframe.frame.page.elements import Element
from mcpframe.frame.page.session_page import Page
from mcpframe.frame.serving import server as objects
from mcpframe.frame.serving.frame_session import FrameSession, local_session
from mcpframe.frame.serving.framed import PeerSession
from mcpframe.frame.storage.values import Storage
from mcpframe.frame.webmcp.offering import Offering
from mcpframe.frame.webmcp.tool_form import _MOST_SHOWN, PageForms
from tests.support.fake_model_context import FakeModelContext
from tests.support.fake_page import FakeBrowser, FakeEvent

EVIL = "</form><img src=x onerror=alert(1)>"


Kind = Literal["a", "b"]


def notes(seen: list[Any]) -> FrameServer:
    server = FrameServer("notes")
    server.hanging = asyncio.Event()  # type: ignore[attr-defined]

    @server.tool(title="Add a note")
    async def add_note(
        text: str, times: int = 1, loud: bool = False, kinds: list[Literal["a", "b"]] | None = None
    ) -> str:
        """Write a note down.

        For the model only.
        """
        seen.append((text, times, loud, kinds, server.session))
        return f"{text * times}!"

    @server.tool(description=EVIL, title=EVIL)
    def fails(where: str) -> str:
        raise ValueError(f"no {where}")

    @server.tool()
    async def hang() -> str:
        await asyncio.Event().wait()
        return "never"

    @server.tool(name="odd name")
    def odd(data: dict[str, int]) -> int:
        return sum(data.values())

    @server.tool()
    def long() -> str:
        return "x" * (_MOST_SHOWN + 5)

    return server


class Rig:
    """A page with forms.

    Attributes:
        place: the document's `modelContext`.
        seen: the calls of `add_note`.
        session: the session of the page.
    """

    def __init__(self, server: Any, seen: list[Any], place: FakeModelContext, offering: Offering | None) -> None:
        self.browser = FakeBrowser()
        self.errors: list[str] = []
        self.place, self.seen = place, seen
        self.session: FrameSession = local_session()
        self._peer = PeerSession(lambda: self.session)

        async def serve(read: Any, write: Any) -> None:
            with server.joining(self._peer):
                await objects.serve(server, read, write)

        self.page = Page(
            self.browser,
            storage=Storage("s"),
            on_error=lambda title, detail: self.errors.append(title),
            open_forms=lambda: PageForms(objects.messages(), serve, offering),
        )

    def field(self, name: str) -> Element:
        return self.page.element(f'[name="{name}"]')

    def begin(self, *, agent: bool = False) -> set[Any]:
        """Submit the form; return the tasks of that."""
        before = set(self.page._tasks)
        event = self.browser.happen(".mcpframe-form", "submit", agentInvoked=agent)
        assert event.prevented
        return self.page._tasks - before

    async def submit(self, *, agent: bool = False) -> Any:
        """Submit the form, and wait for its end; return the agent's answer, if it was one."""
        with anyio.fail_after(10):
            await asyncio.wait(self.begin(agent=agent))
        return json.loads(self.browser.answers[-1]) if agent else None

    def text(self, role: str) -> str:
        return self.page.element(f"[role={role}]").text

    def agent(self, kind: str, tool: str) -> FakeEvent:
        return self.browser.happen_at(self.browser.document.modelContext, kind, toolName=tool)


@asynccontextmanager
async def rigged(server: Any = None, *, declared: bool = True) -> AsyncIterator[Rig]:
    seen: list[Any] = []
    server = server or notes(seen)
    place = FakeModelContext()
    place.makes_tools_of_forms = declared
    offering = Offering(place, objects.messages(), lambda read, write: objects.serve(server, read, write))
    async with offering:
        await place.registered("add_note")
        await anyio.wait_all_tasks_blocked()
        rig = Rig(server, seen, place, offering)
        yield rig
        rig.page.close()
    assert rig.errors == []


async def test_its_user_calls_the_tool_in_the_session_of_the_page() -> None:
    async with rigged() as rig:
        box = await rig.page.tool_form("add_note")
        assert box.element("p").text == "Write a note down."
        assert box.element("button").text == "Add a note"
        for control in box.elements("input") + box.elements("select"):
            assert [label.get("for") for label in box.elements("label")].count(control.js.id) == 1
            for described in str(control.get("aria-describedby")).split():
                assert box.element(f"#{described}")
        assert [rig.field(name).get("required") for name in ("text", "times")] == ["", None]
        rig.field("text").value = "ho"
        rig.field("times").value = "2"
        rig.field("loud").checked = True
        rig.field("kinds").elements("option")[1].set("selected", True)
        await rig.submit()
        assert rig.text("status") == "hoho!"
        assert rig.seen == [("ho", 2, True, ["b"], rig.session)]
        assert rig.browser.answers == []


async def test_its_text_is_never_html() -> None:
    async with rigged() as rig:
        box = await rig.page.tool_form("fails")
        assert box.elements("img") == []
        assert (box.element("button").text, box.element("form").get("tooldescription")) == (EVIL, EVIL)
        rig.field("where").value = "<b>"
        await rig.submit()
        assert "no <b>" in rig.text("alert")
        assert box.elements("b") == []
        assert rig.text("status") == ""


async def test_a_wrong_entry_is_shown_at_its_field() -> None:
    async with rigged() as rig:
        box = await rig.page.tool_form("odd name")
        rig.field("data").value = "{"
        await rig.submit()
        [error] = [each for each in box.elements(".mcpframe-wrong") if each.text]
        assert error.text.startswith("Data is not JSON")
        assert not error.hidden
        assert (rig.field("data").get("aria-invalid"), rig.field("data").js.focused) == ("true", True)
        answer = await rig.submit(agent=True)
        assert answer["isError"]
        assert "Data is not JSON" in answer["content"][0]["text"]
        rig.field("data").value = '{"a": 1, "b": 2}'
        assert (await rig.submit(agent=True))["structuredContent"] == {"result": 3}
        assert rig.field("data").get("aria-invalid") is None
        assert error.hidden


async def test_the_form_declares_the_tool_instead_of_the_page() -> None:
    async with rigged() as rig:
        everything = set(rig.place.tools)
        box = await rig.page.tool_form("odd name")
        form = box.element("form")
        assert (form.get("toolname"), form.get("toolautosubmit")) == ("odd_name", None)
        assert form.get("method") == "dialog"
        assert set(rig.place.tools) == everything - {"odd_name"}
        [control] = box.elements("textarea")
        assert control.get("toolparamdescription") == "As JSON."
        await rig.page.tool_form("odd name", autosubmit=True)  # in the same place
        assert rig.page.element("form").get("toolname") == "odd_name"
        assert rig.page.element("form").get("toolautosubmit") == ""
        rig.page.element("#mcpframe-app").clear()
        await rig.place.until(*everything)


async def test_a_form_that_a_script_removes_no_longer_declares_the_tool() -> None:
    async with rigged() as rig:
        await rig.page.tool_form("hang")
        rig.agent("toolchange", "")
        assert "hang" not in rig.place.tools
        rig.browser.document.documentElement.querySelector("#mcpframe-app").replaceChildren()  # type: ignore[union-attr]
        rig.agent("toolchange", "")
        await rig.place.registered("hang")


async def test_a_second_form_for_a_tool_is_for_people() -> None:
    async with rigged() as rig:
        everything = set(rig.place.tools)
        app = rig.page.element("#mcpframe-app")
        for name in "ab":
            app.add("div", id=name)
            await rig.page.tool_form("hang", into=f"#{name}")
        first, second = rig.page.elements("form")
        assert (first.get("toolname"), second.get("toolname")) == ("hang", None)
        rig.page.element("#b").remove()
        await anyio.wait_all_tasks_blocked()
        assert "hang" not in rig.place.tools
        rig.page.element("#a").remove()
        await rig.place.until(*everything)


async def test_where_forms_are_no_tools_the_tool_stays_registered() -> None:
    async with rigged(declared=False) as rig:
        everything = set(rig.place.tools)
        box = await rig.page.tool_form("add_note")
        assert box.element("form").get("toolname") is None
        assert set(rig.place.tools) == everything


async def test_its_user_reads_that_an_agent_has_filled_it_in() -> None:
    async with rigged() as rig:
        await rig.page.tool_form("add_note")
        rig.agent("toolactivated", "another")
        assert rig.text("status") == ""
        rig.agent("toolactivated", "add_note")
        assert "“Add a note”" in rig.text("status")
        rig.agent("toolcancel", "add_note")
        assert rig.text("status") == ""
        rig.field("text").value = "ho"
        assert (await rig.submit(agent=True))["content"] == [{"type": "text", "text": "ho!"}]
        assert rig.text("status") == "ho!"
        rig.page.element("#mcpframe-app").clear()
        assert rig.browser.listeners == []


async def test_an_agent_is_answered_whatever_happens() -> None:
    async with rigged() as rig:
        await rig.page.tool_form("hang")
        rig.begin()
        await anyio.wait_all_tasks_blocked()
        assert rig.text("status") == "Running …"
        assert rig.page.element("button").get("aria-disabled") == "true"
        assert "still runs" in (await rig.submit(agent=True))["content"][0]["text"]
        app = rig.page.element("#mcpframe-app")
        app.clear()
        await rig.page.tool_form("hang")
        rig.begin(agent=True)
        await anyio.wait_all_tasks_blocked()
        form = rig.page.element("form")
        rig.page.close()
        await anyio.wait_all_tasks_blocked()
        assert json.loads(rig.browser.answers[-1])["isError"]
        assert form.get("toolname") is None
        await rig.place.registered("hang")


async def test_a_choice_is_empty_only_where_it_may_be_left_out() -> None:
    server = FrameServer("choices")

    @server.tool()
    def add_note(a: Kind, b: Kind = "b", c: Kind | None = None, d: Literal["x"] = "x") -> str:
        return f"{a} {b} {c} {d}"

    async with rigged(server) as rig:
        await rig.page.tool_form("add_note")
        listed = {name: [option.text for option in rig.field(name).elements("option")] for name in "abcd"}
        assert listed == {"a": ["Choose …", "a", "b"], "b": ["a", "b"], "c": ["None", "a", "b"], "d": ["x"]}
        rig.field("a").value = "a"
        await rig.submit()
        assert rig.text("status") == "a b None x"


async def test_a_long_text_is_cut_in_the_page_only() -> None:
    async with rigged() as rig:
        await rig.page.tool_form("long")
        answer = await rig.submit(agent=True)
        assert len(answer["content"][0]["text"]) == _MOST_SHOWN + 5
        assert rig.text("status").endswith("… and 5 more characters.")


BLOCKS: dict[str, tuple[dict[str, Any], str]] = {
    "a picture": (
        {"type": "image", "mimeType": "image/png", "data": "AA=="},
        '<img alt="A picture" src="data:image/png;',
    ),
    "what says that it is one": ({"type": "image", "mimeType": "text/html", "data": "AA=="}, "<p>text/html</p>"),
    "a sound": ({"type": "audio", "mimeType": "audio/wav", "data": "AA=="}, "<p>audio/wav</p>"),
    "a text resource": ({"type": "resource", "resource": {"uri": "a:b", "text": "<i>"}}, "<pre>&lt;i&gt;</pre>"),
    "a resource": ({"type": "resource", "resource": {"uri": "a:b", "blob": "AA=="}}, "<p>a:b</p>"),
    "a link": ({"type": "resource_link", "uri": "javascript:x", "name": "N", "title": "T"}, "<p>T</p>"),
}


async def shows(result: CallToolResult, shown: str) -> None:
    """Check what a form shows of a result of a lowlevel server."""

    async def listed(*_: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="add_note", input_schema={"type": "object"})])

    async def called(*_: Any) -> CallToolResult:
        return result

    async with rigged(wrap(Server("low", on_list_tools=listed, on_call_tool=called))) as rig:
        await rig.page.tool_form("add_note")
        await rig.submit()
        assert shown in rig.page.element("[role=status]").html


@pytest.mark.parametrize(("block", "shown"), BLOCKS.values(), ids=BLOCKS)
async def test_each_kind_of_content(block: dict[str, Any], shown: str) -> None:
    await shows(CallToolResult.model_validate({"content": [block]}), shown)


@pytest.mark.parametrize(("data", "shown"), [({"a": 1}, "{\n  &quot;a&quot;: 1\n}"), (None, "Done.")])
async def test_a_result_without_content(data: Any, shown: str) -> None:
    await shows(CallToolResult(content=[], structured_content=data), shown)


async def test_what_has_no_form_says_why() -> None:
    async with rigged() as rig:
        with pytest.raises(PageError, match="add_note, fails"):
            await rig.page.tool_form("no such tool")
        with pytest.raises(PageError, match="no element '#none'"):
            await rig.page.tool_form("add_note", into="#none")
        assert "add_note" in rig.place.tools
    with pytest.raises(PageError, match="serves no tools"):
        await Page(FakeBrowser(), storage=Storage("s")).tool_form("x")
    with pytest.raises(PageError, match="no page outside a browser"):
        await local_session().page.tool_form("x")
    with pytest.raises(PageError, match="is over"):
        await rig.page.tool_form("add_note")


async def test_a_server_that_ends_is_an_error_of_its_forms() -> None:
    async def failing(read: Any, write: Any) -> None:
        raise RuntimeError("no luck")

    page = Page(FakeBrowser(), storage=Storage("s"), open_forms=lambda: PageForms(objects.messages(), failing, None))
    with pytest.raises(PageError, match="has ended"):
        await page.tool_form("x")
    page.close()
