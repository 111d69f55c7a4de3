"""The view of a tool, beside its result: the inspector as a host of MCP Apps."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from connection import Connection
from mcpframe import AppHost, Page
from mcpframe.frame.app_host import RunningView
from mcpframe.frame.core.errors import McpFrameError
from mcpframe.frame.core.events import Wire
from mcpframe.frame.elements import Element
from mcpframe.frame.partial_arguments import partial_arguments
from own_page import OwnPage
from panels.calling import Calling, duration
from results import json_tree
from telling import sentence, wire
from view_activity import Activity
from view_controls import ViewControls
from view_hooks import ViewHooks

STEPS = 12
"""In how many pieces arguments are streamed."""
PACE = 0.08
"""Seconds between two pieces: about as fast as a model writes."""
PATIENCE = 30.0
"""Seconds that a call waits for the view to be ready for streamed arguments."""


@dataclass(frozen=True)
class Hosting:
    """What views need of the inspector.

    Attributes:
        sandbox: returns the address of the sandbox proxy; empty if there is none.
        is_own: returns whether the server is one of the user's own projects, which were named on the command line. Its
            views have the sandbox's origin, and frame its page where they would frame the published one.
        on_wire: called with every message between the inspector and a view.
    """

    sandbox: Callable[[], str]
    is_own: Callable[[], bool]
    on_wire: Callable[[Wire], None]


@dataclass
class Shown:
    """A tool call that a view shows.

    Attributes:
        arguments: its arguments.
        result: its result as it is on the wire; None before, and if there is none.
        cancelled: why there is no result.
        over: set once it has a result or was cancelled.
        given: set once the view has the arguments, or cannot get them.
    """

    arguments: Mapping[str, Any]
    result: dict[str, Any] | None = None
    cancelled: str = ""
    over: asyncio.Event = field(default_factory=asyncio.Event)
    given: asyncio.Event = field(default_factory=asyncio.Event)


class ToolView:
    """The view of one tool.

    Attributes:
        shown: the call that it shows last; None before the first one.
    """

    def __init__(
        self, page: Page, place: Element, connection: Connection, tool: Mapping[str, Any], hosting: Hosting
    ) -> None:
        """Build the region; nothing is framed yet.

        Args:
            page: the page.
            place: where to.
            connection: the connection to the server.
            tool: the tool as `tools/list` has it.
            hosting: what the inspector has for views.
        """
        self.shown: Shown | None = None
        self._page = page
        self._connection = connection
        self._name = str(tool["name"])
        self._title = str(tool.get("title") or self._name)
        self._hosting = hosting
        self._running: RunningView | None = None
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        region = place.add("section", role="region", aria_label="View", class_="insp-view")
        head = region.add("div", class_="insp-row")
        head.add("h4", "View")
        self._status = head.add("span", role="status", class_="quiet")
        self._again = head.add("button", "Reload", type="button", class_="small", hidden=True)
        self._remove = head.add("button", "Tear down", type="button", class_="small", hidden=True)
        self._controls = ViewControls(page, region, self._on_change)
        self._problem = region.add("p", role="alert", class_="insp-problem", hidden=True)
        self._stage = region.add("div", class_="insp-stage", data_mode="inline")
        back = self._stage.add("button", "Back to inline", type="button", class_="insp-stage-back")
        self._frame = self._stage.add("div", class_="insp-view-frame")
        self._activity = Activity(page, region)
        self._tools = region.add("details", class_="insp-more", hidden=True)
        self._policy = region.add("details", class_="insp-more", hidden=True)
        self._again.on("click", self.reload)
        self._remove.on("click", self.close)
        back.on("click", lambda: self._become("inline"))

    async def begin(self, arguments: Any) -> Shown:
        """Show a call whose result follows with `over`; if arguments are streamed, wait until the view has them."""
        shown = Shown(arguments if isinstance(arguments, Mapping) else {})
        await self._show(shown)
        if self._controls.streams:
            with suppress(TimeoutError):
                await asyncio.wait_for(shown.given.wait(), PATIENCE)
        return shown

    async def replay(self, shown: Shown) -> None:
        """Show an earlier call again, in a view that is read again."""
        await self._show(Shown(shown.arguments, shown.result, shown.cancelled, shown.over))

    async def reload(self) -> None:
        """Read the view again, with the same call."""
        if self.shown:
            await self.replay(self.shown)

    async def close(self) -> None:
        """Tear the view down."""
        task, self._task = self._task, None
        self._stop.set()
        if task is not None:
            await asyncio.wait([task])

    # How

    async def _show(self, shown: Shown) -> None:
        await self.close()
        self.shown = shown
        self._stop = asyncio.Event()
        self._activity.clear()
        for old in (self._tools, self._policy):
            old.clear()
            old.hidden = True
        self._problem.hidden = True
        if not self._hosting.sandbox():
            self._tell_problem("Views need a sandbox on another origin, which only mcpframe inspect and dev serve.")
            shown.given.set()
            return
        self._task = asyncio.ensure_future(self._hold(shown, self._stop))

    async def _hold(self, shown: Shown, stop: asyncio.Event) -> None:
        """Show the view until it ends or is to be removed: one task opens and closes it."""
        try:
            self._status.text = "Starting …"
            self._again.hidden = self._remove.hidden = False
            async with self._host().show(self._frame, reason="The inspector removes the view.") as view:
                self._running = view
                self._show_policy(view)
                feeding = asyncio.ensure_future(self._feed(view, shown))
                ended = asyncio.ensure_future(view.ended())
                stopped = asyncio.ensure_future(stop.wait())
                try:
                    await asyncio.wait((ended, stopped), return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for task in (feeding, ended, stopped):
                        task.cancel()
                    await asyncio.gather(feeding, stopped, return_exceptions=True)
                if ended.done() and not ended.cancelled() and not stop.is_set():
                    error = ended.result().error
                    self._tell_problem(f"The view has ended. {sentence(error) if error else ''}".strip())
            self._status.text = "Removed."
        except Exception as error:  # noqa: BLE001  any failure of a view is shown beside the result
            self._tell_problem(sentence(error))
        finally:
            self._running = None
            self._remove.hidden = True
            self._become("inline")
            shown.given.set()

    def _host(self) -> AppHost:
        hooks = ViewHooks(self._page, self._title, self._activity)
        client: Any = self._connection.ready
        if self._hosting.is_own():
            client = OwnPage(client, self._connection.server.url, self._on_replaced)
        return AppHost(
            client,
            self._name,
            sandbox=self._hosting.sandbox(),
            own_origin=self._hosting.is_own(),
            context=self._controls.surroundings.context(),
            name="mcpframe-inspector",
            wasm=self._controls.wasm,
            on_wire=self._hosting.on_wire,
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

    async def _feed(self, view: RunningView, shown: Shown) -> None:
        """Show the view its call."""
        start = time.monotonic()
        if not self._controls.streams:
            view.input(shown.arguments)
        await view.initialized()
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
        except McpFrameError as error:
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
        surroundings = self._controls.surroundings
        self._become(surroundings.mode)
        width = f"{surroundings.width}px" if surroundings.width else ""
        self._frame.js.style.width = f"min({width}, 100%)" if width else ""
        if self._running is not None:
            self._running.change_context(surroundings.context())

    def _on_mode(self, mode: str) -> str:
        self._activity.note("Display mode", mode)
        self._controls.choose_mode(mode)
        self._stage.set("data-mode", mode)
        return mode

    def _on_teardown_request(self) -> None:
        self._activity.note("It asks to be removed")
        self._stop.set()

    def _become(self, mode: str) -> None:
        self._stage.set("data-mode", mode)
        self._controls.choose_mode(mode)
        if self._running is not None:
            self._running.change_context({"displayMode": mode})

    def _tell_problem(self, problem: str) -> None:
        self._status.text = ""
        self._problem.text = problem
        self._problem.hidden = False
