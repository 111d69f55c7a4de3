"""The view of one server: a header with buttons, its page, and the tabs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import mcp_types as types
from mcp import Client

from inspector.panels.about import NO_STORAGE, About, lacks_storage
from inspector.panels.logs import Logs, line_of
from inspector.panels.preview import Preview
from inspector.panels.prompts import Prompts
from inspector.panels.resources import Resources
from inspector.panels.tools import Tools
from inspector.results.result import raised_in
from inspector.session.connection import Connection
from inspector.session.servers import DIALECTS, ERAS, Server
from inspector.session.telling import sentence
from inspector.views.live_view import Hosting
from inspector.widgets.tabs import Tabs
from inspector.wire.log import WireLog
from inspector.wire.timeline import Timeline
from inspector.wire.timeline_view import TimelineView
from inspector.wire.view import WireView
from mcpframe import Element, Page
from mcpframe.wire import Wire

_STATES = {
    "idle": "Not connected",
    "setting up": "Being set up …",
    "connecting": "Connecting …",
    "connected": "Connected",
    "ending": "Disconnecting …",
    "failed": "Not connected",
}
_UNRESPONSIVE = "Not responding"
_HANGS = (
    "The server's page does not answer: a tool may compute without an end. Wait, or end the session and open the page "
    "anew; its calls fail then. A server in a worker (runs_in) can be stopped instead."
)


class ServerView:
    """The view of one server.

    Attributes:
        connection: the connection to the server.
    """

    def __init__(
        self,
        page: Page,
        server: Server,
        origin: str,
        *,
        sandbox: Callable[[], str],
        is_own: Callable[[str], bool],
        sample: Callable[[], Mapping[str, Any]],
        changed: Callable[[], None],
        toast: Callable[[str], None],
        remove: Callable[[Server], Awaitable[None]],
        said: Callable[[str], None],
    ) -> None:
        """Build the view.

        Args:
            origin: the inspector's origin.
            sandbox: as for `Hosting`.
            is_own: returns whether the server at an address is one of the user's own projects.
            sample: returns the tool call to show in the server's own page as a view; empty for none.
            changed: called when stored data, or the entry in the list of servers, has changed.
            toast: shows a message for a moment.
            said: called with what the server logs, and with the errors of its tools.
        """
        self.server = server
        self._page = page
        self._sandbox = sandbox
        self._is_own = is_own
        self._sample = sample
        self._opened = False
        self._counts = dict.fromkeys(("tools", "resources", "prompts"), 1)  # until they are known
        self._changed = changed
        self._toast = toast
        self._said = said
        self._wire = WireLog()
        self._timeline = Timeline(self._wire)
        self._view = view = page.element("#insp-views").add("section", class_="insp-server", hidden=True)
        head = view.add("header", class_="insp-head")
        names = head.add("div", class_="insp-names")
        self._title = names.add("h2")
        names.add("p", server.url, class_="quiet insp-url")
        controls = head.add("div", class_="insp-row")
        self._state = controls.add("span", role="status", class_="insp-state")
        era = _select(controls, "Protocol", ERAS, server.era)
        self._dialect = _select(controls, "Dialect", DIALECTS, server.dialect)
        self._show = controls.add("button", "Show page", type="button")
        self._connect = controls.add("button", "Connect", type="button")
        self._set_up = controls.add("button", "Set up again", type="button")
        controls.add("button", "Remove", type="button", class_="insp-remove").on("click", lambda: remove(server))
        self._broken = view.add("div", class_="insp-notice", hidden=True)
        self._broken_text = self._broken.add("pre", role="alert", tabindex="0")
        self._notice = view.add("div", class_="insp-notice", hidden=True)
        self._notice_text = self._notice.add("p", role="alert")
        self._retry = self._notice.add("button", "Try again", type="button")
        body = view.add("div", class_="insp-body")
        tabs_place = body.add("div", class_="insp-tabs-place")
        frame_place = body.add("div", class_="insp-frame")
        self.connection = Connection(page, server, frame_place, origin, self)
        self._build_tabs(tabs_place)
        era.on("change", lambda: self._choose_era(era.value))
        self._show.on("click", self._toggle)
        self._connect.on("click", self._on_connect)
        self._dialect.on("change", lambda: self.speak(self._dialect.value))
        self._set_up.on("click", lambda: self._run(setup=True))
        self._retry.on("click", self._on_retry)
        self.changed()

    def _build_tabs(self, place: Any) -> None:
        page, connection, hosting = self._page, self.connection, self._hosting()
        self._tabs = tabs = Tabs(page, place, "What the server offers")
        self._panels = {name: tabs.add(name.capitalize()) for name in ("tools", "resources", "prompts")}
        self._resources = Resources(page, self._panels["resources"], connection, hosting)
        self._lists: dict[str, Tools | Resources | Prompts] = {
            "tools": Tools(page, self._panels["tools"], connection, self._resources.read, hosting),
            "resources": self._resources,
            "prompts": Prompts(page, self._panels["prompts"], connection, self._resources.read, hosting),
        }
        self._preview_panel = tabs.add("As a view")
        self._preview = Preview(page, self._preview_panel, connection, hosting)
        self._logs = Logs(page, tabs.add("Logs"), connection)
        WireView(page, tabs.add("Wire"), self._wire, name=lambda: self.server.name)
        TimelineView(page, tabs.add("Timeline"), self._timeline, self._wire)
        self._about = About(page, tabs.add("About"), connection)

    def _hosting(self) -> Hosting:
        return Hosting(
            sandbox=self._sandbox,
            is_own=lambda: self._is_own(self.server.url),
            on_wire=self._wire.record,
        )

    # Called by the shell

    def select(self, selected: bool) -> None:
        """Show or hide the view; a hidden one keeps running."""
        self._view.hidden = not selected

    async def start(self) -> None:
        """Connect, after a setup if there was none."""
        await self._run(setup=False)

    async def speak(self, dialect: str) -> None:
        """Frame the page in another dialect, and connect to it unless the user has disconnected it."""
        if dialect == self.server.dialect:
            return
        await self.connection.stop()
        self.server.speak(dialect)
        self._dialect.value = dialect
        self.changed()
        if self.server.connect:
            await self._run(setup=False)

    async def rebuilt(self, error: str, *, reconnect: bool) -> None:
        """Show the errors in the files of a server under development, and connect to its new page.

        Args:
            error: the error; empty for none.
            reconnect: whether the page is new. A server that the user has disconnected stays disconnected.
        """
        self._broken.hidden = not error
        self._broken_text.text = error
        if reconnect and self.server.connect:
            await self._run(setup=False)

    async def close(self) -> None:
        """End the connection and remove the view."""
        await self.connection.stop()
        self._view.remove()

    # Callbacks of the connection (`connection.Watcher`)

    def changed(self) -> None:
        """Update the view to the current state."""
        connection, server = self.connection, self.server
        state = connection.state
        self._view.set("aria-label", server.name)
        self._view.set("data-state", state)
        self._title.text = server.name
        version = f" · {connection.client.protocol_version}" if connection.client and state == "connected" else ""
        told = _UNRESPONSIVE if connection.unresponsive else _STATES[state] + version
        if self._state.text != told:  # setting a text announces it, even if it is the same
            self._state.text = told
        self._state.set("data-state", "failed" if connection.unresponsive else state)
        self._connect.text = "Disconnect" if connection.busy else "Connect"
        shown = bool(connection.outer and connection.outer.visible)
        popup = server.place == "popup"
        self._show.hidden = state != "connected" or (not popup and server.visibility != "optional")
        self._show.text = "Bring page to front" if popup else "Hide page" if shown else "Show page"
        self._show.set("title", server.visibility_message or None)
        self._set_up.hidden = not server.spoken.has_setup
        for panel in (*self._panels.values(), self._preview_panel):
            panel.set("inert", state != "connected")
        self._tell_problem()
        self._changed()

    def completed(self, message: str | None) -> None:
        """Show the message of a setup."""
        if message:
            self._toast(message)

    async def connected(self, client: Client) -> None:
        """Fetch all lists."""
        self._about.refresh()
        if lacks_storage(client):
            self._toast(NO_STORAGE)
        await self._logs.connected()
        for which in self._lists:
            await self._refresh(which)
        await self._preview.connected()
        if not self._opened:
            self._opened = True
            await self._open_view()

    async def _open_view(self) -> None:
        """Show the user's own page as a view, if its project has a sample call, or it offers nothing else."""
        if sample := self._sample():
            self._preview.fill(sample)
        if self._is_own(self.server.url) and (sample or not any(self._counts.values())):
            self._tabs.open(self._preview_panel)
            await self._preview.show()

    def logged(self, params: types.LoggingMessageNotificationParams) -> None:
        """Show a log message."""
        self._said(line_of(params))
        self._logs.log(params)

    def notified(self, method: str, params: dict[str, Any]) -> None:
        """Show a notification."""
        self._logs.note(method, params)

    def list_changed(self, which: str) -> None:
        """Fetch a list again."""
        if which in self._lists:
            self._page.run(lambda: self._refresh(which), f"Asking for {which}")

    def framing(self) -> None:
        """Start the timeline again."""
        self._timeline.begin()

    def wired(self, message: Wire, dialect: str) -> None:
        """Log a message."""
        self._wire.record(message, spoken=dialect)
        if message.direction == "received" and (raised := raised_in(message.text or "")):
            self._said(raised)

    def roots(self) -> list[str]:
        return self._about.roots

    # Actions of the user

    async def _refresh(self, which: str) -> None:
        try:
            count = await self._lists[which].refresh()  # raises once it shows what the server does list
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001  the other lists remain useful if one fails
            self._toast(f"{which.capitalize()}: {sentence(error)}")
        else:
            self._counts[which] = count
            self._tabs.count(self._panels[which], str(count))

    async def _run(self, *, setup: bool) -> None:
        self.server.connect = True
        await self.connection.run(setup=setup)

    async def _on_connect(self) -> None:
        if self.connection.busy:
            self.server.connect = False
            await self.connection.stop()
        else:
            await self._run(setup=False)

    async def _on_retry(self) -> None:
        connection = self.connection
        await self._run(setup=connection.setup_required is not None and not connection.unresponsive)

    async def _choose_era(self, era: str) -> None:
        self.server.era = era
        self._changed()
        if self.connection.busy:
            await self._run(setup=False)

    def _toggle(self) -> None:
        outer = self.connection.outer
        if outer is None:
            return
        if self.server.place == "popup":
            outer.show()
            return
        self.server.shown = not outer.visible
        (outer.show if self.server.shown else outer.hide)()

    def _tell_problem(self) -> None:
        connection = self.connection
        required = connection.setup_required
        if connection.unresponsive:
            told = _HANGS
            self._retry.text = "End and reopen"
        elif required is not None and connection.state in ("connected", "idle", "failed"):
            told = f"The server asks for its setup: {required.message}"
            self._retry.text = "Run its setup"
        else:
            told = connection.problem or connection.hint
            self._retry.text = "Try again" if self.server.set_up or not self.server.spoken.has_setup else "Set up"
        if told != self._notice_text.text:
            self._notice_text.text = told
        self._notice.hidden = not told


def _select(place: Element, label: str, options: Mapping[str, str], chosen: str) -> Element:
    select = place.add("label", label, class_="insp-choice").add("select")
    for value, text in options.items():
        select.add("option", text, value=value)
    select.value = chosen
    return select
