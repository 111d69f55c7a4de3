"""The server's tools at the document, in a dialect without messages: see `Dialect.document_module`."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from mcpframe.frame.boot.author_page import running_for
from mcpframe.frame.core.allowed_origins import AllowedOrigins
from mcpframe.frame.core.errors import OriginError, StateError
from mcpframe.frame.serving.server_module import server_module

if TYPE_CHECKING:
    from mcpframe.frame.boot.config import BootConfig
    from mcpframe.frame.boot.interfaces import Loader, OfferedTools
    from mcpframe.frame.core.dialect import Dialect
    from mcpframe.frame.serving.server import ServerObject

BUNDLED_WITH = ("document",)


@dataclass(frozen=True)
class _Start:
    dialect: str


class DocumentSession:
    """The author's session with the document, which has no window.

    Attributes:
        id: empty, as it has none.
        origin: the page's own.
        started: the beginning of the session.
    """

    id = ""

    def __init__(self, spoken: Dialect, origin: str) -> None:
        self.origin = origin
        self.started = _Start(spoken.name)
        self._title = spoken.title

    @property
    def storage_key(self) -> str:
        """The key of the session's values in the browser."""
        return f"{self.started.dialect} {self.origin}"

    def act(self, act: str, body: Any = None) -> NoReturn:
        """Raise `StateError`: there is no host to ask."""
        raise StateError(f"An agent that uses {self._title} cannot be asked for this ({act}).")


def offered(
    spoken: Dialect, target: ServerObject, config: BootConfig, loader: Loader
) -> AbstractAsyncContextManager[OfferedTools | None]:
    """Return a context manager in whose block the server's tools are registered at the document.

    In a tab the page's own origin sees them, and the origins that may embed it. In a frame nothing is registered if no
    origin is allowed to use them, nor for a console script, which serves one client at a time.
    """
    from mcpframe.frame.browser import window

    framed = window.host_window() is not None
    own_origin = window.own_origin()
    allowed = _allowed(spoken, config, target, own_origin)
    if framed and (allowed is None or config.program):
        return nullcontext()
    servers = server_module(config.program, target)
    session: Any = DocumentSession(spoken, own_origin)

    async def serve(read: Any, write: Any) -> None:
        with running_for(target, session, "transport", config, loader):
            await servers.serve(target, read, write)

    module: Any = import_module(spoken.document_module)
    offering: AbstractAsyncContextManager[OfferedTools] = module.offer(servers.messages(), serve, allowed)
    return offering


def _allowed(spoken: Dialect, config: BootConfig, target: ServerObject, own_origin: str) -> AllowedOrigins | None:
    try:
        return config.origins(target, own_origin).of(spoken.name)
    except OriginError:
        return None  # in a tab: a frame has ended by then
