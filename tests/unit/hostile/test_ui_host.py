"""The matrix of bad input and attacks for a host of mcp-ui, as far as `UiHost` and its connection decide.

line                                                        what must happen
addresses, sizes and sandboxes that reach this page         an error, or an opaque origin
actions of any shape, ids of any type, prototype keys       an error or nothing; the host goes on
links that run code or read files                           not opened
sizes of any kind, floods                                   bounded
functions that fail, never return, return what is not JSON   an error, or nothing
another document in place of an opaque one                  the end: it hears nothing
strangers                                                   nothing
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer

from mcpframe import ui_resource
from mcpframe.frame.core.allowed_origins import parse_origin
from mcpframe.frame.core.connection import Options
from mcpframe.frame.core.errors import OriginError, UiError
from mcpframe.frame.core.events import Departure
from mcpframe.frame.core.places import parse_address
from mcpframe.frame.dialects.mcp_ui.messages import ACTIONS
from mcpframe.frame.hosting.mcp_ui.resource import first_address, read_ui_resource
from mcpframe.hosts import UiHost
from tests.hostile.values import LINKS, ODD, POISON, Record, strangers_are_dropped
from tests.support.fake_window import STRANGER
from tests.support.framed_page import FRAME, PROXY, URI, FramedPage, board
from tests.support.ui import MESSAGES

Json = dict[str, Any]
OWN = "http://127.0.0.1:8000"


@pytest.fixture
async def page() -> FramedPage:
    return FramedPage()


# The resource

ADDRESSES = [
    *("javascript:alert(1)", "JavaScript:alert(1)", "java\tscript:alert(1)", "data:text/html,x", "file:///etc/passwd"),
    *("blob:https://a.example/1", "ftp://a.example/", "about:blank", "about:srcdoc", "view-source:https://a.example/"),
    *("https://user@a.example/", "https://user:word@a.example/", "https://@a.example/", "//a.example/", "/x", "x", ""),
    *("https://", "https:///a.example/", "https:a.example", "https:/\\a.example/", "https://a.example\\@b.example/"),
    *("https://a.example:99999/", "https://a.example:x/", "https://[::1", "https://*.example/", "https://*/"),
    *("https://a%2eexample/", "https://\uff41.example/", "https://a.example /", "https://a.example/\x00"),
    *("http://2130706433:8000/", "http://127.1:8000/", "http://0x7f.0.0.1:8000/", "http://0177.0.0.1:8000/"),
    *("http://127.0.0.1.:8000/", "http://127.0.0.256/", "http://[0:0::1]:8000/", "http://[::ffff:127.0.0.1]/"),
    *("https://a.example/\u2028\x1b", "wss://a.example/", "mailto:a@a.example", "null", "*"),
]
"""What is not a page's address, or one that browsers read in another way than Python, so as another origin."""


def test_addresses_that_are_none_are_refused(record_property: Record) -> None:
    for url in ADDRESSES:
        with pytest.raises((OriginError, UiError)):
            ui_resource(URI, url=url)
        with pytest.raises((OriginError, UiError)):
            UiHost({"uri": URI, "mimeType": "text/uri-list", "text": url})
        with pytest.raises((OriginError, UiError)):
            UiHost({"uri": URI, "mimeType": "text/html", "text": "x"}, proxy=url)
        comments = f"# https://a.example/\r\n  # https://b.example/\r\n\r\n{url}\r\nhttps://good.example/x\r\n"
        assert first_address(comments) == "https://good.example/x"
        with pytest.raises(OriginError):
            parse_origin(url)
    for good in (OWN, "http://[::1]:8000", "https://1.2.3.4", "https://a1.b2", "https://0xa.example", "https://x.0y"):
        assert parse_address(f"{good}/")[1] == good
        assert parse_origin(good) == good
    record_property("lines", 5 * len(ADDRESSES))


