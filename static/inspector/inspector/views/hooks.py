"""The inspector's answers to a view's requests: it lists them, and asks the user about those that leave the page."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

import mcp_types as types

from inspector.results.media import file_name
from inspector.session.elicitation_and_sampling import sample
from inspector.views.activity import Activity
from inspector.widgets.dialogs import Dialog
from mcpframe import Page

Json = Mapping[str, Any]


class ViewHooks:
    """The functions of an `AppHost` that ask the user."""

    def __init__(self, page: Page, name: str, activity: Activity) -> None:
        """Ask in this page.

        Args:
            name: the name of the tool.
            activity: the list of the requests.
        """
        self._page = page
        self._name = name
        self._activity = activity

    async def on_link(self, url: str) -> bool:
        """Open a link in a new tab, if the user agrees."""
        opened = await self._agrees("Open this link?", url, "Open it")
        if opened:
            self._page.js.defaultView.open(url, "_blank", "noopener,noreferrer")
        self._activity.note("Link opened" if opened else "Link declined", url)
        return opened

    def on_message(self, blocks: Sequence[Json]) -> None:
        """Show a message to the conversation."""
        self._activity.note("Message of the user", blocks=blocks)

    async def on_download(self, blocks: Sequence[Json]) -> bool:
        """Save files, if the user agrees."""
        files = [_file(block) for block in blocks]
        names = ", ".join(name for name, _ in files)
        agreed = await self._agrees("Save this?", names, "Save it")
        for name, content in files if agreed else ():
            if isinstance(content, bytes):
                self._page.download(name, content)
            else:
                self._page.js.defaultView.open(content, "_blank", "noopener,noreferrer")
        self._activity.note("Download saved" if agreed else "Download declined", names)
        return agreed

    def on_model_context(self, blocks: Sequence[Json], structured: Json | None) -> None:
        """Show the view's context for the model."""
        self._activity.model_context(blocks, structured)

    async def on_sampling(self, params: Json) -> Any:
        """Let the user write the model's answer."""
        request = types.CreateMessageRequestParams.model_validate(params)
        result = await sample(self._page, f"The view of {self._name}", request)
        if isinstance(result, types.ErrorData):
            raise ValueError(result.message)
        return result

    def on_log(self, level: str, data: Any, logger: str | None) -> None:
        """Show a log message."""
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        self._activity.note(f"Log, {level}", f"{logger}: {text}" if logger else text)

    async def _agrees(self, title: str, what: str, verb: str) -> bool:
        with Dialog(self._page, title, "insp-view-asks") as dialog:
            dialog.body.add("p", f"The view of {self._name} asks for it:")
            dialog.body.add("code", what)
            dialog.button("Decline", "cancel")
            dialog.button(verb, "agree", main=True)
            dialog.show()
            return await dialog.answered() == "agree"


def _file(block: Json) -> tuple[str, bytes | str]:
    """Return the name and content of a file to save, or the address of one."""
    if block["type"] == "resource_link":
        return str(block["uri"]), str(block["uri"])
    resource = block["resource"]
    name = file_name(resource.get("uri"), resource.get("mimeType"))
    if isinstance(resource.get("text"), str):
        return name, resource["text"].encode()
    return name, base64.b64decode(resource["blob"])
