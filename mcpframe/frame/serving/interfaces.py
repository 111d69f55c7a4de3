"""The interface of the modules that serve a server. For type checkers: no bundle contains it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from mcpframe.frame.session.interfaces import Messages


class ServerModule(Protocol):
    """The functions of each of them: `server`, `other_server` and `program.console`."""

    def messages(self) -> Messages:
        """Return the form of the messages in the streams of `serve`."""
        ...

    def load_entry(self, entry: str) -> Any:
        """Import the server, or the function of a console script, that an entry names.

        Args:
            entry: `module:object`; either part may be dotted.

        Raises:
            EntryError: The entry has another form, its module or a module that one needs is missing, or the object is
                missing or no server. Any other exception of the module is passed on.
        """
        ...

    async def open_entry(self, entry: str) -> Any:
        """Import like `load_entry`, and call the function if the entry is `module:factory()`; it may be async.

        Raises:
            EntryError: see `load_entry`; or if the factory cannot be called without arguments.
        """
        ...

    async def list_tools(self, server: Any) -> list[Any] | None:
        """Return the tools of a server, in its SDK's types; None if it lists them only within a session."""
        ...

    async def serve(
        self,
        server: Any,
        read: Any,
        write: Any,
        *,
        experimental: dict[str, dict[str, Any]] | None = None,
        on_problem: Callable[[str, BaseException | None], None] = ...,
    ) -> None:
        """Serve one connection until its read stream ends. A server may be served again, and several times at once.

        Args:
            server: The server object or console script.
            read: The stream of the client's messages, in the form of `messages`.
            write: The stream of messages to the client. Closed at the end.
            experimental: Experimental capabilities to announce to the client.
            on_problem: Called with a sentence, and with the exception if there is one; by default that is logged.

        Raises:
            EntryError: `server` is not a server object.
        """
        ...