RESOURCES: list[Any] = [
    *ODD,
    *[{"resource": odd} for odd in ODD],
    *[{"uri": URI, "mimeType": odd, "text": "x"} for odd in ODD],
    *[{"uri": URI, "mimeType": "text/html", "text": odd} for odd in ODD if not isinstance(odd, str)],
    *[{"uri": URI, "mimeType": "text/html", "blob": odd} for odd in ("=", "é", "////", "x", [], {}, -1)],
    {"uri": URI, "mimeType": "text/html"},
    {"uri": URI, "mimeType": "text/html ", "text": "x"},
    {"uri": URI, "mimeType": "text/html,text/uri-list", "text": "x"},
    {"uri": URI, "mimeType": "application/vnd.mcp-ui.remote-dom+javascript; framework=x", "text": "x"},
    {"uri": URI, "mimeType": "text/uri-list", "text": "#\n" * 10_000},
    {"type": "text", "text": "<p>"},
]
SIZES: list[Any] = [
    *ODD,
    *([odd, odd] for odd in ODD),
    *(["1px", odd] for odd in (10**9, 10**5000, float("inf"), float("nan"), "9" * 5000 + "px", "٣px", "1px;color:red")),
    *(["1px", odd] for odd in ("calc(1px)", "url(x)", "expression(x)", "-1px", "1px 1px", "1e9px", "var(--x)")),
]


def test_resources_that_are_none_are_errors(record_property: Record) -> None:
    for resource in RESOURCES:
        with pytest.raises(UiError):
            read_ui_resource(resource)
    html = {"uri": URI, "mimeType": "text/html", "text": "x"}
    for size in SIZES:
        found = read_ui_resource({**html, "_meta": {"mcpui.dev/ui-preferred-frame-size": size}})
        assert found.size is None or set(found.size) <= {"7px"}, size
    for meta in ODD:
        assert read_ui_resource({**html, "_meta": meta}).data is None
        assert UiHost({**html, "_meta": {"mcpui.dev/ui-initial-render-data": meta}}).content.html == "x"
    record_property("lines", len(RESOURCES) + len(SIZES) + 2 * len(ODD))


async def test_no_sandbox_gives_html_text_this_page_s_origin(
    page: FramedPage, monkeypatch: pytest.MonkeyPatch, record_property: Record
) -> None:
    """Tokens are the same in any case. A page of this origin by its address gets an opaque one."""
    tokens = ("allow-same-origin", "Allow-Same-Origin", "x\tALLOW-SAME-ORIGIN\n", "allow-popups\u00a0allow-same-origin")
    monkeypatch.setattr("mcpframe.frame.hosting.mcp_ui.host._own_origin", lambda _: FRAME)
    for sandbox in tokens:
        with pytest.raises(OriginError):
            UiHost(ui_resource(URI, html="<p>"), sandbox=sandbox)
        with pytest.raises(OriginError):
            UiHost(ui_resource(URI, html="<p>"), sandbox=sandbox, proxy=PROXY)
        async with UiHost(board(), sandbox=sandbox).show(page):
            assert "same-origin" not in page.framing.sandbox.lower()
    record_property("lines", 3 * len(tokens))


# Its actions


def odd_messages() -> list[Any]:
    lines: list[Any] = [*ODD, [MESSAGES["tool"]], json.dumps(MESSAGES["tool"])]
    for odd in ODD:
        lines += [{"type": odd}, {"type": "ui-request-render-data", "messageId": odd, "payload": odd}]
        lines += [{"type": "ui-lifecycle-iframe-ready", "messageId": odd, "payload": odd}]
        for kind in ACTIONS:
            (name, _), *_ = MESSAGES[kind]["payload"].items()
            lines += [
                {"type": kind, "messageId": "odd", "payload": odd},
                {"type": kind, "messageId": odd},
                {"type": kind, "messageId": "odd", "payload": {name: [odd], "params": {}}},
                {"type": kind, "messageId": "odd", "payload": {name: {"toString": odd}, "params": odd}},
                {"type": kind, "messageId": "odd", "payload": {name: "x", "params": [odd]}},
            ]
    for key in POISON:
        lines += [{**MESSAGES[kind], "payload": {"params": key}} for kind in ACTIONS]
        lines += [{"type": "tool", "payload": {"toolName": "x", "params": {"a": key}}}, {"type": "tool", "x": key}]
    lines += [{"type": kind, "messageId": "x", "payload": {"response": 1}} for kind in MESSAGES if "message" in kind]
    return lines


