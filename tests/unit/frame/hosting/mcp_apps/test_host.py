"""`AppHost` in memory: a view of our own on the other side of its sandbox, and a real server behind the client."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from mcp import Client
from mcp.server.mcpserver import Context

from mcpframe.frame.core.errors import AppError, HandshakeTimeout, HostError, HostLacks, PeerGone, StateError
from mcpframe.frame.core.places import POPUP
from mcpframe.frame.core.roles import Options
from mcpframe.frame.host_api.context import ToolInput, ToolInputPartial, ToolResult
from mcpframe.frame.hosting.mcp_apps.host import AppHost
from mcpframe.frame.hosting.mcp_apps.view import RunningView
from mcpframe.hosts import HOST_PROFILES
from tests.support.app_view import HOST, HTML, ORIGIN, SANDBOX, URI, PythonView, weather
from tests.support.fake_place import FakePlace


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with Client(weather()) as client:
        yield client


class Shown:
    """A view that is shown.

    Attributes:
        running: the host's side.
        view: the view's side.
        place: where it is.
    """

    def __init__(self, running: RunningView, view: PythonView, place: FakePlace) -> None:
        self.running = running
        self.view = view
        self.place = place

    def posted(self, method: str) -> list[dict[str, Any]]:
        """Return the parameters of what the host has posted."""
        return [message.get("params") for message, _ in self.place.windows[0].posted if message.get("method") == method]


@contextlib.asynccontextmanager
async def shown(
    client: Client, view: PythonView | None = None, tool: str = "forecast", **options: Any
) -> AsyncIterator[Shown]:
    view = view or PythonView()
    place = FakePlace(HOST, view)
    async with AppHost(client, tool, sandbox=SANDBOX, **options).show(place) as running:
        await running.initialized()
        await view.done.wait()
        yield Shown(running, view, place)
    assert place.windows[0].removed


async def test_the_sandbox_gets_the_view_with_its_policy(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    async with shown(client, permissions=["camera", "microphone"]) as shows:
        framing, handed = shows.view.framing, shows.view.handed
    assert framing.url == SANDBOX
    assert framing.sandbox == "allow-scripts allow-same-origin allow-forms"
    assert (framing.allow, framing.title, framing.visible) == ("camera", "forecast", True)
    assert (handed["html"], handed["sandbox"], handed["allow"]) == (HTML, "allow-scripts allow-forms", "camera")
    assert handed["permissions"] == {"camera": {}}
    assert handed["csp"] == {"connectDomains": ["https://api.weather.example"]}
    assert "connect-src https://api.weather.example;" in handed["policy"]
    assert "script-src *" not in handed["policy"]
    assert "script-src *" in caplog.text
    assert {target for _, target in shows.place.windows[0].posted} == {ORIGIN}


@pytest.mark.parametrize("own_origin", [False, True])
async def test_a_view_is_shown_as_another_host_shows_it_but_gets_no_origin_by_that(
    client: Client, own_origin: bool
) -> None:
    for profile in HOST_PROFILES.values():
        async with shown(client, profile=profile, own_origin=own_origin) as shows:
            handed = shows.view.handed
        csp = {"connectDomains": ["https://api.weather.example"]}
        assert handed["html"] == profile.document(HTML, csp)
        assert handed["policy"] == [*filter(None, profile.policies(csp)), "form-action 'none'"]
        assert ("allow-same-origin" in handed["sandbox"]) is (own_origin and profile.same_origin)


async def test_what_a_view_learns_of_its_host(client: Client) -> None:
    context = {"theme": "dark", "locale": "de-AT"}
    async with shown(client, name="Chat", version="3", context=context, on_link=lambda url: True) as shows:
        host = shows.view.host
        assert (host.name, host.version) == ("Chat", "3")
        assert (host.context.theme, host.context.locale, host.context.display_mode) == ("dark", "de-AT", "inline")
        assert host.context.tool is not None
        assert host.context.tool["name"] == "forecast"
        assert set(host.capabilities) == {"serverTools", "serverResources", "openLinks", "sandbox"}
        assert host.capabilities["sandbox"]["csp"] == {"connectDomains": ["https://api.weather.example"]}
        assert dict(shows.running.info) == {"name": "a view", "version": "1.2"}
        assert shows.running.policy.prefers_border is True


async def test_a_call_is_shown_in_order(client: Client) -> None:
    events: list[Any] = []

    async def code(view: PythonView) -> None:
        async for event in view.host.tool_events():
            events.append(event)
            if isinstance(event, ToolResult):
                return

    view = PythonView(code)
    async with AppHost(client, "forecast", sandbox=SANDBOX).show(FakePlace(HOST, view)) as running:
        running.input_partial({"place": "W"})
        running.input_partial({"place": "Wi"})
        await running.initialized()
        running.input_partial({"place": "Wie"})
        result = await running.call({"place": "Wien"})
        await view.done.wait()
    assert result.structured_content == {"place": "Wien", "degrees": 21, "wind": None}
    assert [event for event in events if isinstance(event, ToolInputPartial)] in (
        [ToolInputPartial({"place": "Wie"})],
        [ToolInputPartial({"place": "Wi"}), ToolInputPartial({"place": "Wie"})],
        [],
    )
    assert events[-2] == ToolInput({"place": "Wien"})
    assert events[-1].structured == {"place": "Wien", "degrees": 21, "wind": None}


async def test_nothing_is_sent_before_the_view_is_ready(client: Client) -> None:
    view = PythonView()
    view.may_start.clear()
    place = FakePlace(HOST, view)
    async with AppHost(client, "forecast", sandbox=SANDBOX).show(place) as running:
        await running.call({"place": "Wien"})
        running.change_context({"theme": "dark"})
        running.list_changed("tools")
        view.may_start.set()
        await running.initialized()
        methods = [message.get("method") for message, _ in place.windows[0].posted]
        assert methods == [
            "ui/notifications/sandbox-resource-ready",
            None,  # the answer to ui/initialize
            "ui/notifications/tool-input",
            "ui/notifications/tool-result",
        ]
        assert place.windows[0].posted[1][0]["result"]["hostContext"]["theme"] == "dark"


async def test_a_call_has_one_input_and_one_end(client: Client) -> None:
    async with shown(client) as shows:
        with pytest.raises(StateError, match="arguments come first"):
            shows.running.result({"content": []})
        shows.running.input({"place": "Wien"})
        for late in (shows.running.input, shows.running.input_partial):
            with pytest.raises(StateError, match="complete"):
                late({})
        shows.running.cancelled("enough")
        with pytest.raises(StateError, match="over"):
            shows.running.result({"content": []})
        with pytest.raises(HostError, match="enough"):
            await shows.view.host.tool_result()
        assert shows.posted("ui/notifications/tool-cancelled") == [{"reason": "enough"}]


async def test_a_view_calls_the_tools_that_are_for_views(client: Client) -> None:
    async with shown(client) as shows:
        host = shows.view.host
        assert (await host.call_tool("refresh")).content[0].text == "fresh"  # type: ignore[union-attr]
        assert (await host.call_tool("plain", {"text": "a"})).content[0].text == "a"  # type: ignore[union-attr]
        for name in ("erase", "nothing"):
            with pytest.raises(HostError) as refused:
                await host.call_tool(name)
            assert refused.value.code == -32602
        assert [tool.name for tool in (await host.list_tools()).tools] == ["forecast", "refresh", "plain"]
        assert (await host.read_resource("data://stations")).contents[0].text == "Wien"  # type: ignore[union-attr]
        assert URI in [str(resource.uri) for resource in (await host.list_resources()).resources]
        assert (await host.list_resource_templates()).resource_templates == []
        assert [prompt.name for prompt in (await host.list_prompts()).prompts] == ["ask"]
        with pytest.raises(HostError):
            await host.read_resource("data://nothing")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_view_calls_a_tool_that_its_server_has_added(mode: str) -> None:
    """As the documentation says: from the client's message handler, and with an open stream of changes."""
    server, views, answers = weather(), list[RunningView](), list[Any]()

    @server.tool()
    async def learn(ctx: Context[Any, Any]) -> str:
        server.add_tool(lambda: "new", name="added", description="Added while the server runs.")
        await ctx.notify_tools_changed()
        if mode == "legacy":
            await ctx.session.send_tool_list_changed()
        return "learned"

    async def pass_on(message: object) -> None:
        if getattr(message, "method", None) == "notifications/tools/list_changed":
            for view in views:
                view.list_changed("tools")

    async def code(view: PythonView) -> None:
        changed = asyncio.Event()
        view.host.on_list_changed(lambda kind: changed.set() if kind == "tools" else None)
        with contextlib.suppress(HostError):
            answers.append(await view.host.call_tool("added"))
        await view.host.call_tool("learn")
        await changed.wait()
        answers.append("added" in [tool.name for tool in (await view.host.list_tools()).tools])
        answers.append((await view.host.call_tool("added")).content[0].text)

    async with contextlib.AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(server, mode=mode, message_handler=pass_on))
        if mode == "auto":
            await stack.enter_async_context(client.listen(tools_list_changed=True))
        place = FakePlace(HOST, view := PythonView(code))
        views.append(await stack.enter_async_context(AppHost(client, "forecast", sandbox=SANDBOX).show(place)))
        await view.done.wait()
    assert answers == [True, "new"]


