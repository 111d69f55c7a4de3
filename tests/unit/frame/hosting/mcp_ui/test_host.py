"""A host of mcp-ui, without a browser: how pages are framed, and what comes of what they post."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer

from mcpframe import ui_resource
from mcpframe.frame.core.errors import OriginError, StateError, UiError
from mcpframe.frame.core.events import Departure, Refused
from mcpframe.frame.hosting.mcp_ui.actions import MOST, UiAction
from mcpframe.hosts import UiHost
from tests.support.framed_page import FRAME, PROXY, URI, FramedPage, board

Json = dict[str, Any]


@pytest.fixture
async def page() -> AsyncIterator[FramedPage]:
    with anyio.fail_after(120):
        yield FramedPage()


async def test_a_page_by_its_address(page: FramedPage) -> None:
    async with UiHost(board(size=(800, "50%")), sandbox="allow-popups", permissions=["camera"]).show(page):
        framing = page.framing
        assert (framing.url, framing.html, framing.title) == (f"{FRAME}/board/?a=1#top", None, URI)
        assert framing.sandbox == "allow-popups allow-scripts allow-same-origin"
        assert (framing.size, framing.allow, framing.visible) == (("800px", "50%"), "camera", True)
    assert page.left


async def test_html_text(page: FramedPage) -> None:
    page.origin = "null"
    host = UiHost(ui_resource(URI, html="<p>Hi"), render_data={"a": 1}, on_intent=lambda intent, params: intent)
    async with host.show(page):
        framing = page.framing
        assert (framing.url, framing.html, framing.sandbox) == ("", "<p>Hi", "allow-scripts")
        assert framing.size == ("100%", "100%")
        assert await page.asks("intent", intent="go") == {"response": "go"}
    assert page.targets == {"*"}  # there is no other target for an opaque origin
    with pytest.raises(OriginError, match="allow-same-origin"):
        UiHost(ui_resource(URI, html="<p>Hi"), sandbox="allow-same-origin")


async def test_render_data_on_load_when_ready_and_on_request(page: FramedPage) -> None:
    resource = board(render_data={"a": 1, "b": 1})
    data = {"a": 1, "b": 2}
    sent = {"type": "ui-lifecycle-iframe-render-data", "payload": {"renderData": data}}
    async with UiHost(resource, render_data={"b": 2}).show(page) as shown:
        assert page.framing.url == f"{FRAME}/board/?a=1&waitForRenderData=true#top"
        assert page.framing.on_load
        page.framing.on_load()
        assert await page.heard.get() == sent
        page.say("ui-lifecycle-iframe-ready")
        assert await page.heard.get() == sent
        page.say("ui-request-render-data", "x")
        assert await page.heard.get() == {**sent, "messageId": "x"}
        page.gone(Departure.REPLACED)  # it has reloaded
        assert await page.heard.get() == sent
        shown.render({"c": 3})
        assert (await page.heard.get())["payload"] == {"renderData": {"c": 3}}
    assert page.targets == {FRAME}


async def test_without_render_data_only_a_request_is_answered(page: FramedPage) -> None:
    async with UiHost(board()).show(page):
        assert "waitForRenderData" not in page.framing.url
        assert page.framing.on_load
        page.framing.on_load()
        page.say("ui-lifecycle-iframe-ready")
        page.say("ui-request-render-data", 7)
        answer = {"type": "ui-lifecycle-iframe-render-data", "messageId": 7, "payload": {}}
        assert await page.heard.get() == answer
        assert page.nothing()


async def test_actions_and_their_answers(page: FramedPage) -> None:
    seen: list[Any] = []

    def noting(name: str, answer: Any = None) -> Callable[..., Any]:
        def note(*arguments: Any) -> Any:
            seen.append((name, *arguments))
            return answer

        return note

    async def data(kind: str, params: Json) -> Any:
        await asyncio.sleep(0)
        return [kind, params]

    host = UiHost(
        board(),
        on_tool=noting("tool", {"content": []}),
        on_intent=noting("intent", 7),
        on_prompt=noting("prompt"),
        on_link=noting("link"),
        on_notify=noting("notify"),
        on_data=data,
    )
    async with host.show(page):
        assert await page.asks("tool", toolName="add", params={"a": 1}) == {"response": {"content": []}}
        assert await page.asks("intent", intent="go") == {"response": 7}
        assert await page.asks("prompt", prompt="Hi") == {"response": None}
        assert await page.asks("link", url="https://x.example/") == {"response": None}
        assert await page.asks("ui-request-data", requestType="x", params={"y": 1}) == {"response": ["x", {"y": 1}]}
        page.say("notify", message="cart-updated")
        assert await page.heard.get() == {"type": "ui-message-received"}
        await anyio.wait_all_tasks_blocked()
    assert page.nothing()
    assert seen == [
        ("tool", "add", {"a": 1}),
        ("intent", "go", {}),
        ("prompt", "Hi"),
        ("link", "https://x.example/"),
        ("notify", "cart-updated"),
    ]


async def test_errors_reach_the_page(page: FramedPage, caplog: pytest.LogCaptureFixture) -> None:
    def fails(*_: Any) -> Any:
        raise LookupError("no such thing")

    async with UiHost(board(), on_tool=fails, on_intent=lambda *_: {1, 2}, on_link=fails).show(page):
        error = (await page.asks("tool", toolName="x"))["error"]
        assert (error["message"], error["code"], error["name"]) == ("LookupError: no such thing", -32603, "Error")
        assert "TypeError" in (await page.asks("intent", intent="x"))["error"]["message"]
        unhandled = (await page.asks("prompt", prompt="x"))["error"]
        assert (unhandled["code"], unhandled["message"]) == (-32601, "This host does not handle 'prompt'.")
        for url in ("javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "x"):
            assert (await page.asks("link", url=url))["error"]["code"] == -32601
    assert "no such thing" in caplog.text


async def test_one_function_for_all_other_actions(page: FramedPage, caplog: pytest.LogCaptureFixture) -> None:
    seen: list[UiAction] = []

    def act(action: UiAction) -> Any:
        seen.append(action)
        if action.kind == "intent":
            raise UiError("Not today.")
        return action.kind

    async with UiHost(board(), on_prompt=lambda prompt: prompt, on_action=act).show(page):
        assert await page.asks("prompt", prompt="Hi") == {"response": "Hi"}
        assert await page.asks("tool", toolName="add", params={"a": 1}) == {"response": "tool"}
        assert (await page.asks("intent", intent="go"))["error"]["message"] == "Not today."
        assert (await page.asks("link", url="javascript:alert(1)"))["error"]["code"] == -32601
        page.say("notify", message="done")
        assert await page.heard.get() == {"type": "ui-message-received"}
        await anyio.wait_all_tasks_blocked()
    assert seen == [
        UiAction("tool", {"toolName": "add", "params": {"a": 1}}, "1"),
        UiAction("intent", {"intent": "go"}, "1"),
        UiAction("notify", {"message": "done"}),
    ]
    assert not caplog.records


async def test_answers_come_as_they_are_ready(page: FramedPage) -> None:
    first = asyncio.Event()

    async def intent(name: str, _: Json) -> str:
        if name == "first":
            await first.wait()
        return name

    async with UiHost(board(), on_intent=intent).show(page):
        page.say("intent", "1", intent="first")
        page.say("intent", "2", intent="second")
        told = [await page.heard.get() for _ in range(3)]
        assert [(each["type"], each["messageId"]) for each in told] == [
            ("ui-message-received", "1"),
            ("ui-message-received", "2"),
            ("ui-message-response", "2"),
        ]
        first.set()
        assert (await page.heard.get())["messageId"] == "1"


async def test_a_client_answers_tool_calls(page: FramedPage) -> None:
    server = MCPServer("tasks")

    @server.tool()
    def add(a: int, b: int) -> int:
        return a + b

    async with Client(server) as client, UiHost(board(), client=client).show(page):
        response = (await page.asks("tool", toolName="add", params={"a": 1, "b": 2}))["response"]
        assert response["structuredContent"] == {"result": 3}
        failed = await page.asks("tool", toolName="nothing")
        assert failed.get("error") or failed["response"]["isError"]


async def test_a_host_without_functions_says_nothing(page: FramedPage) -> None:
    async with UiHost(board()).show(page):
        page.say("intent", "1", intent="go")
        await anyio.wait_all_tasks_blocked()
        assert page.nothing()


async def test_strangers_are_dropped_and_misshapen_messages_harmless(page: FramedPage) -> None:
    refused: list[Any] = []
    note: Callable[[Any], None] = lambda event: refused.append(event) if isinstance(event, Refused) else None  # noqa: E731
    async with UiHost(board(), on_intent=lambda *_: 1, on_event=note).show(page):
        page.say("intent", "1", peer=False, intent="go")
        page.say("intent", "1", origin="https://evil.example", intent="go")
        page.say("intent", "1", origin="null", intent="go")
        for message in (None, 7, "intent", [], {}, {"type": 7}, {"type": "intent"}, {"type": "intent", "payload": 7}):
            page.tell(message)
        await anyio.wait_all_tasks_blocked()
        assert page.nothing()
        page.say("ui-lifecycle-iframe-ready")
        page.tell({"type": "intent", "messageId": "x", "payload": {"intent": 7}})
        assert (await page.heard.get())["payload"]["error"]["code"] == -32600
        assert await page.asks("intent", intent="go") == {"response": 1}
    assert [type(event.error).__name__ for event in refused] == [
        *["UnexpectedOrigin"] * 2,
        *["MalformedMessage"] * 3,
    ]


async def test_a_page_that_a_redirect_has_led_elsewhere(page: FramedPage, caplog: pytest.LogCaptureFixture) -> None:
    async with UiHost(board(), on_intent=lambda *_: 1, render_data={"a": 1}).show(page):
        for _ in range(2):
            page.say("intent", "1", origin="https://www.tools.example", intent="go")
        assert page.framing.on_load
        page.framing.on_load()
        await page.heard.get()
        await anyio.wait_all_tasks_blocked()
        assert page.nothing()
    assert page.targets == {FRAME}  # the browser delivers nothing to another origin
    (record,) = caplog.records
    assert "is now a page of https://www.tools.example" in record.message


async def test_the_window_is_removed_while_an_action_is_handled(page: FramedPage) -> None:
    ended = asyncio.Event()

    async def never(*_: Any) -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.set()

    async with UiHost(board(), on_intent=never).show(page) as shown:
        page.say("intent", "1", intent="go")
        await page.heard.get()
        await anyio.wait_all_tasks_blocked()
        page.gone(Departure.REMOVED)
        await shown.closed.wait()
        await ended.wait()
        with pytest.raises(StateError):
            shown.render({})
        page.say("intent", "2", intent="go")
        await anyio.wait_all_tasks_blocked()
        assert page.nothing()


async def test_two_pages_of_two_hosts_and_twice_the_same(page: FramedPage) -> None:
    other, again = FramedPage("https://other.example"), FramedPage()
    second = UiHost(ui_resource("ui://x", url="https://other.example/"), on_intent=lambda intent, _: f"2: {intent}")
    first = UiHost(board(), on_intent=lambda intent, _: f"1: {intent}")
    async with first.show(page) as shown, second.show(other), first.show(again):
        assert await page.asks("intent", intent="a") == {"response": "1: a"}
        assert await other.asks("intent", intent="a") == {"response": "2: a"}
        assert await again.asks("intent", intent="b") == {"response": "1: b"}
        shown.render({"a": 1})
        assert (await page.heard.get())["payload"] == {"renderData": {"a": 1}}
        page.gone(Departure.REMOVED)
        assert await again.asks("intent", intent="c") == {"response": "1: c"}
        assert (page.nothing(), other.nothing(), again.nothing()) == (True, True, True)
    assert len({each.framing.name for each in (page, other, again)}) == 3


async def test_a_flood_is_bounded(page: FramedPage) -> None:
    async def never(*_: Any) -> None:
        await asyncio.get_running_loop().create_future()

    async with UiHost(board(), on_intent=never).show(page):
        for number in range(MOST + 20):
            page.say("intent", str(number), intent="go")
            page.say("intent", intent="go")
        told = [page.heard.get_nowait() for _ in range(page.heard.qsize())]
        answers = [each for each in told if each["type"] == "ui-message-response"]
        assert len([each for each in told if each["type"] == "ui-message-received"]) == MOST
        assert all("error" in each["payload"] for each in answers)
        assert len(answers) == MOST + 20 - MOST // 2


@pytest.mark.parametrize(
    ("auto_resize", "size"),
    [(False, None), (True, (300, 200)), ("width", (300, None)), ("height", (None, 200))],
)
async def test_the_frame_follows_the_size_in_each_dimension(page: FramedPage, auto_resize: Any, size: Any) -> None:
    async with UiHost(board(), auto_resize=auto_resize).show(page) as shown:
        page.say("ui-size-change", width=300, height=200)
        assert shown.size == (300, 200)
        page.say("ui-size-change", height=1e9)
        assert shown.size == (300, 1e9)
        page.say("ui-size-change", height=200)
        if size is not None:
            assert await page.sizes.get() == size
    assert page.sizes.empty()


async def test_html_text_behind_a_proxy(page: FramedPage) -> None:
    page.origin = "https://sandbox.example"
    host = UiHost(ui_resource(URI, html="<p>Hi"), proxy=PROXY, render_data={"a": 1}, on_intent=lambda *_: 1)
    own = "ui/notifications/sandbox-"
    async with host.show(page):
        assert (page.framing.url, page.framing.html) == (PROXY, None)
        for _ in range(2):  # it may reload
            page.tell({"jsonrpc": "2.0", "method": f"{own}proxy-ready", "params": {}})
            ready = await page.heard.get()
            assert ready["method"] == f"{own}resource-ready"
            assert ready["params"]["html"] == "<p>Hi"
            assert ready["params"]["sandbox"] == "allow-scripts"
        page.tell({"jsonrpc": "2.0", "method": f"{own}view-loaded"})
        assert (await page.heard.get())["payload"] == {"renderData": {"a": 1}}
        page.tell({"jsonrpc": "2.0", "method": f"{own}proxy-ready"}, origin="https://evil.example")
        page.tell({"jsonrpc": "2.0", "method": f"{own}proxy-ready"}, peer=False)
        assert page.nothing()
        assert await page.asks("intent", intent=f"{own}proxy-ready") == {"response": 1}
    assert page.targets == {"https://sandbox.example"}


async def test_what_cannot_be_shown() -> None:
    with pytest.raises(UiError, match="remote-dom"):
        UiHost({"uri": URI, "mimeType": "application/vnd.mcp-ui.remote-dom+javascript", "text": "x"})
    with pytest.raises(TypeError):
        UiHost(board(), on_nothing=print)
