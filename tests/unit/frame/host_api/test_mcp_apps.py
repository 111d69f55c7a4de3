"""`session.host` under MCP Apps, without a browser: what is posted, what comes of what the host sends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from mcp.types import CallToolResult, SamplingMessage, TextContent

from mcpframe.frame.core.errors import HostError, HostLacks, HostTimeout, StateError
from mcpframe.frame.dialects.mcp_apps.offers import HostFound
from mcpframe.frame.host_api.context import HostContext, ToolCancelled, ToolInput, ToolInputPartial, ToolResult
from mcpframe.frame.host_api.host import Host
from mcpframe.frame.host_api.mcp_apps import HostOfView
from mcpframe.frame.session.host_messages import HostMessages
from mcpframe.frame.storage.values import Storage

Json = dict[str, Any]


class Wire:
    """A session of which a test sees what is posted, and in whose name it answers."""

    def __init__(self, context: Json | None = None) -> None:
        self.posted: list[Json] = []
        self.over = False
        self.messages = HostMessages(HostOfView)
        self.changed = asyncio.Event()
        self.found = HostFound(
            dialect="mcp_apps",
            origin="https://chat.example",
            version="2026-01-26",
            info={"name": "a host", "version": "2"},
            capabilities={"openLinks": {}},
            context=context or {},
        )

    def open(self) -> HostOfView:
        self.messages.begun(self, self.found)
        assert isinstance(self.messages.handler, HostOfView)
        return self.messages.handler

    def post(self, message: Any) -> None:
        if self.over:
            raise StateError("closed")
        self.posted.append(message)
        self.changed.set()

    async def next(self) -> Json:
        while not self.posted:
            self.changed.clear()
            await self.changed.wait()
        return self.posted.pop(0)

    def notify(self, method: str, **params: Any) -> bool:
        return self.messages.take({"jsonrpc": "2.0", "method": method, "params": params})

    async def answered(self, asking: Any, **answer: Any) -> tuple[Json, Any]:
        """Answer what is asked; return what was posted, and what came of it."""
        task = asyncio.ensure_future(asking)
        asked = await self.next()
        assert self.messages.take({"jsonrpc": "2.0", "id": asked["id"], **answer})
        return asked, await task


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    with anyio.fail_after(120):
        yield Wire()


ASKED: list[tuple[Callable[[Host], Any], str, Json]] = [
    (lambda host: host.call_tool("add", {"a": 1}), "tools/call", {"name": "add", "arguments": {"a": 1}}),
    (lambda host: host.call_tool("now"), "tools/call", {"name": "now", "arguments": {}}),
    (lambda host: host.send_message("Hi"), "ui/message", {"role": "user", "content": [{"type": "text", "text": "Hi"}]}),
    (
        lambda host: host.send_message(["Hi", TextContent(type="text", text="you")]),
        "ui/message",
        {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "text", "text": "you"}]},
    ),
    (lambda host: host.update_model_context(), "ui/update-model-context", {}),
    (
        lambda host: host.update_model_context("72°F", {"t": 72}),
        "ui/update-model-context",
        {"content": [{"type": "text", "text": "72°F"}], "structuredContent": {"t": 72}},
    ),
    (lambda host: host.open_link("https://x.example/"), "ui/open-link", {"url": "https://x.example/"}),
    (
        lambda host: host.download("ü.bin", b"\x00\x01"),
        "ui/download-file",
        {
            "contents": [
                {
                    "type": "resource",
                    "resource": {
                        "uri": "file:///%C3%BC.bin",
                        "mimeType": "application/octet-stream",
                        "blob": "AAE=",
                    },
                }
            ]
        },
    ),
]


@pytest.mark.parametrize(("ask", "method", "params"), ASKED, ids=[method for _, method, _ in ASKED])
async def test_what_is_asked(wire: Wire, ask: Callable[[Host], Any], method: str, params: Json) -> None:
    result = {"content": []} if method == "tools/call" else {}
    asked, _ = await wire.answered(ask(wire.open()), result=result)
    assert asked == {"jsonrpc": "2.0", "id": "mcpframe/1", "method": method, "params": params}


async def test_results_are_models_of_the_sdk(wire: Wire) -> None:
    host = wire.open()
    _, result = await wire.answered(host.call_tool("add"), result={"content": [{"type": "text", "text": "3"}]})
    assert isinstance(result, CallToolResult)
    _, mode = await wire.answered(host.request_display_mode("pip"), result={"mode": "inline"})
    assert mode == "inline"
    message = SamplingMessage(role="user", content=TextContent(type="text", text="?"))
    answer = {"role": "assistant", "content": {"type": "text", "text": "!"}, "model": "m"}
    asked, written = await wire.answered(host.create_message([message], 5, systemPrompt="be kind"), result=answer)
    assert asked["params"]["messages"] == [{"role": "user", "content": {"type": "text", "text": "?"}}]
    assert (asked["params"]["maxTokens"], asked["params"]["systemPrompt"]) == (5, "be kind")
    assert written.model == "m"
    for asking in (host.call_tool("add"), host.request_display_mode("pip")):
        with pytest.raises(HostError, match=r"not what MCP specifies|has no mode"):
            await wire.answered(asking, result={"content": 7})


async def test_errors_of_the_host(wire: Wire) -> None:
    host = wire.open()
    with pytest.raises(HostLacks, match=r"does not offer ui/open-link: Method not found") as lacking:
        await wire.answered(host.open_link("x"), error={"code": -32601, "message": "Method not found"})
    assert (lacking.value.request, lacking.value.code) == ("ui/open-link", -32601)
    with pytest.raises(HostError, match="answered ui/open-link with an error: no") as failed:
        await wire.answered(host.open_link("x"), error={"code": 7, "message": "no", "data": {"a": 1}})
    assert (failed.value.code, failed.value.data) == (7, {"a": 1})
    with pytest.raises(HostError, match="declined ui/open-link"):
        await wire.answered(host.open_link("x"), result={"isError": True})


async def test_an_error_names_the_capability_that_the_host_has_not_declared(wire: Wire) -> None:
    host = wire.open()
    await wire.answered(host.send_message("Hi"), result={})  # asked all the same
    for error, kind in (({"code": -32601, "message": "?"}, HostLacks), ({"code": 7, "message": "no"}, HostError)):
        with pytest.raises(kind, match="does not name downloadFile among its capabilities") as failed:
            await wire.answered(host.download("a.txt", "text"), error=error)
        assert (failed.value.request, failed.value.code) == ("ui/download-file", error["code"])
    host.timeout = 0.01
    with pytest.raises(HostTimeout, match="does not name updateModelContext"):
        await host.update_model_context("x")
    with pytest.raises(HostTimeout) as declared:
        await host.open_link("x")
    assert "capabilities" not in str(declared.value)


async def test_a_host_that_does_not_answer_is_given_up(wire: Wire) -> None:
    host = wire.open()
    host.timeout = 0.01
    with pytest.raises(HostTimeout, match=r"within 0\.01 seconds"):
        await host.open_link("x")
    asked, cancelled = wire.posted
    assert cancelled["method"] == "notifications/cancelled"
    assert cancelled["params"]["requestId"] == asked["id"]
    late = {"jsonrpc": "2.0", "id": asked["id"], "result": {}}
    assert wire.messages.take(late)  # not the server's
    assert not wire.messages.take({"jsonrpc": "2.0", "id": 7, "result": {}})  # of a request of the server


async def test_progress(wire: Wire) -> None:
    host = wire.open()
    heard: list[Any] = []
    asking = asyncio.create_task(host.call_tool("add", on_progress=lambda *told: heard.append(told)))
    asked = await wire.next()
    token = asked["params"]["_meta"]["progressToken"]
    assert wire.notify("notifications/progress", progressToken=token, progress=1, total=2, message="half")
    assert wire.notify("notifications/progress", progressToken=token, progress="much")
    assert not wire.notify("notifications/progress", progressToken=7, progress=1)
    wire.messages.take({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": []}})
    await asking
    assert heard == [(1, 2, "half")]
    assert wire.notify("notifications/progress", progressToken=token, progress=2)
    assert heard == [(1, 2, "half")]


async def test_nothing_is_sent_once_the_session_is_over(wire: Wire) -> None:
    host = wire.open()
    wire.over = True
    with pytest.raises(HostError, match="the session is over"):
        await host.open_link("x")
    host.log("info", "nobody hears it")
    host.request_teardown()
    assert wire.posted == []


async def test_late_subscribers_get_what_they_missed(wire: Wire) -> None:
    assert wire.notify("ui/notifications/tool-input-partial", arguments={"a": 1})  # before the session is open
    host = wire.open()
    assert wire.notify("ui/notifications/tool-input-partial", arguments={"a": 1, "b": 2})
    early = host.tool_events()
    assert await anext(early) == ToolInputPartial({"a": 1, "b": 2})
    for number in range(50):
        wire.notify("ui/notifications/tool-input-partial", arguments={"n": number})
    wire.notify("ui/notifications/tool-input", arguments={"n": 50})
    wire.notify("ui/notifications/tool-result", content=[{"type": "text", "text": "t"}], structuredContent=[1])
    result = ToolResult(content=({"type": "text", "text": "t"},), structured=[1])
    assert [await anext(early) for _ in range(3)] == [ToolInputPartial({"n": 49}), ToolInput({"n": 50}), result]
    late = host.tool_events()
    assert [await anext(late) for _ in range(2)] == [ToolInput({"n": 50}), result]
    assert result.text == "t"
    assert await host.tool_input() == ToolInput({"n": 50})
    assert await host.tool_result() == result
    wire.messages.close()
    assert [event async for event in late] == []
    assert [event async for event in host.tool_events()] == [ToolInput({"n": 50}), result]


async def test_the_storage_of_a_view(caplog: pytest.LogCaptureFixture) -> None:
    kept: dict[str, Storage] = {}

    async def shown(**result: Any) -> Storage:
        wire = Wire()
        host = wire.open()
        host.opens_storage = lambda name: kept.setdefault(name, Storage(name))
        wire.notify("ui/notifications/tool-result", content=[], **result)
        storage = await host.view_storage()
        assert await host.view_storage() is storage
        return storage

    await (await shown(_meta={"viewUUID": "one"})).set("day", 3)
    assert await (await shown(_meta={"viewUUID": "one"})).get("day") == 3  # another frame of the same result
    assert await (await shown(_meta={"viewUUID": "two"})).get("day") is None
    assert not caplog.records
    count = len(kept)
    for meta in ({}, {"viewUUID": 7}, {"viewUUID": ""}, {"viewUUID": "x" * 10_000}):
        storage = await shown(_meta=meta)
        assert not storage.persistent
        assert "no viewUUID" in caplog.text
        caplog.clear()
    assert len(kept) == count


async def test_a_result_that_never_comes(wire: Wire) -> None:
    host = wire.open()
    wire.notify("ui/notifications/tool-cancelled", reason="the user left")
    with pytest.raises(HostError, match="cancelled: the user left"):
        await host.tool_result()
    wire.notify("ui/notifications/tool-result", content=[{"type": "text", "text": "too late"}])
    assert (await host.tool_result()).text == "too late"
    assert await anext(host.tool_events()) == ToolCancelled("the user left")
    other = Wire()
    waiting = asyncio.create_task(other.open().tool_result())
    await asyncio.sleep(0)
    other.messages.close()
    with pytest.raises(HostError, match="ended before"):
        await waiting


async def test_the_context_is_merged(wire: Wire) -> None:
    made = Wire({"theme": "dark", "locale": "de", "styles": {"variables": {"--a": "1", "b": "2", "--c": 3}}})
    host = made.open()
    seen: list[str | None] = []
    host.watch_context(lambda context: seen.append(context.theme))
    changes = host.context_changes()
    made.notify("ui/notifications/host-context-changed", theme="light")
    made.notify("ui/notifications/host-context-changed", displayMode="pip")
    assert (await anext(changes)).display_mode == "pip"  # what it is late for is skipped
    assert (host.context.theme, host.context.locale, host.context.variables) == ("light", "de", {"--a": "1"})
    assert seen == ["light", "light"]
    made.messages.close()
    assert [context async for context in changes] == []


@pytest.mark.parametrize("wrong", [None, 7, "text", [], {}, [7], {"tool": 7}])
def test_a_context_with_other_types_is_read(wrong: Any) -> None:
    names = "theme styles displayMode availableDisplayModes containerDimensions locale timeZone userAgent platform"
    keys = [*names.split(), "deviceCapabilities", "safeAreaInsets", "toolInfo"]
    context = HostContext.read(dict.fromkeys(keys, wrong))
    assert context.variables == {}
    assert context.tool is None
    assert context.raw["theme"] == wrong


async def test_a_teardown_waits_for_the_author(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    host = wire.open()
    reasons: list[str] = []

    @host.on_teardown
    async def _(reason: str) -> None:
        reasons.append(reason)

    @host.on_teardown
    async def _(reason: str) -> None:
        raise ValueError("the author's")

    @host.on_teardown
    async def _(reason: str) -> None:
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        reasons.append(f"later {reason}")

    request = {"jsonrpc": "2.0", "id": 9, "method": "ui/resource-teardown", "params": {"reason": "done"}}
    assert wire.messages.take(request)
    assert await wire.next() == {"jsonrpc": "2.0", "id": 9, "result": {}}
    assert reasons == ["done", "later done"]
    assert "the author's" in caplog.text
    assert not wire.messages.take({"jsonrpc": "2.0", "id": 9, "method": "tools/list"})


async def test_lists_that_change(wire: Wire) -> None:
    host = wire.open()
    changed: list[str] = []
    host.on_list_changed(changed.append)
    for kind in ("tools", "resources", "prompts"):
        assert wire.notify(f"notifications/{kind}/list_changed")
    assert changed == ["tools", "resources", "prompts"]
    assert wire.notify("ui/notifications/of-tomorrow")
    assert not wire.notify("notifications/cancelled", requestId=1)


async def test_messages_before_the_session_are_kept_within_bounds() -> None:
    kept: list[Any] = []
    handler: Any = SimpleNamespace(notified=lambda *given: kept.append(given) or True)
    messages = HostMessages(lambda *_: handler)
    for number in range(1000):
        assert messages.take({"jsonrpc": "2.0", "method": "ui/notifications/tool-input", "params": {"n": number}})
    messages.begun(Wire(), Wire().found)
    assert len(kept) == 100
    other = HostMessages(lambda *_: None)
    other.begun(Wire(), Wire().found)
    assert not other.take({"jsonrpc": "2.0", "method": "ui/notifications/tool-input"})


CALLS: dict[str, tuple[Any, ...]] = {
    "call_tool": ("x",),
    "list_tools": (),
    "read_resource": ("x://y",),
    "list_resources": (),
    "list_resource_templates": (),
    "list_prompts": (),
    "create_message": ([], 1),
    "send_message": ("x",),
    "update_model_context": (),
    "open_link": ("x",),
    "download": ("x", ""),
    "request_display_mode": ("pip",),
    "tool_input": (),
    "tool_result": (),
    "view_storage": (),
    "tool_events": (),
    "context_changes": (),
    "on_list_changed": (print,),
    "on_teardown": (print,),
    "ping": (),
    "request_teardown": (),
    "log": ("info", ""),
}


OF_OTHER_HOSTS = {
    "intent": ("x",),
    "notify": ("x",),
    "request_data": ("x",),
    "render_data": (),
    "on_render_data": (print,),
}
"""Methods that a host of MCP Apps does not have."""


async def used(host: Host, name: str, arguments: tuple[Any, ...]) -> None:
    result = getattr(host, name)(*arguments)
    await result


async def test_every_method_says_what_a_host_lacks() -> None:
    public = {name for name in vars(Host) if not name.startswith("_")}
    assert set(CALLS) == {name for name in vars(HostOfView) if name in public} == public - set(OF_OTHER_HOSTS)
    for dialect, told in (("sep", "A host that speaks 'sep' does not offer"), ("", "Outside of a browser")):
        for name, arguments in {**CALLS, **OF_OTHER_HOSTS}.items():
            with pytest.raises(HostLacks, match=told):
                await used(Host(dialect), name, arguments)
