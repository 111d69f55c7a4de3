"""The resources of a server and its templates: reads them, and subscribes to their updates."""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.uri_template import InvalidUriTemplate, UriTemplate

from inspector.panels.listing import Item, Listing, entries_or_failure
from inspector.results.result import json_tree
from inspector.session.calling import Calling, offer_completions
from inspector.session.connection import Connection
from inspector.session.telling import wire
from inspector.views.live_view import Hosting
from inspector.views.ui_view import UiView, add_outcome
from mcpframe import Element, Page


class Resources:
    """The panel of resources and resource templates."""

    def __init__(self, page: Page, place: Element, connection: Connection, hosting: Hosting) -> None:
        self._page = page
        self._connection = connection
        self._hosting = hosting
        self._ui: UiView | None = None
        self._listing = Listing(place, "Resources", "This server has no resources.", self._show)

    async def refresh(self) -> int:
        """Fetch the resources and templates, and show their number."""
        client = self._connection.client
        items: list[Item] = []
        failure: Exception | None = None
        if client is not None and client.server_capabilities.resources is not None:
            resources, failure = await entries_or_failure(client.list_resources, "resources")
            items += [_item(one, str(one.uri), "") for one in resources]
            templates, other = await entries_or_failure(client.list_resource_templates, "resource_templates")
            items += [_item(one, one.uri_template, "template ") for one in templates]
            failure = failure or other
        ui = self._ui
        self._listing.fill(items, failure)
        if ui is not None and ui is self._ui:
            await ui.renew()
        return len(items)

    async def read(self, uri: str) -> dict[str, Any]:
        """Read a resource, and return the result on the wire."""
        return wire(await self._connection.ready.read_resource(uri, meta=self._connection.request_meta))

    async def _read_live(self, uri: str, ui: UiView) -> dict[str, Any]:
        """Read a resource; a UI resource is shown live."""
        await ui.show(None)
        answer = await self.read(uri)
        await ui.show(answer)
        return answer

    def _show(self, item: Item, place: Element) -> None:
        if self._ui is not None:
            self._page.run(self._ui.close, "Removing a page")
        self._ui = None
        place.add("h3", item.name)
        place.add("p", class_="quiet").add("code", item.note)
        if item.data.get("description"):
            place.add("p", item.data["description"], class_="insp-message")
        if "uriTemplate" in item.data:
            self._show_template(item, place)
        else:
            self._show_resource(item.data["uri"], place)
        more = place.add("details", class_="insp-more")
        more.add("summary", "Definition")
        json_tree(self._page, more.add("div"), item.data)

    def _show_resource(self, uri: str, place: Element) -> None:
        async def read(_: Any, progress: ProgressFnT) -> dict[str, Any]:
            return await self._read_live(uri, ui)

        self._show_following(uri, place)
        calling = Calling(self._page, place, None, "Read", read, label=f"Read {uri}", read=self.read)
        ui = self._ui = UiView(self._page, add_outcome(place, calling), self._connection, self._hosting)

    def _show_following(self, uri: str, place: Element) -> None:
        row = place.add("div", class_="insp-row")
        button = row.add("button", "Subscribe", type="button")
        told = row.add("span", role="status", class_="quiet")
        updates = self._connection.updates

        def tell() -> None:
            count = updates.count(uri)
            button.text = "Unsubscribe" if updates.follows(uri) else "Subscribe"
            told.text = f"Updated {count} {'time' if count == 1 else 'times'}." if count else ""

        async def change() -> None:
            button.disabled = True
            try:
                await (updates.unfollow(uri) if updates.follows(uri) else updates.follow(uri))
            finally:
                button.disabled = False
            tell()
            if problem := updates.problem(uri):
                told.text = problem

        button.on("click", change)
        updates.tell(uri, tell)
        tell()

    def _show_template(self, item: Item, place: Element) -> None:
        text = item.data["uriTemplate"]
        try:
            template = UriTemplate.parse(text)
        except InvalidUriTemplate as error:
            place.add("p", f"The URI template cannot be used: {error}", class_="insp-problem")
            return

        async def read(values: Any, progress: ProgressFnT) -> dict[str, Any]:
            given = {name: value for name, value in (values or {}).items() if value}
            return await self._read_live(template.expand(given), ui)

        names = template.variable_names
        schema = {
            "type": "object",
            "properties": {name: {"type": "string"} for name in names},
            "required": [name for name in names if name not in template.query_variable_names],
        }
        calling = Calling(self._page, place, schema, "Read", read, label=f"Variables of {text}", read=self.read)
        ui = self._ui = UiView(self._page, add_outcome(place, calling), self._connection, self._hosting)
        reference = types.ResourceTemplateReference(type="ref/resource", uri=text)
        offer_completions(self._connection, calling, reference, names)


def _item(one: types.Resource | types.ResourceTemplate, uri: str, kind: str) -> Item:
    return Item(f"{kind}{uri}", one.title or one.name, uri, wire(one))
