"""The view of a tool, beside its result: the inspector as a host of MCP Apps."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from inspector.results.result import json_tree
from inspector.session.calling import Calling, duration
from inspector.session.connection import Connection
from inspector.session.telling import sentence, wire
from inspector.views.activity import Activity
from inspector.views.controls import ViewControls
from inspector.views.hooks import ViewHooks
from inspector.views.live_view import Hosting, LiveView
from inspector.views.own_page import OwnPage
from mcpframe import Element, Page, errors
from mcpframe.hosts import AppHost, HostProfile, RunningView, partial_arguments

STEPS = 12
"""The number of pieces of streamed arguments."""
PACE = 0.08
"""Seconds between two pieces: about as fast as a model writes."""
PATIENCE = 30.0
"""Seconds that a call waits for the view to be ready for streamed arguments."""


@dataclass
class Shown:
    """A tool call shown by a view.

    Attributes:
        result: its result on the wire; None without one.
        cancelled: the reason if there is no result.
        over: set once it has a result or was cancelled.
        given: set once the view has the arguments, or cannot get them.
    """

    arguments: Mapping[str, Any]
    result: dict[str, Any] | None = None
    cancelled: str = ""
    over: asyncio.Event = field(default_factory=asyncio.Event)
    given: asyncio.Event = field(default_factory=asyncio.Event)


class ToolView(LiveView[RunningView]):
    """The view of one tool.

    Attributes:
        shown: the last call shown; None before the first one.
    """

    _controls: ViewControls

    def __init__(
        self, page: Page, place: Element, connection: Connection, tool: Mapping[str, Any], hosting: Hosting
    ) -> None:
        """Build the region; nothing is framed yet.

        Args:
            connection: the connection to the server.
            tool: the tool, from `tools/list`.
            hosting: the inspector's services for views.
        """
        super().__init__(page, place, "View")
        self.shown: Shown | None = None
        self._connection = connection
        self._name = str(tool["name"])
        self._title = str(tool.get("title") or self._name)
        self._hosting = hosting
        self._controls = ViewControls(page, self._region, self._on_change, self.reload)
        self._add_stage()
        self._activity = Activity(page, self._region)
        self._tools = self._region.add("details", class_="insp-more", hidden=True)
        self._policy = self._region.add("details", class_="insp-more", hidden=True)

    async def begin(self, arguments: Any) -> Shown:
        """Show a call whose result follows with `over`; if arguments are streamed, wait until the view has them."""
        shown = Shown(arguments if isinstance(arguments, Mapping) else {})
        await self._show(shown)
        if self._controls.streams:
            with suppress(TimeoutError):
                await asyncio.wait_for(shown.given.wait(), PATIENCE)
        return shown

    async def replay(self, shown: Shown) -> None:
        """Show an earlier or a running call in a reloaded view."""
        await self._show(shown)

    async def reload(self) -> None:
        """Reload the view, with the same call."""
        if self.shown:
            await self.replay(self.shown)

    # Internals

    async def _show(self, shown: Shown) -> None:
        await self._clear()
        self.shown = shown
        for old in (self._tools, self._policy):
            old.clear()
            old.hidden = True
        self._begin()

    def _open(self) -> AbstractAsyncContextManager[RunningView]:
        return self._host().show(self._frame, reason="The inspector removes the view.")

    async def _ended(self, running: RunningView) -> str:
        error = (await running.ended()).error
        return f"The view has ended. {sentence(error) if error else ''}".strip()

    def _over(self) -> None:
        self._frame.js.style.visibility = ""
        if self.shown is not None:
            self.shown.given.set()

    def _host(self) -> AppHost:
        hooks = ViewHooks(self._page, self._title, self._activity)
        client: Any = self._connection.ready
        if self._hosting.is_own():
            client = OwnPage(client, self._connection.server.url, self._on_replaced)
        return AppHost(
            client,
            self._name,
            sandbox=self._hosting.sandbox() or None,
            own_origin=self._hosting.is_own(),
            context=self._controls.surroundings.context(),
            name="mcpframe-inspector",
            permissions=self._controls.granted,
            wasm=self._controls.wasm,
            profile=self._profile,
            on_wire=lambda message: self._hosting.on_wire(message, "view"),
            on_link=hooks.on_link,
            on_message=hooks.on_message,
            on_download=hooks.on_download,
            on_model_context=hooks.on_model_context,
            on_sampling=hooks.on_sampling,
            on_log=hooks.on_log,
            on_display_mode=self._on_mode,
            on_tools_changed=lambda: self._page.run(self._show_tools, "Asking for the tools of the view"),
            on_teardown_request=self._on_teardown_request,
        )

    @property
    def _profile(self) -> HostProfile | None:
        """The chosen profile. The address of the user's own page stands for the published one, whatever its scheme."""
        profile = self._controls.profile
        return replace(profile, schemes=()) if profile and self._hosting.is_own() else profile

    async def _feed(self, view: RunningView) -> None:
        """Show the view its call."""
        shown = self.shown
        assert shown is not None
        start = time.monotonic()
        self._show_policy(view)
        self._controls.show_permissions(view.policy.permissions)
        if not self._controls.streams:
            view.input(shown.arguments)
        self._frame.js.style.visibility = "hidden" if self._profile and self._profile.hidden else ""
        await view.initialized()
        self._frame.js.style.visibility = ""
        self._status.text = f"Ready after {duration(time.monotonic() - start)}."
        await self._show_tools()
        if self._controls.streams:
            for part in partial_arguments(shown.arguments, STEPS):
                view.input_partial(part)
                await asyncio.sleep(PACE)
            view.input(shown.arguments)
        shown.given.set()
        await shown.over.wait()
        if shown.result is None:
            view.cancelled(shown.cancelled)
        else:
            view.result(shown.result)

    async def _show_tools(self) -> None:
        view = self._running
        if view is None or "tools" not in view.capabilities:
            return
        try:
            tools = [wire(tool) for tool in (await view.list_tools()).tools]
        except errors.McpFrameError as error:
            self._activity.note("No tools", sentence(error))
            return
        self._tools.clear()
        self._tools.hidden = not tools
        self._tools.add("summary", f"Tools of the view ({len(tools)})")
        for tool in tools:
            self._tools.add("h5", tool["name"])
            if tool.get("description"):
                self._tools.add("p", tool["description"], class_="quiet")

            async def call(arguments: Any, _: Any, name: str = tool["name"]) -> dict[str, Any]:
                return wire(await view.call_tool(name, arguments))

            schema, label = tool.get("inputSchema"), f"Arguments of the view's {tool['name']}"
            Calling(self._page, self._tools, schema, f"Call {tool['name']}", call, label=label, read=None)

    def _show_policy(self, view: RunningView) -> None:
        self._policy.clear()
        self._policy.hidden = False
        self._policy.add("summary", "What it declares")
        granted = {"csp": view.policy.csp, "refused": list(view.policy.refused)}
        json_tree(self._page, self._policy.add("div"), {"declared": dict(view.resource.ui), **granted})

    def _on_replaced(self, published: str) -> None:
        self._activity.note("Own page", f"Framed in place of {published}")

    def _on_change(self) -> None:
        super()._on_change()
        if self._running is not None:
            self._running.change_context(self._controls.surroundings.context())

    def _on_mode(self, mode: str) -> str:
        self._activity.note("Display mode", mode)
        self._controls.choose_mode(mode)
        self._stage.set("data-mode", mode)
        return mode

    def _on_teardown_request(self) -> None:
        self._activity.note("It asks to be removed")
        self._stop.set()

    def _become(self, mode: str) -> None:
        super()._become(mode)
        if self._running is not None:
            self._running.change_context({"displayMode": mode})