async def test_what_a_host_does_not_offer_is_an_error(client: Client) -> None:
    async with shown(client) as shows:
        host = shows.view.host
        for asking in (
            host.open_link("https://x.example/"),
            host.send_message("Hi"),
            host.update_model_context("Hi"),
            host.download("a.txt", "a"),
            host.create_message([], 5),
        ):
            with pytest.raises(HostLacks):
                await asking
        assert await host.request_display_mode("fullscreen") == "inline"


async def test_a_teardown_waits_for_the_view_and_then_it_is_removed(client: Client) -> None:
    reasons: list[str] = []

    async def code(view: PythonView) -> None:
        async def last(reason: str) -> None:
            assert not place.windows[0].removed
            reasons.append(reason)

        view.host.on_teardown(last)

    view = PythonView(code)
    place = FakePlace(HOST, view)
    async with AppHost(client, "forecast", sandbox=SANDBOX).show(place, reason="done") as running:
        await view.done.wait()
        assert running.session.connection.origin == ORIGIN
    assert reasons == ["done"]
    assert place.windows[0].removed


async def test_a_view_that_does_not_prepare_in_time_is_removed(client: Client) -> None:
    async def code(view: PythonView) -> None:
        async def forever(_: str) -> None:
            await asyncio.sleep(1000)

        view.host.on_teardown(forever)

    async with shown(client, PythonView(code), teardown=0.05):
        pass