async def test_odd_messages_reach_no_function(page: FramedPage, record_property: Record) -> None:
    def never(*arguments: Any) -> None:
        raise AssertionError(arguments)

    functions = dict.fromkeys(("on_tool", "on_prompt", "on_link", "on_data", "on_action"), never)
    lines = odd_messages()
    async with UiHost(board(), **functions, on_intent=lambda intent, _: intent, render_data={"a": 1}).show(page):
        for message in lines:
            page.tell(message)
        await anyio.wait_all_tasks_blocked()
        answers = [page.heard.get_nowait() for _ in range(page.heard.qsize())]
        failed = [each for each in answers if each["type"] == "ui-message-response"]
        assert all(set(each["payload"]) == {"error"} for each in failed)
        assert {each["type"] for each in answers} <= {"ui-message-response", "ui-lifecycle-iframe-render-data"}
        assert await page.asks("intent", intent="go") == {"response": "go"}
    assert page.targets == {FRAME}
    record_property("lines", len(lines))


async def test_what_is_no_link_is_not_opened(page: FramedPage, record_property: Record) -> None:
    opened: list[str] = []
    async with UiHost(board(), on_link=opened.append, on_action=opened.append).show(page):
        for url in LINKS:
            if isinstance(url, str):
                assert (await page.asks("link", url=url))["error"]["code"] == -32601, url
            else:
                page.say("link", None, url=url)
        await anyio.wait_all_tasks_blocked()
        assert opened == []
        assert await page.asks("link", url="https://a.example/?q=1#x") == {"response": None}
    assert opened == ["https://a.example/?q=1#x"]
    record_property("lines", len(LINKS))


async def test_odd_sizes_are_not_followed(page: FramedPage, record_property: Record) -> None:
    sizes: list[Any] = [*ODD, -5, 0.4, 1e308, 10**400, 10**15, {"valueOf": 1}]
    async with UiHost(board(), auto_resize=True, on_intent=lambda *_: 1).show(page):
        for size in sizes:
            page.say("ui-size-change", width=size, height=size)
            page.tell({"type": "ui-size-change", "payload": size})
        page.say("ui-size-change", width=320, height=321)
        assert await page.sizes.get() == (320, 321)
        assert await page.asks("intent", intent="go") == {"response": 1}
    record_property("lines", 2 * len(sizes) + 2)


async def test_whatever_a_function_does_the_page_gets_an_answer(
    page: FramedPage, caplog: pytest.LogCaptureFixture, record_property: Record
) -> None:
    """Of functions that fail in any way, or return what has no form in JSON."""
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    deep: Any = None
    for _ in range(5000):
        deep = [deep]

    async def cancelled() -> None:
        waiting = asyncio.ensure_future(asyncio.sleep(60))
        waiting.cancel()
        await waiting

    def fails(error: BaseException) -> Any:
        raise error

    answers: dict[str, Any] = {
        "a set": lambda: {1},
        "bytes": lambda: b"x",
        "a function": lambda: fails,
        "cyclic": lambda: cyclic,
        "deep": lambda: deep,
        "a key": lambda: {(1, 2): 3},
        "a prototype key": lambda: {"__proto__": 1},
        "ill-formed": lambda: "\ud800",
        "an iterator": lambda: iter([1]),
        "too large": lambda: "x" * 200_000,
        "raises": lambda: fails(ValueError("x")),
        "raises ill-formed": lambda: fails(ValueError("\ud800" * 10)),
        "times out": lambda: fails(TimeoutError()),
        "is cancelled": cancelled,
        "raises a cancellation": lambda: fails(asyncio.CancelledError()),
        "recurses": lambda: fails(RecursionError()),
    }
    options = Options(max_message_bytes=100_000)
    async with UiHost(board(), on_intent=lambda name, _: answers[name](), options=options).show(page):
        for name in answers:
            payload = await page.asks("intent", intent=name)
            assert set(payload) == {"error"}, name
            assert isinstance(payload["error"]["message"], str)
        answers["nan"] = lambda: float("nan")
        assert await page.asks("intent", intent="nan") == {"response": None}
    record_property("lines", len(answers))


