"""The interfaces of the loader, and of tools at the document. For type checkers: no bundle contains it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol


class Loader(Protocol):
    """The loader's callbacks, which show the page's state to a person. All arguments are texts."""

    def progress(self, text: str) -> None:
        """Show the current step."""

    def ready(self, info: str) -> None:
        """Show the state of the server: JSON with `state` (waiting, setting up, set up, connected) and `origin`."""

    def at_end(self, info: str) -> None:
        """Keep the message to post to the host if this page stops: JSON, a message and its target origin, or null."""

    def timing(self) -> str:
        """Return the timing of this page's start: JSON with `start`, the way Python was started, and `marks`, in ms."""

    def fail(self, title: str, detail: str) -> None:
        """Show an error to a person, with details such as a traceback."""

    def problem(self, title: str, detail: str) -> None:
        """Show an error that the server survives."""

    def computing(self, info: str) -> None:
        """Show that tools compute, with a way to stop them: JSON with `tools`, none once it is over, and `seconds`."""

    def standalone(self, info: str) -> None:
        """Show the introduction of a page that was opened by itself."""


class OfferedTools(Protocol):
    """A server's tools at the document."""

    @property
    def registered(self) -> Mapping[str, Any]:
        """The definitions of the tools, by their names there."""

    async def ended(self) -> None:
        """Wait until the server has ended, or its tools cannot be registered."""

    def standing_aside(self) -> AbstractAsyncContextManager[None]:
        """Return a context manager in whose block the server serves another client, and its tools are not offered."""

    async def leave_to_form(self, tool: str) -> Callable[[], None] | None:
        """Unregister a tool, which a form declares; return what registers it again. None if the form cannot."""

    def watched(self, write: Any) -> Any:
        """Return a write stream for another session of this server that announces changes of its tools here, too."""
