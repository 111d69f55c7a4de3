"""The interfaces of the author's page, and of its browser. For type checkers: no bundle contains it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

Stop = Callable[[], None]


class FileReader(Protocol):
    """The part of the browser that a file needs."""

    async def read(self, file: Any) -> bytes:
        """Return the content of a `File` or `Blob`. Raises OSError."""


class OwnerPage(Protocol):
    """The part of a page that its elements need."""

    @property
    def js(self) -> Any:
        """The browser's `document`."""

    @property
    def browser(self) -> FileReader:
        """The browser's half."""

    def listen(
        self, target: Any, kind: str, callback: Callable[[Any], None], lost: Callable[[], None] | None = None
    ) -> Callable[[], None]:
        """Listen to an element; return a function that stops it. `lost` is called if the element is removed first."""

    @property
    def text_filter(self) -> Callable[[str], str] | None:
        """Applied to each text that an element is given to show."""

    def forget_removed(self) -> None:
        """Stop listening to elements that are no longer in the page."""

    def run(self, act: Callable[[], Any], what: str) -> None:
        """Call an event handler, and report its exceptions."""


class FormsOfTools(Protocol):
    """The forms of a page for its server's tools."""

    async def add(self, page: Any, tool: str, into: str, *, autosubmit: bool) -> Any:
        """Put a form into the page; see `Page.tool_form`."""

    def close(self) -> None:
        """End their connection to the server, and what they do for agents."""


class Browser(Protocol):
    """The browser's part of a page."""

    @property
    def document(self) -> Any:
        """The document."""

    def listen(self, target: Any, kind: str, callback: Callable[[Any], None]) -> Stop:
        """Call back for every event of a kind; returns a function that stops it."""

    def watch(self, changed: Callable[[bool], None]) -> Stop:
        """Call back now and whenever the page becomes visible or invisible; returns a function that stops it."""

    def agent_answer(self, event: Any) -> Callable[[str], None] | None:
        """Return what answers the agent that has submitted a form with the text of a result, as JSON; None if a person
        has. Called while the event lasts."""

    def parse(self, html: str) -> Any:
        """Return a document fragment. Scripts in it never run."""

    async def fetch(self, url: str) -> bytes:
        """Fetch a file of the bundle. Raises OSError."""

    async def import_module(self, url: str) -> Any:
        """Import a JavaScript module of the bundle. Raises `PageError`."""

    async def read(self, file: Any) -> bytes:
        """Return the content of a `File` or `Blob`. Raises OSError."""

    def download(self, name: str, data: bytes, kind: str) -> None:
        """Offer the user a file."""
