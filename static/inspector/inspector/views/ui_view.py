"""The page of a UI resource, beside the result that holds it: the inspector as a host of mcp-ui."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from inspector.forms.json_values import NotJson, read_json, write_json
from inspector.session.calling import Calling
from inspector.session.connection import Connection
from inspector.session.telling import sentence, wire
from inspector.views.activity import Activity
from inspector.views.context import THEMES
from inspector.views.controls import UiControls
from inspector.views.live_view import Hosting, LiveView
from inspector.views.ui_actions import UiActions
from inspector.views.ui_resources import data_of, prepared, ui_resources_of
from inspector.wire.entry import shown as readable
from mcpframe import Element, Page, errors
from mcpframe.hosts import ShownUi, UiHost, ViewServer, is_model_only
from mcpframe.wire import Closed, Opened


def add_outcome(place: Element, calling: Calling) -> Element:
    """Move the result of a request beside a new element for its live view, and return that element."""
    outcome = place.add("div", class_="insp-outcome")
    live = outcome.add("div", class_="insp-live")
    outcome.js.append(calling.result.js)
    return live


class UiView(LiveView[ShownUi]):
    """The region of the UI resources of a result; hidden while there are none."""

    _controls: UiControls

    def __init__(self, page: Page, place: Element, connection: Connection, hosting: Hosting) -> None:
        """Build the region; nothing is framed yet.

        Args:
            connection: the connection to the server.
            hosting: the inspector's services for views.
        """
        super().__init__(page, place, "UI resource")
        self._connection = connection
        self._hosting = hosting
        self._resources: list[dict[str, Any]] = []
        self._written: list[Any] = []
        self._client: object = None
        self._server: tuple[object, ViewServer] | None = None
        self._reason = ""
        self._controls = UiControls(page, self._region, self._on_change, self.reload)
        self._choice_line = self._region.add("label", "Resource", class_="insp-field", hidden=True)
        self._choice = self._choice_line.add("select")
        self._add_stage()
        self._add_data()
        self._activity = Activity(page, self._region, name="Actions of the page")
        self._actions = UiActions(page, self._activity, self._controls, self._call)
        self._choice.on("change", self._on_choice)
        self._region.hidden = True

    async def show(self, result: Any) -> None:
        """Show the UI resources of a result in place of earlier ones; of several, the first one."""
        resources = ui_resources_of(result)
        await self._clear()
        self._resources = resources
        self._region.hidden = not resources
        self._choice.clear()
        for number, resource in enumerate(resources):
            self._choice.add("option", readable(str(resource["uri"])), value=str(number))
        self._choice_line.hidden = len(resources) < 2
        if not resources:
            return
        uris = [resource["uri"] for resource in resources]
        if uris != self._written:  # otherwise keep the user's text
            self._written = uris
            self._write_data()
        self._begin()

    async def reload(self) -> None:
        """Show the resource again."""
        if self._resources:
            await self._clear()
            self._begin()

    async def renew(self) -> None:
        """Show the resource again if the session is new: the server may have been rebuilt."""
        if self._connection.client is not self._client:
            await self.reload()

    async def _on_choice(self) -> None:
        self._write_data()
        await self.reload()

    # The render data

    def _add_data(self) -> None:
        more = self._region.add("details", class_="insp-more", open=True)
        more.add("summary", "Render data")
        form = more.add("form", class_="insp-call", novalidate=True, aria_label="Render data of the page")
        self._data = form.add("textarea", rows="3", spellcheck="false", class_="json", aria_label="Render data")
        self._data.set("placeholder", "A JSON object; empty for none")
        self._data_problem = form.add("p", role="alert", class_="insp-problem", hidden=True)
        row = form.add("div", class_="insp-row insp-bar")
        self._theme = row.add("label", "Theme").add("select")
        for value, text in {"": "Not sent", **THEMES}.items():
            self._theme.add("option", text, value=value)
        row.add("button", "Send", type="submit")
        self._theme.on("change", self._on_theme)
        form.on("submit", self._send)

    def _write_data(self) -> None:
        data = data_of(self._chosen)
        self._data.value = "" if data is None else write_json(data)
        theme = str((data or {}).get("theme"))
        self._theme.value = theme if theme in THEMES else ""
        self._tell_data("")

    def _read_data(self) -> dict[str, Any] | None:
        """Return the render data. Raises `NotJson` if it is not an object."""
        if not self._data.value.strip():
            return None
        value = read_json(self._data.value)
        if not isinstance(value, dict):
            raise NotJson("must be a JSON object")
        return value

    def _send(self) -> None:
        try:
            data = self._read_data()
        except NotJson as error:
            self._tell_data(f"The render data {error}.")
            self._data.focus()
            return
        self._tell_data("")
        if self._running is not None:
            self._running.render(data or {})

    def _on_theme(self) -> None:
        try:
            data = dict(self._read_data() or {})
        except NotJson as error:
            self._tell_data(f"The render data {error}.")
            return
        data.pop("theme", None)
        if self._theme.value:
            data["theme"] = self._theme.value
        self._data.value = write_json(data)
        self._send()

    def _tell_data(self, problem: str) -> None:
        self._data_problem.text = problem
        self._data_problem.hidden = not problem
        self._data.set("aria-invalid", "true" if problem else None)

    # Internals

    @property
    def _chosen(self) -> Mapping[str, Any]:
        return self._resources[int(self._choice.value or 0)]

    def _open(self) -> AbstractAsyncContextManager[ShownUi]:
        try:
            data = self._read_data()
        except NotJson as error:
            raise errors.UiError(f"The render data {error}.") from None
        own = self._connection.server.url if self._hosting.is_own() else ""
        resource, replaced = prepared(self._chosen, own)
        if replaced:
            self._activity.note("Own page", f"Framed in place of {replaced}")
        self._reason, self._client = "", self._connection.client
        host = UiHost(
            resource,
            proxy=self._hosting.sandbox() or None,
            render_data=data,
            auto_resize=self._controls.follows,
            on_event=self._on_event,
            on_wire=lambda message: self._hosting.on_wire(message, "page"),
            on_action=self._actions.handle,
        )
        return host.show(self._frame)

    async def _feed(self, running: ShownUi) -> None:
        self._status.text = "Shown. It has not said anything yet."

    async def _ended(self, running: ShownUi) -> str:
        await running.closed.wait()
        return f"The page has ended. {self._reason}".strip()

    def _on_event(self, event: object) -> None:
        if isinstance(event, Opened):
            self._status.text = "Shown. It speaks mcp-ui."
        elif isinstance(event, Closed) and event.error is not None:
            self._reason = sentence(event.error)

    async def _call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        client = self._connection.ready
        if self._server is None or self._server[0] is not client:
            self._server = client, ViewServer(client)
        definition = await self._server[1].tool(name)
        if definition is not None and is_model_only(definition):
            raise errors.UiError(f"The tool {readable(name)} is for models only, not for pages.")
        return wire(await client.call_tool(name, arguments, meta=self._connection.request_meta))