async def test_another_document_at_an_opaque_origin_is_nobody(page: FramedPage, record_property: Record) -> None:
    """A link in HTML text that leads elsewhere: the page there gets no data, no answer and no function."""
    release = asyncio.Event()
    called: list[str] = []

    async def intent(name: str, _: Json) -> str:
        called.append(name)
        await release.wait()
        return "secret"

    page.origin = "null"
    async with UiHost(ui_resource(URI, html="<a href=x>"), on_intent=intent, render_data={"a": 1}).show(page) as shown:
        page.say("intent", "1", intent="go")
        assert (await page.heard.get())["type"] == "ui-message-received"
        await anyio.wait_all_tasks_blocked()
        page.gone(Departure.REPLACED)
        assert shown.closed.is_set()
        release.set()
        for message in MESSAGES.values():
            page.tell(message)
        shown.loaded()
        await anyio.wait_all_tasks_blocked()
        assert page.nothing()
    assert called == ["go"]
    page.origin = "https://sandbox.example"
    loaded = {"jsonrpc": "2.0", "method": "ui/notifications/sandbox-view-loaded", "params": {}}
    block = ui_resource(URI, html="<a>")
    async with UiHost(block, proxy=PROXY, on_intent=intent, render_data={"a": 1}).show(page) as shown:
        page.tell(loaded)
        assert (await page.heard.get())["payload"] == {"renderData": {"a": 1}}
        page.tell(loaded)
        assert shown.closed.is_set()
        page.tell(MESSAGES["intent"])
        await anyio.wait_all_tasks_blocked()
        assert page.nothing()
    record_property("lines", 2 + len(MESSAGES))


async def test_of_a_page_with_an_origin_another_page_gets_no_answer(page: FramedPage) -> None:
    """The host follows it through reloads, and posts to its origin only."""
    release = asyncio.Event()

    async def intent(*_: Any) -> str:
        await release.wait()
        return "late"

    async with UiHost(board(), on_intent=intent, render_data={"a": 1}).show(page):
        page.say("intent", "1", intent="go")
        page.gone(Departure.REPLACED)
        page.say("intent", "2", origin=STRANGER, intent="go")
        page.say("ui-request-render-data", "3", origin="null")
        release.set()
        await anyio.wait_all_tasks_blocked()
        kinds = [page.heard.get_nowait().get("messageId") for _ in range(page.heard.qsize())]
        assert kinds == ["1", None, "1"]
    assert page.targets == {FRAME}


async def test_strangers_are_dropped_unread_and_two_hosts_do_not_hear_each_other(record_property: Record) -> None:
    one, other = FramedPage(), FramedPage()
    async with (
        UiHost(board(), on_intent=lambda *_: 1).show(one),
        UiHost(board(), on_intent=lambda *_: 2).show(other),
    ):
        for message in MESSAGES.values():
            other.tell(message, origin=STRANGER)
            other.tell(message, origin="null")

        async def unharmed() -> None:
            await anyio.wait_all_tasks_blocked()
            assert one.nothing()
            assert other.nothing()
            assert await one.asks("intent", intent="go") == {"response": 1}
            assert await other.asks("intent", intent="go") == {"response": 2}

        lines = await strangers_are_dropped(one.deliver, unharmed, origin=FRAME, host=OWN)
    record_property("lines", lines + 2 * len(MESSAGES))


async def test_a_page_calls_no_tool_that_is_for_models_only(page: FramedPage, record_property: Record) -> None:
    """As a view of MCP Apps: a page is not another way to such a tool."""
    called: list[str] = []
    server = MCPServer("tasks")
    visibilities: dict[str, Any] = {"erase": ["model"], "odd": "app", "none": [], "add": ["app"], "both": None}
    for name, visibility in visibilities.items():
        meta = {} if visibility is None else {"ui": {"visibility": visibility}}
        server.add_tool(lambda name=name: called.append(name), name=name, meta=meta)
    async with Client(server) as client, UiHost(board(), client=client).show(page):
        for name in ("erase", "odd", "none"):
            assert (await page.asks("tool", toolName=name))["error"]["code"] == -32601
        for name in ("ERASE", "erase ", "__proto__", "", "x" * 5000):
            answer = await page.asks("tool", toolName=name)
            assert "error" in answer or answer["response"]["isError"]
        for name in ("add", "both"):
            assert not (await page.asks("tool", toolName=name))["response"].get("isError")
    assert called == ["add", "both"]
    record_property("lines", 10)
