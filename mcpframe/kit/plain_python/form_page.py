"""A setup's page without a browser: its form becomes a question to the client's user, and the answer its events.

A text field, a choice or a tick is a member of the question, and a button is what ends it. Files and passwords cannot
be asked for: MCP has no form for a file, and forbids one for a password.

Source: MCP specification, client/elicitation, "Form mode".
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from mcpframe.frame.core.errors import PageError, SetupCancelled, SetupFailed
from mcpframe.kit.base.json_schema import error_of
from mcpframe.kit.plain_python.form_document import Document, FormNode, parsed

Ask = Callable[[str, dict[str, Any]], Awaitable[Mapping[str, Any] | None]]
"""Asks the user with a text and a schema; returns the values, or None if the user does not answer."""

BUTTON = "press"
_SETTLED_SECONDS = 0.2
"""Seconds in which a setup that has heard the answer ends, or shows what it wants next."""
_LONGEST = 2000
_KINDS = {"number": "number", "range": "number", "checkbox": "boolean"}
_FORMATS = {"email": "email", "url": "uri", "date": "date"}
_NO_FIELDS = {"submit", "button", "reset", "image", "hidden", "file", "password", "radio"}


class FormBrowser:
    """The `Browser` of a setup's page.

    Args:
        folder: The folder of the page's assets.
    """

    def __init__(self, folder: Path) -> None:
        self.document = Document()
        self._folder = folder
        self._listeners: list[tuple[FormNode, str, Callable[[Any], None]]] = []

    def listen(self, target: FormNode, kind: str, callback: Callable[[Any], None]) -> Callable[[], None]:
        entry = (target, kind, callback)
        self._listeners.append(entry)
        return lambda: self._listeners.remove(entry) if entry in self._listeners else None

    def watch(self, changed: Callable[[bool], None]) -> Callable[[], None]:
        changed(True)
        return lambda: None

    def agent_answer(self, event: Any) -> None:
        """Return None: there are no agents outside of a page."""

    def parse(self, text: str) -> FormNode:
        return parsed(text)

    async def fetch(self, url: str) -> bytes:
        return await asyncio.to_thread((self._folder / url).read_bytes)

    async def import_module(self, url: str) -> Any:
        raise PageError(f"{url} cannot be imported: there is no JavaScript outside of a page.")

    async def read(self, file: Any) -> bytes:
        raise OSError("outside of a page there are no files of the user")

    def download(self, name: str, data: bytes, kind: str) -> None:
        raise PageError(f"{name} cannot be offered: there are no downloads outside of a page.")

    # The user's side

    def buttons(self) -> dict[str, FormNode]:
        """Return the buttons that the setup waits for, by their labels. To decline is to press one that cancels."""
        by_label = {}
        for node in self.document.documentElement.all():
            is_button = node.tagName == "BUTTON" or (node.tagName == "INPUT" and node.type in ("submit", "button"))
            cancels = "cancel" in (node.id.lower(), node.value.lower(), node.attributes.get("name", "").lower())
            if is_button and not cancels and _usable(node) and self._hears(node):
                by_label[" ".join(node.textContent.split()) or node.value or node.id] = node
        return by_label

    def question(self) -> tuple[str, dict[str, Any]]:
        """Return the text and the schema of the question.

        Raises:
            SetupFailed: The form has a password.
        """
        root = self.document.documentElement
        if any(node.type == "password" and _usable(node) for node in root.all()):
            raise SetupFailed(
                "CONFIG_ERROR",
                "The setup asks for a secret, which MCP's forms may not: give it to the server's process as an "
                "environment variable.",
            )
        labels = {node.attributes.get("for"): node.textContent for node in root.querySelectorAll("label")}
        properties, required = {}, []
        for name, node in self._fields().items():
            around = node.closest("label")
            title = labels.get(node.id) or (around.textContent if around else "") or node.attributes.get("placeholder")
            properties[name] = {"title": " ".join((title or name).split()), **_schema(node)}
            if "required" in node.attributes:
                required.append(name)
        buttons = list(self.buttons())
        if len(buttons) > 1:
            properties[BUTTON] = {"type": "string", "title": "Go on with", "enum": buttons, "default": buttons[-1]}
        text = re.sub(r"\n\s*\n+", "\n", root.seen()).strip()[:_LONGEST]
        return text or "Set up this server.", {"type": "object", "properties": properties, "required": required}

    def answer(self, values: Mapping[str, Any]) -> None:
        """Enter the values, and press the button."""
        for name, node in self._fields().items():
            if name not in values:
                continue
            if node.type == "checkbox":
                node.checked = bool(values[name])
            else:
                node.value = str(values[name])
            for kind in ("input", "change"):
                self._happen(node, kind)
        buttons = self.buttons()
        button = buttons.get(str(values.get(BUTTON)), next(reversed(buttons.values()), None))
        if button is None:
            return
        self._happen(button, "click")
        form = button.closest("form")
        if form and button.type == "submit":
            self._happen(form, "submit", submitter=button)

    def _fields(self) -> dict[str, FormNode]:
        by_name = {}
        for number, node in enumerate(self.document.documentElement.querySelectorAll("input,select,textarea")):
            if node.type not in _NO_FIELDS and _usable(node):
                by_name[node.id or node.attributes.get("name") or f"field-{number}"] = node
        return by_name

    def _hears(self, button: FormNode) -> bool:
        form = button.closest("form") if button.type == "submit" else None
        return any(
            (node is button and kind == "click") or (node is form and kind == "submit")
            for node, kind, _ in self._listeners
        )

    def _happen(self, target: FormNode, kind: str, **members: Any) -> None:
        for node, event, callback in list(self._listeners):
            if node is target and event == kind:
                callback(_Event(kind, target, **members))


class _Event:
    def __init__(self, kind: str, target: FormNode, **members: Any) -> None:
        self.type, self.target, self.key, self.detail = kind, target, "", None
        vars(self).update(members)

    def preventDefault(self) -> None:  # noqa: N802  the browser's name
        """Do nothing: there is no default action."""


def _usable(node: FormNode) -> bool:
    return not node.disabled and not node.hidden and (node.parent is None or _usable(node.parent))


def _schema(node: FormNode) -> dict[str, Any]:
    """Return the schema of a field, with its present value as the default."""
    if node.tagName == "SELECT":
        values = [option.value for option in node.querySelectorAll("option")]
        return {"type": "string", "enum": values, "default": node.value}
    kind = _KINDS.get(node.type, "string")
    if kind == "boolean":
        return {"type": kind, "default": node.checked}
    if kind == "number":
        return {"type": kind, **({"default": float(node.value)} if re.fullmatch(r"-?\d+(\.\d+)?", node.value) else {})}
    format_ = {"format": _FORMATS[node.type]} if node.type in _FORMATS else {}
    return {"type": kind, **format_, **({"default": node.value} if node.value else {})}


async def answered(setup: asyncio.Task[Any], browser: FormBrowser, ask: Ask) -> None:
    """Ask the user whatever a setup's page waits for, until the setup has ended.

    Raises:
        SetupCancelled: The user does not answer.
        SetupFailed: The page cannot be asked, or the answer is not one of its form.
    """
    while True:
        await asyncio.wait([setup], timeout=_SETTLED_SECONDS)
        if setup.done():
            return
        if not browser.buttons():
            continue
        text, schema = browser.question()
        values = await ask(text, schema)
        if values is None:
            raise SetupCancelled
        # A page's user has only the choices of the page, which its author relies on: a client may send anything.
        defaults = {name: field["default"] for name, field in schema["properties"].items() if "default" in field}
        if reason := error_of({**defaults, **values}, schema):
            raise SetupFailed("CONFIG_ERROR", f"The answer to the question is not one of its form: {reason}")
        browser.answer(values)
