"""`session.host` under mcp-ui, without a browser: what is posted, what comes of what the host sends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest
from mcp.types import CallToolResult, ImageContent, TextContent

from mcpframe.frame.core.connection import Candidate, Connection, Options, parse_allowed_origins
from mcpframe.frame.core.errors import HostError, HostLacks, HostTimeout
from mcpframe.frame.core.events import Inbound, Refused
from mcpframe.frame.dialects.mcp_ui.roles import EMBEDDED
from mcpframe.frame.host_api.by_dialect import host_api
from mcpframe.frame.host_api.host import Host
from mcpframe.frame.host_api.mcp_ui import EmbeddingHost
from mcpframe.frame.session.host_messages import HostMessages
from mcpframe.frame.session.session import Session

Json = dict[str, Any]
HOST = "https://chat.example"
DATA = {"theme": "dark", "locale": "de-AT", "user": {"name": "Ada"}}


class Wire:
    """The window of a host, of which a test sees what is posted, and in whose name it answers."""

    def __init__(self) -> None:
        self.posted: asyncio.Queue[Json] = asyncio.Queue()
        self.refused: list[Refused] = []
        self.messages = HostMessages(host_api)
        connection = Connection([Candidate(EMBEDDED, parse_allowed_origins([HOST]))], options=Options(max_pending=3))
        self.session = Session(connection, self, self._note, intercept=self.messages)

    def _note(self, event: Any) -> None:
        if isinstance(event, Refused):
            self.refused.append(event)

    def listen(self, deliver: Callable[[Inbound], None], gone: Any) -> Callable[[], None]:
        self._deliver = deliver
        return lambda: None

    def post(self, text: str, target_origin: str) -> None:
        self.posted.put_nowait(json.loads(text))

    def say(self, kind: str, id_: Any = None, **content: Any) -> None:
        message = {"type": kind, "messageId": id_, "payload": content}
        self._deliver(Inbound(HOST, True, lambda: json.dumps(message)))

    def close(self) -> None:
        self.session.close()
        self.session.streams[0].close()

    async def open(self, data: Any = None) -> EmbeddingHost:
        self.session.start()
        assert [(await self.posted.get())["type"] for _ in range(2)] == [
            "ui-lifecycle-iframe-ready",
            "ui-request-render-data",
        ]
        self.say("ui-lifecycle-iframe-render-data", renderData=data)
        await self.session.begun()
        assert isinstance(self.messages.handler, EmbeddingHost)
        return self.messages.handler

    async def answered(self, asking: Any, **content: Any) -> tuple[Json, Any]:
        """Answer an action; return what was posted, and what came of it."""
        task = asyncio.ensure_future(asking)
        asked = await self.posted.get()
        self.say("ui-message-received", asked["messageId"])
        self.say("ui-message-response", asked["messageId"], **content)
        return asked, await task


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    with anyio.fail_after(120):
        wire = Wire()
        yield wire
        wire.close()


ASKED: list[tuple[Callable[[Host], Any], str, Json]] = [
    (lambda host: host.call_tool("add", {"a": 1}), "tool", {"toolName": "add", "params": {"a": 1}}),
    (lambda host: host.call_tool("now"), "tool", {"toolName": "now", "params": {}}),
    (lambda host: host.send_message("Hi"), "prompt", {"prompt": "Hi"}),
    (lambda host: host.send_message(["Hi", TextContent(type="text", text="you")]), "prompt", {"prompt": "Hi\nyou"}),
    (lambda host: host.open_link("https://x.example/"), "link", {"url": "https://x.example/"}),
    (lambda host: host.intent("go"), "intent", {"intent": "go", "params": {}}),
    (lambda host: host.intent("go", {"to": None}), "intent", {"intent": "go", "params": {"to": None}}),
    (lambda host: host.request_data("x", {"y": 1}), "ui-request-data", {"requestType": "x", "params": {"y": 1}}),
]


@pytest.mark.parametrize(("ask", "kind", "content"), ASKED, ids=[kind for _, kind, _ in ASKED])
async def test_what_is_asked(wire: Wire, ask: Callable[[Host], Any], kind: str, content: Json) -> None:
    asked, _ = await wire.answered(ask(await wire.open()), response=None)
    assert asked == {"type": kind, "messageId": asked["messageId"], "payload": content}
    assert asked["messageId"].startswith("mcpframe/")
    assert len(asked["messageId"]) > 40


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        (float("nan"), None),
        ([float("-inf")], [None]),
        ({1: (2,)}, {"1": [2]}),
        (TextContent(type="text", text="a"), ...),
    ],
)
async def test_what_is_sent_is_strict_json(wire: Wire, value: Any, sent: Any) -> None:
    asked, _ = await wire.answered((await wire.open()).intent("go", {"x": value}), response=None)
    sent = {"type": "text", "text": "a"} if sent is ... else sent
    assert asked["payload"] == {"intent": "go", "params": {"x": sent}}


@pytest.mark.parametrize("value", [{1, 2}, b"x", "\ud800"])
async def test_what_has_no_form_in_json_is_not_sent(wire: Wire, value: Any) -> None:
    host = await wire.open()
    with pytest.raises((TypeError, HostError), match=r"JSON|Unicode"):
        await host.intent("go", {"x": value})
    assert wire.posted.empty()


async def test_ids_are_those_of_this_session(wire: Wire) -> None:
    ids, another = set(), Wire()
    for each in (wire, another):
        host = await each.open()
        ids |= {(await each.answered(host.intent("go")))[0]["messageId"].rpartition("/")[0] for _ in range(2)}
    assert len(ids) == 2
    another.close()


async def test_what_is_not_answered_has_no_id(wire: Wire) -> None:
    host = await wire.open()
    host.notify("cart-updated")
    host.report_size(400, 300)
    assert wire.posted.get_nowait() == {"type": "notify", "payload": {"message": "cart-updated"}}
    assert wire.posted.get_nowait() == {"type": "ui-size-change", "payload": {"height": 300}}


@pytest.mark.parametrize(
    ("response", "texts", "structured"),
    [
        (None, [], None),
        ("sunny", ["sunny"], {"result": "sunny"}),
        ({"degrees": 21}, ['{"degrees": 21}'], {"degrees": 21}),
        ([1], ["[1]"], {"result": [1]}),
        ({"content": [{"type": "text", "text": "21"}], "structuredContent": {"a": 1}}, ["21"], {"a": 1}),
        (
            {"content": ["nothing"]},
            ['{"content": ["nothing"]}'],
            {"content": ["nothing"]},
        ),
    ],
)
async def test_every_answer_to_a_tool_call_is_a_result_of_mcp(
    wire: Wire, response: Any, texts: list[str], structured: Any
) -> None:
    received: list[float] = []
    host = await wire.open()
    calling = host.call_tool("get-weather", on_progress=lambda progress, *_: received.append(progress))
    _, result = await wire.answered(calling, response=response)
    assert isinstance(result, CallToolResult)
    assert [block.text for block in result.content if isinstance(block, TextContent)] == texts
    assert result.structured_content == structured
    assert received == [0]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ("no", "no"),
        ({"message": "no"}, "no"),
        ({"why": 1}, '{"why": 1}'),
        (None, "null"),
        ([], "[]"),
        ("", '""'),
        (7.5, "7.5"),
        (False, "false"),
        ([{"message": "no"}], '[{"message": "no"}]'),
        ({}, "{}"),
        ({"message": ""}, '{"message": ""}'),
        ({"message": ["no"], "code": "E1"}, '{"message": ["no"], "code": "E1"}'),
        ({"name": "TypeError", "message": "no", "stack": "at x"}, "no"),
        ({"message": "no", "code": 404, "data": {"a": None}}, "no"),
        ({"error": {"message": "no"}}, '{"error": {"message": "no"}}'),
        ({"text": "x" * 1000}, '{"text": "' + "x" * 490),
    ],
)
async def test_errors_of_any_shape_are_one_exception(wire: Wire, error: Any, text: str) -> None:
    host = await wire.open()
    with pytest.raises(HostError) as failed:
        await wire.answered(host.open_link("x"), error=error)
    assert str(failed.value).endswith(f"with an error: {text}")
    assert (failed.value.request, failed.value.data) == ("link", error)


async def test_an_action_that_the_host_does_not_handle(wire: Wire) -> None:
    error = {"code": -32601, "message": "no links", "name": "Error"}
    with pytest.raises(HostLacks, match="does not offer link: no links") as failed:
        await wire.answered((await wire.open()).open_link("x"), error=error)
    assert (failed.value.request, failed.value.data) == ("link", error)


async def test_a_host_that_does_not_answer(wire: Wire) -> None:
    host = await wire.open()
    host.timeout = 0.01
    for _ in range(4):  # more than may be pending: an answer that is late is not waited for
        with pytest.raises(HostTimeout, match=r"within 0\.01 seconds\. It has not acknowledged it"):
            await host.intent("go")
        await wire.posted.get()
    host.timeout = None
    asking = asyncio.ensure_future(host.intent("go"))
    await wire.posted.get()
    wire.session.close()
    with pytest.raises(HostError, match="session was closed"):
        await asking
    with pytest.raises(HostError, match="session is over"):
        await host.intent("go")
    host.notify("late")


async def test_an_acknowledged_action_without_an_answer(wire: Wire) -> None:
    host = await wire.open()
    host.timeout = 0.05
    asking = asyncio.ensure_future(host.intent("go"))
    wire.say("ui-message-received", (await wire.posted.get())["messageId"])
    with pytest.raises(HostTimeout) as late:
        await asking
    assert "acknowledged" not in str(late.value)


async def test_render_data_that_is_there(wire: Wire) -> None:
    host = await wire.open(DATA)
    drawn: list[Any] = []
    contexts: list[Any] = []
    host.watch_context(contexts.append)
    assert host.on_render_data(drawn.append) == drawn.append
    assert await host.render_data() == DATA
    assert (host.context.theme, host.context.locale) == ("dark", "de-AT")
    wire.say("ui-lifecycle-iframe-render-data", renderData=DATA)  # the host sends it on load, too
    wire.say("ui-lifecycle-iframe-render-data", "mcpframe/render-data", renderData=DATA)
    wire.say("ui-lifecycle-iframe-render-data", renderData=None)
    assert drawn == [DATA]
    wire.say("ui-lifecycle-iframe-render-data", renderData={"theme": "light"})
    assert drawn == [DATA, {"theme": "light"}]
    assert [context.theme for context in contexts] == ["light"]
    assert wire.posted.empty()


async def test_render_data_that_comes_late(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    host = await wire.open()
    drawn: list[Any] = []
    host.on_render_data(lambda data: drawn.append(1 / 0))
    host.on_render_data(drawn.append)
    waiting = asyncio.ensure_future(host.render_data())
    assert (await wire.posted.get())["type"] == "ui-request-render-data"
    wire.say("ui-lifecycle-iframe-render-data", renderData=[1])
    assert await waiting == [1]
    assert drawn == [[1]]
    assert "ZeroDivisionError" in caplog.text


async def test_render_data_on_request(wire: Wire) -> None:
    host = await wire.open()
    for content, expected in (({}, None), ({"renderData": {"a": 1}}, {"a": 1})):
        waiting = asyncio.ensure_future(host.render_data())
        asked = await wire.posted.get()
        assert set(asked) == {"type", "messageId"}
        wire.say("ui-lifecycle-iframe-render-data", asked["messageId"], **content)
        assert await waiting == expected


async def test_render_data_that_fails(wire: Wire) -> None:
    host = await wire.open()
    waiting = asyncio.ensure_future(host.render_data())
    wire.say("ui-lifecycle-iframe-render-data", (await wire.posted.get())["messageId"], error="gone")
    with pytest.raises(HostError, match="gone"):
        await waiting


async def test_what_such_a_host_does_not_have(wire: Wire) -> None:
    host = await wire.open()
    with pytest.raises(HostLacks, match="only text"):
        await host.send_message(ImageContent(type="image", data="", mime_type="image/png"))
    with pytest.raises(HostLacks, match="'mcp_ui' does not offer tools/list"):
        await host.list_tools()
    with pytest.raises(HostLacks, match="does not offer intents"):
        await Host().intent("go")


async def test_what_a_server_tells_of_itself_goes_nowhere(wire: Wire) -> None:
    await wire.open()
    wire.session.post({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    assert (wire.posted.empty(), wire.refused) == (True, [])
    wire.session.post({"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {}})
    assert wire.posted.empty()
    answer = await wire.session.streams[0].receive()
    assert "no form in mcp-ui" in str(answer)
