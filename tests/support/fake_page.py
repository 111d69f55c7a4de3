"""A page without a browser: the document of `kit.plain_python`, with what tests look at, and a `Browser` around it."""

# ruff: noqa: N802  the names are the browser's

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from mcpframe.frame.core.errors import PageError
from mcpframe.kit.plain_python.form_document import Document, FileList, FormNode, parsed

PAGE = '<div id="mcpframe-page"></div><main id="mcpframe-app"></main>'


class FakeFile:
    def __init__(self, name: str, data: bytes, type_: str = "") -> None:
        self.name, self.size, self.type, self.data = name, len(data), type_, data


class FakeElement(FormNode):
    """An element, with what its user sees and does: focus, sizes, and chosen files.

    Attributes:
        focused: whether it has had the focus.
    """

    def __init__(self, tag: str, attributes: dict[str, str] | None = None) -> None:
        super().__init__(tag, attributes)
        self.focused = False
        self.scrollHeight = self.scrollTop = self.clientHeight = 0

    @property
    def value(self) -> str:
        return super().value

    @value.setter
    def value(self, value: str) -> None:
        FormNode.value.__set__(self, value)  # type: ignore[attr-defined]
        if self.type == "file":
            self.files = FileList()

    def focus(self) -> None:
        self.focused = True

    @property
    def selected(self) -> bool:
        return "selected" in self.attributes

    def prepend(self, node: FormNode) -> None:
        node.remove()
        node.parent = self
        self.nodes.insert(0, node)

    @property
    def firstElementChild(self) -> FormNode | None:
        return next((node for node in self.nodes if isinstance(node, FormNode)), None)

    def contains(self, other: object) -> bool:
        return other is self or any(node is other for node in self.all())


class FakeEvent:
    def __init__(self, kind: str, target: Any, **members: Any) -> None:
        self.type, self.target = kind, target
        self.prevented = False
        self.__dict__.update(members)

    def preventDefault(self) -> None:
        self.prevented = True


class FakeDocument(Document):
    def __init__(self) -> None:
        super().__init__(FakeElement)
        self.documentElement.innerHTML = PAGE
        self.modelContext = SimpleNamespace()


class FakeBrowser:
    """`ui.Browser` around a fake document.

    Attributes:
        files: what can be fetched, by URL.
        listeners: the present listeners.
        watchers: the callbacks for changes of the page's visibility.
        downloads: the files that the user was offered.
        answers: what agents got that had submitted a form.
        reachable: cleared while a fetch is to wait.
    """

    def __init__(self, **files: bytes) -> None:
        self.document = FakeDocument()
        self.files: dict[str, bytes] = files
        self.listeners: list[tuple[Any, str, Callable[[Any], None]]] = []
        self.watchers: list[Callable[[bool], None]] = []
        self.seen = False
        self.reachable = asyncio.Event()
        self.reachable.set()
        self.downloads: list[tuple[str, bytes, str]] = []
        self.answers: list[str] = []

    def listen(self, target: Any, kind: str, callback: Callable[[Any], None]) -> Callable[[], None]:
        entry = (target, kind, callback)
        self.listeners.append(entry)
        return lambda: self.listeners.remove(entry)

    def watch(self, changed: Callable[[bool], None]) -> Callable[[], None]:
        self.watchers.append(changed)
        changed(self.seen)
        return lambda: self.watchers.remove(changed)

    def agent_answer(self, event: Any) -> Callable[[str], None] | None:
        if not getattr(event, "agentInvoked", False):
            return None
        return self.answers.append

    def parse(self, html: str) -> FormNode:
        return parsed(html, FakeElement)

    async def fetch(self, url: str) -> bytes:
        await self.reachable.wait()
        if url not in self.files:
            raise OSError("HTTP status 404")
        return self.files[url]

    async def import_module(self, url: str) -> Any:
        raise PageError(f"The JavaScript module {url} could not be imported: there is no JavaScript")

    async def read(self, file: Any) -> bytes:
        data: bytes = file.data
        return data

    def download(self, name: str, data: bytes, kind: str) -> None:
        self.downloads.append((name, data, kind))

    # What a person does

    def happen(self, selector: str, kind: str, **members: Any) -> FakeEvent:
        """Dispatch an event on an element."""
        target = self.document.documentElement.querySelector(selector)
        assert target is not None, f"there is no {selector}"
        return self.happen_at(target, kind, **members)

    def happen_at(self, target: Any, kind: str, **members: Any) -> FakeEvent:
        """Dispatch an event on this element."""
        event = FakeEvent(kind, target, **members)
        for element, wanted, callback in list(self.listeners):
            if element is target and wanted == kind:
                callback(event)
        return event

    def show(self, seen: bool) -> None:
        """Show the page, or hide it."""
        self.seen = seen
        for changed in list(self.watchers):
            changed(seen)
