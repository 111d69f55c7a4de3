"""Registers the author's tools at the document's `modelContext` (WebMCP)."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from mcpframe.frame.boot.author_page import running_for
from mcpframe.frame.core.errors import OriginError, StateError
from mcpframe.frame.core.origins import AllowedOrigins
from mcpframe.frame.dialects.webmcp.tools import exposed_to
from mcpframe.frame.serving.server_module import server_module
from mcpframe.frame.webmcp.offering import Offering

if TYPE_CHECKING:
    from mcpframe.frame.boot.config import BootConfig
    from mcpframe.frame.boot.reporter import Loader
    from mcpframe.frame.serving.server import ServerObject

BUNDLED_WITH = ("webmcp",)

NAME = "webmcp"


@dataclass(frozen=True)
class _Start:
    dialect: str = NAME


class DocumentSession:
    """The session under the author's one if the caller is the document itself, which has no window to talk to.

    Attributes:
        id: empty: it has none.
        origin: the page's own.
        started: the beginning of the session.
    """

    id = ""
    started = _Start()

    def __init__(self, origin: str) -> None:
        """Be the session of a page of this origin."""
        self.origin = origin

    @property
    def storage_key(self) -> str:
        """The key of the session's values in the browser."""
        return f"{NAME} {self.origin}"

    def act(self, act: str, body: Any = None) -> NoReturn:
        """Raise `StateError`: there is no host to ask."""
        raise StateError(f"An agent that uses WebMCP cannot be asked for this ({act}).")


def offered(target: ServerObject, config: BootConfig, loader: Loader) -> AbstractAsyncContextManager[Offering | None]:
    """Return a context manager in whose block the server's tools are registered at the document.

    In a tab everything in the page's own origin sees them, and the origins that may embed it. In a frame nothing is
    registered where no origin is allowed to use WebMCP, nor for a console script, which serves one client at a time.

    Args:
        target: the author's server.
        config: the boot config.
        loader: the loader's callbacks.
    """
    from mcpframe.frame.browser import model_context, window

    framed = window.host_window() is not None
    allowed = _allowed(config, target)
    if framed and (allowed is None or config.program):
        return nullcontext()
    servers = server_module(config.program, target)
    session: Any = DocumentSession(window.own_origin())

    async def serve(read: Any, write: Any) -> None:
        with running_for(target, session, "transport", config, loader):
            await servers.serve(target, read, write)

    place = model_context.ModelContext()
    return Offering(place, servers.messages(), serve, exposed_to(allowed, place.embedder()))


def _allowed(config: BootConfig, target: ServerObject) -> AllowedOrigins | None:
    try:
        return config.origins(target).of(NAME)
    except OriginError:
        return None  # in a tab: a frame has ended by then
