"""Requests of a view to an `AppHost`: passed on, refused, bounded and cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server.apps import Apps
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import CreateMessageResult, TextContent

from mcpframe.frame.core.errors import AppError, AppTimeout, HostError, PeerGone
from mcpframe.frame.core.events import Refused
from mcpframe.frame.dialects.mcp_apps.offers import ViewOffer
from mcpframe.frame.hosting.mcp_apps.host import AppHost
from mcpframe.frame.hosting.view_server import LARGEST_VIEW, ViewServer
from tests.support.app_view import HOST, SANDBOX, URI, PythonView, weather
from tests.support.fake_place import FakePlace
from tests.unit.frame.hosting.mcp_apps.test_host import Shown, shown

TEXT = {"type": "text", "text": "Hello"}
Json = dict[str, Any]


@pytest.fixture(autouse=True)
async def bounded_time() -> AsyncIterator[None]:
    with anyio.fail_after(120):
        yield


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with Client(weather()) as client:
        yield client


async def ask(shows: Shown, method: str, params: Any) -> Json:
    """Let the view ask for something; return the result, or the code of the error."""
    try:
        return dict(await shows.view.messages.request(method, params))
    except HostError as error:
        return {"code": error.code}


async def test_what_the_host_agrees_to_and_declines(client: Client) -> None:
    asked: list[Any] = []

    def hook(answer: bool | None) -> Any:
        async def later(*given: Any) -> bool | None:
            asked.append(given)
            return answer

        return later

    file = {"type": "resource", "resource": {"uri": "file:///a", "blob": "AAE="}}
    link = {"type": "resource_link", "uri": "https://example.org/a", "name": "a"}
    rows: list[tuple[str, str, Json, tuple[Any, ...]]] = [
        ("on_link", "ui/open-link", {"url": "https://example.org/"}, ("https://example.org/",)),
        ("on_message", "ui/message", {"role": "user", "content": [TEXT]}, ([TEXT],)),
        ("on_message", "ui/message", {"role": "user", "content": TEXT}, ([TEXT],)),
        ("on_download", "ui/download-file", {"contents": [file, link]}, ([file, link],)),
    ]
    for name, method, params, given in rows:
        for answer, result in ((True, {}), (None, {}), (False, {"isError": True})):
            async with shown(client, **{name: hook(answer)}) as shows:
                assert await ask(shows, method, params) == result
            assert asked.pop() == given
    for answer, changed in ((True, {}), (False, {"code": -32600})):
        async with shown(client, on_model_context=hook(answer)) as shows:
            assert await ask(shows, "ui/update-model-context", {"structuredContent": {"t": 1}}) == changed
        assert asked.pop() == ([], {"t": 1})


async def test_a_function_of_the_host_that_fails_is_an_error_for_the_view_only(client: Client) -> None:
    def fails(url: str) -> bool:
        raise RuntimeError("broken")

    def log(*_: Any) -> None:
        raise RuntimeError("broken")

    async def cancelled(blocks: list[Json]) -> bool:
        raise asyncio.CancelledError

    async with shown(client, on_link=fails, on_log=log, on_message=cancelled) as shows:
        assert await ask(shows, "ui/open-link", {"url": "https://example.org/"}) == {"code": -32603}
        assert await ask(shows, "ui/message", {"role": "user", "content": [TEXT]}) == {"code": -32603}
        shows.view.host.log("info", "a")
        assert await ask(shows, "ping", {}) == {}


async def test_a_server_without_resources_for_views_is_not_offered_for_them() -> None:
    apps = Apps()

    @apps.tool(resource_uri=URI)
    def forecast() -> str:
        return "fine"

    apps.add_html_resource(URI, "<p>")
    async with Client(MCPServer("small", extensions=[apps])) as client, shown(client) as shows:
        assert "serverTools" in shows.view.host.capabilities


async def test_display_modes_are_those_of_both(client: Client) -> None:
    wanted: list[str] = []

    def mode(asked: str) -> str:
        wanted.append(asked)
        return {"fullscreen": "fullscreen", "pip": "a window of its own"}[asked]

    context = {"availableDisplayModes": ["inline", "fullscreen", "pip"]}
    view = PythonView(offer=ViewOffer(display_modes=("inline", "fullscreen", "pip")))
    async with shown(client, view, on_display_mode=mode, context=context) as shows:
        host = shows.view.host
        assert await host.request_display_mode("fullscreen") == "fullscreen"
        assert host.context.display_mode == "fullscreen"
        assert await host.request_display_mode("fullscreen") == "fullscreen"
        assert await host.request_display_mode("pip") == "fullscreen"
        assert await host.request_display_mode("cinema") == "fullscreen"
        assert wanted == ["fullscreen", "pip"]
    view = PythonView(offer=ViewOffer(display_modes=("inline",)))
    async with shown(client, view, on_display_mode=mode, context=context) as shows:
        assert await shows.view.host.request_display_mode("fullscreen") == "inline"


async def test_sampling_is_the_host_s(client: Client) -> None:
    async def write(params: Json) -> CreateMessageResult:
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text="!"), model="m")

    async with shown(client, on_sampling=write) as shows:
        written = await shows.view.host.create_message([], 5)
        assert (written.model, written.content.text) == ("m", "!")  # type: ignore[union-attr]


async def test_only_what_differs_of_the_context_is_sent(client: Client) -> None:
    async with shown(client, context={"theme": "dark", "locale": "de"}) as shows:
        shows.running.change_context({"theme": "dark", "locale": "en", "timeZone": None})
        shows.running.change_context({"locale": "en"})
        await ask(shows, "ping", {})
        assert shows.posted("ui/notifications/host-context-changed") == [{"locale": "en"}]
        assert (shows.view.host.context.theme, shows.view.host.context.locale) == ("dark", "en")


async def test_a_view_s_own_tools(client: Client) -> None:
    handlers = {
        "tools/list": lambda _: {"tools": [{"name": "zoom", "inputSchema": {"type": "object"}}]},
        "tools/call": lambda params: {"content": [{"type": "text", "text": json.dumps(params["arguments"])}]},
    }
    async with shown(client, PythonView(**handlers)) as shows:
        assert [tool.name for tool in (await shows.running.list_tools()).tools] == ["zoom"]
        called = await shows.running.call_tool("zoom", {"by": 2})
        assert called.content[0].text == '{"by": 2}'  # type: ignore[union-attr]
    async with shown(client) as shows:
        with pytest.raises(AppError, match="does not offer tools/list"):
            await shows.running.list_tools()
        shows.place.windows[0].peer = None
        with pytest.raises(AppTimeout):
            await shows.running.request("ping", {}, within=0.001)
        shows.place.windows[0].peer = shows.view.window


async def test_floods_are_bounded(client: Client) -> None:
    refused: list[Refused] = []
    gate = asyncio.Event()

    async def slow(url: str) -> bool:
        await gate.wait()
        return True

    def note(event: Any) -> None:
        if isinstance(event, Refused):
            refused.append(event)

    async with shown(client, on_link=slow, on_event=note) as shows:
        for height in range(5000):
            shows.view.host.report_size(100, height)
        asked = [asyncio.ensure_future(shows.view.host.open_link("https://example.org/")) for _ in range(150)]
        await asyncio.sleep(0)
        assert await ask(shows, "tools/list", {}) == {"code": -32603}
        gate.set()
        answers = await asyncio.gather(*asked, return_exceptions=True)
        assert sum(isinstance(answer, HostError) for answer in answers) == 50
        assert len(refused) == 51


async def test_a_view_that_is_not_inline_does_not_resize_its_frame(client: Client) -> None:
    async with shown(client, context={"displayMode": "fullscreen"}) as shows:
        shows.view.host.report_size(10, 20)
        await ask(shows, "ping", {})
        await asyncio.sleep(0.05)
        assert shows.running.size == (10, 20)
        assert shows.place.windows[0].sizes == [(100_000, None)]


@contextlib.asynccontextmanager
async def slow_server() -> AsyncIterator[tuple[Client, asyncio.Event, asyncio.Event]]:
    apps = Apps()
    began, ended = asyncio.Event(), asyncio.Event()

    @apps.tool(resource_uri=URI)
    async def wait(ctx: Context[Any]) -> str:
        await ctx.report_progress(1, 2, "half")
        began.set()
        try:
            await asyncio.sleep(1000)
        finally:
            ended.set()
        return ""

    apps.add_html_resource(URI, "<p>")
    async with Client(MCPServer("slow", extensions=[apps])) as client:
        yield client, began, ended


async def test_the_end_of_a_view_cancels_what_it_has_asked() -> None:
    async with slow_server() as (client, began, ended), shown(client, tool=URI) as other:
        async with shown(client, tool=URI) as shows:
            asked = asyncio.ensure_future(shows.view.host.call_tool("wait"))
            await began.wait()
            shows.view.session.post({"jsonrpc": "2.0", "id": 0, "method": "ui/initialize", "params": {}})
            assert isinstance((await shows.running.ended()).error, PeerGone)
            await ended.wait()
            asked.cancel()
        assert await ask(other, "ping", {}) == {}
        assert [tool.name for tool in (await client.list_tools()).tools] == ["wait"]


async def test_a_view_can_cancel_what_it_has_asked_and_sees_progress() -> None:
    async with slow_server() as (client, began, ended), shown(client, tool=URI) as shows:
        progress: list[Any] = []
        asked = asyncio.ensure_future(
            shows.view.host.call_tool("wait", on_progress=lambda *given: progress.append(given))
        )
        await began.wait()
        await ask(shows, "ping", {})
        assert progress == [(1, 2, "half")]
        asked.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asked
        await ended.wait()


async def test_a_host_that_gives_up_tells_the_view() -> None:
    async with slow_server() as (client, began, _), shown(client, tool="wait") as shows:
        calling = asyncio.ensure_future(shows.running.call())
        await began.wait()
        calling.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await calling
        await ask(shows, "ping", {})
        assert shows.posted("ui/notifications/tool-cancelled") == [{"reason": "The call was cancelled."}]


class Resources:
    """A client with one resource, as a test wants it."""

    class server_capabilities:  # noqa: N801
        tools = prompts = None
        resources = True

    def __init__(self, *contents: Json, listed: Json | None = None) -> None:
        self._contents = contents
        self._listed = listed or {}

    async def read_resource(self, uri: str) -> Any:
        return type("Result", (), {"contents": list(self._contents)})()

    async def list_resources(self, cursor: str | None = None) -> Any:
        return {"resources": [{"uri": URI, "name": "a", **self._listed}]}

    list_resource_templates = list_resources


VIEW = {"uri": URI, "mimeType": "text/html;profile=mcp-app", "text": "<p>"}


@pytest.mark.parametrize(
    ("contents", "hint"),
    [
        ([], "another resource"),
        ([{**VIEW, "uri": "ui://bank/transfer"}], "another resource"),
        ([{**VIEW, "mimeType": "text/html"}], "its type is 'text/html'"),
        ([{**VIEW, "mimeType": None}], "its type is None"),
        ([{"uri": URI, "mimeType": VIEW["mimeType"], "blob": "?"}], "not a text in UTF-8"),
        ([{"uri": URI, "mimeType": VIEW["mimeType"], "blob": "/w=="}], "not a text in UTF-8"),
        ([{**VIEW, "text": "x" * (LARGEST_VIEW + 1)}], "16,777,217 characters"),
    ],
)
async def test_what_is_no_view(contents: list[Json], hint: str) -> None:
    with pytest.raises(AppError, match=hint):
        await ViewServer(Resources(*contents)).read_view(URI)  # type: ignore[arg-type]


async def test_where_a_view_is_read_from() -> None:
    blob = {"uri": URI, "mimeType": "text/html; profile=mcp-app", "blob": "PHA+"}
    other = {**VIEW, "uri": "ui://other", "text": "other"}
    read = await ViewServer(Resources(other, blob)).read_view(URI)  # type: ignore[arg-type]
    assert (read.html, read.ui) == ("<p>", {})
    ui = {"csp": {"connectDomains": ["https://a.example"]}}
    listed = Resources(VIEW, listed={"_meta": {"ui": ui}})
    assert (await ViewServer(listed).read_view(URI)).ui == ui  # type: ignore[arg-type]
    both = Resources({**VIEW, "_meta": {"ui": {"prefersBorder": True}}}, listed={"_meta": {"ui": ui}})
    assert (await ViewServer(both).read_view(URI)).ui == {"prefersBorder": True}  # type: ignore[arg-type]


async def test_options_that_cannot_be(client: Client) -> None:
    with pytest.raises(ValueError, match="not a permission of a view"):
        AppHost(client, "forecast", sandbox=SANDBOX, permissions=["usb"])
    with pytest.raises(TypeError):
        AppHost(client, "forecast", sandbox=SANDBOX, on_lnik=print)
    with pytest.raises(Exception, match="pass AppHost the address"):
        AppHost(client, "forecast")
    for address in ("javascript:alert(1)", "sandbox.html", "file:///sandbox.html"):
        with pytest.raises(Exception, match=r"framed|address"):
            AppHost(client, "forecast", sandbox=address)
    assert AppHost.extension().identifier == "io.modelcontextprotocol/ui"
    assert FakePlace(HOST, PythonView()).windows == []
