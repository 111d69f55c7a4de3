"""A server's page as a view of MCP Apps, with arguments and a result from the user.

For a view of a server in plain Python, whose tools the inspector cannot call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from inspector.forms.json_values import NotJson, read_json
from inspector.session.connection import Connection
from inspector.views.live_view import Hosting
from inspector.views.own_page import PAGE_URI
from inspector.views.tool_view import ToolView
from mcpframe import Element, Page

_RESULT = '{"content": [{"type": "text", "text": "A result"}], "structuredContent": {}}'


class Preview:
    """The panel."""

    def __init__(self, page: Page, place: Element, connection: Connection, hosting: Hosting) -> None:
        place.add("h3", "As a view")
        place.add(
            "p",
            "Shows this page as a host of MCP Apps does, with a tool call that you write. After a rebuild it is shown "
            "again, with the same call.",
            class_="quiet",
        )
        form = place.add("form", class_="insp-call", novalidate=True, aria_label="Tool call to show")
        self._arguments = self._json(form, "Arguments", "{}")
        self._result = self._json(form, "Result", _RESULT)
        self._problem = form.add("p", role="alert", class_="insp-problem", hidden=True)
        form.add("div", class_="insp-row").add("button", "Show", type="submit", class_="main")
        tool = {"name": PAGE_URI, "title": "this page"}
        self._view = ToolView(page, place.add("div", class_="insp-detail"), connection, tool, hosting)
        form.on("submit", self.show)

    async def connected(self) -> None:
        """Show the page again if it was shown, as the session is new."""
        await self._view.reload()

    async def close(self) -> None:
        await self._view.close()

    def _json(self, form: Element, label: str, text: str) -> Element:
        control = form.add("label", label, class_="insp-field").add("textarea", rows="3", spellcheck="false")
        control.value = text
        return control

    def fill(self, sample: Mapping[str, Any]) -> None:
        """Write a tool call into the form: `arguments` and `result`."""
        for control, name in ((self._arguments, "arguments"), (self._result, "result")):
            control.value = json.dumps(sample.get(name, {}), ensure_ascii=False)

    async def show(self) -> None:
        """Show the page with the tool call in the form."""
        values: list[Any] = []
        for control, name in ((self._arguments, "arguments"), (self._result, "result")):
            try:
                value = read_json(control.value)
            except NotJson:
                value = None
            control.set("aria-invalid", None if isinstance(value, dict) else "true")
            if not isinstance(value, dict):
                self._problem.text = f"The {name} must be a JSON object."
                self._problem.hidden = False
                control.focus()
                return
            values.append(value)
        self._problem.hidden = True
        arguments, result = values
        shown = await self._view.begin(arguments)
        shown.result = {"content": [], **result}
        shown.over.set()
