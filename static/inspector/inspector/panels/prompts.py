"""The prompts of a server, with completions for their arguments."""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.shared.dispatcher import ProgressFnT

from inspector.panels.listing import Item, Listing, entries_or_failure
from inspector.session.calling import Calling, Read, offer_completions
from inspector.session.connection import Connection
from inspector.session.telling import wire
from inspector.views.live_view import Hosting
from inspector.views.ui_view import UiView, add_outcome
from mcpframe import Element, Page


class Prompts:
    """The panel of prompts."""

    def __init__(self, page: Page, place: Element, connection: Connection, read: Read, hosting: Hosting) -> None:
        self._page = page
        self._connection = connection
        self._read = read
        self._hosting = hosting
        self._ui: UiView | None = None
        self._listing = Listing(place, "Prompts", "This server has no prompts.", self._show)

    async def refresh(self) -> int:
        """Fetch the prompts, and show their number."""
        client = self._connection.client
        prompts: list[types.Prompt] = []
        failure: Exception | None = None
        if client is not None and client.server_capabilities.prompts is not None:
            prompts, failure = await entries_or_failure(client.list_prompts, "prompts")
        ui = self._ui
        items = [Item(prompt.name, prompt.name, prompt.title or "", wire(prompt)) for prompt in prompts]
        self._listing.fill(items, failure)
        if ui is not None and ui is self._ui:
            await ui.renew()
        return len(prompts)

    def _show(self, item: Item, place: Element) -> None:
        prompt = item.data
        if self._ui is not None:
            self._page.run(self._ui.close, "Removing a page")
        place.add("h3", prompt.get("title") or item.name)
        if prompt.get("description"):
            place.add("p", prompt["description"], class_="insp-message")

        async def get(arguments: Any, progress: ProgressFnT) -> dict[str, Any]:
            texts = {name: str(value) for name, value in (arguments or {}).items()}
            connection = self._connection
            await ui.show(None)
            answer = wire(await connection.ready.get_prompt(item.name, texts, meta=connection.request_meta))
            await ui.show(answer)
            return answer

        schema = schema_of(prompt.get("arguments") or [])
        label = f"Arguments of {item.name}"
        calling = Calling(self._page, place, schema, "Get", get, label=label, read=self._read)
        ui = self._ui = UiView(self._page, add_outcome(place, calling), self._connection, self._hosting)
        reference = types.PromptReference(type="ref/prompt", name=item.name)
        offer_completions(self._connection, calling, reference, list(schema["properties"]))


def schema_of(arguments: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the JSON Schema of a prompt's arguments, which are texts."""
    properties = {
        argument["name"]: {
            "type": "string",
            **{key: argument[key] for key in ("title", "description") if argument.get(key)},
        }
        for argument in arguments
    }
    required = [argument["name"] for argument in arguments if argument.get("required")]
    return {"type": "object", "properties": properties, "required": required}