async def test_a_view_that_never_speaks_fails_its_handshake_and_nothing_else(client: Client) -> None:
    async def silent(window: Any, framing: Any) -> None:
        pass

    place = FakePlace(HOST, silent)
    options = Options(handshake_timeout=0.05)
    async with AppHost(client, "forecast", sandbox=SANDBOX, options=options).show(place) as running:
        with pytest.raises(HandshakeTimeout):
            await running.initialized()
        assert isinstance((await running.ended()).error, HandshakeTimeout)
        assert (await running.call({"place": "Wien"})).structured_content is not None
    assert place.windows[0].posted == []
    assert (await client.call_tool("plain", {"text": "a"})).content[0].text == "a"  # type: ignore[union-attr]


async def test_a_view_that_is_reloaded_ends_and_others_go_on(client: Client) -> None:
    async with shown(client) as other, shown(client) as shows:
        asked = asyncio.ensure_future(shows.running.request("ping", {}))
        await asyncio.sleep(0)
        shows.view.session.post({"jsonrpc": "2.0", "id": 0, "method": "ui/initialize", "params": {}})
        assert isinstance((await shows.running.ended()).error, PeerGone)
        with contextlib.suppress(AppError):
            await asked
        assert (await other.view.host.call_tool("refresh")).content[0].text == "fresh"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("tool", "hint"), [("nothing", "no tool 'nothing'"), ("plain", "no view"), ("ui://nowhere", "nowhere")]
)
async def test_what_has_no_view_is_an_error(client: Client, tool: str, hint: str) -> None:
    place = FakePlace(HOST, PythonView())
    with pytest.raises(Exception, match=hint):
        async with AppHost(client, tool, sandbox=SANDBOX).show(place):
            raise AssertionError
    assert place.windows == []


async def test_a_view_is_not_shown_in_a_popup(client: Client) -> None:
    with pytest.raises(StateError, match="has no sandbox"):
        async with AppHost(client, "forecast", sandbox=SANDBOX).show(POPUP):
            raise AssertionError


async def test_a_view_by_its_address_belongs_to_no_tool(client: Client) -> None:
    async with shown(client, tool=URI) as shows:
        assert shows.view.host.context.tool is None
        with pytest.raises(StateError, match="by its address"):
            await shows.running.call({})
