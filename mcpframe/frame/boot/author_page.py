"""What an author's code has in a page: its session with a peer, and the page itself."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from mcpframe.frame.serving.framed import Framed, PeerSession

if TYPE_CHECKING:
    from mcpframe.frame.boot.config import BootConfig
    from mcpframe.frame.boot.reporter import Loader
    from mcpframe.frame.page.session_page import Page
    from mcpframe.frame.serving.author import FrameSession, Phase
    from mcpframe.frame.serving.server import ServerObject
    from mcpframe.frame.session.session import Session
    from mcpframe.frame.storage.values import Storage


def running_for(
    target: ServerObject, session: Session, phase: Phase, config: BootConfig, loader: Loader, host: Any = None
) -> AbstractContextManager[None]:
    """Return a context manager in whose block `server.session` is the session with this peer."""
    if not isinstance(target, Framed):
        return nullcontext()
    return target.running_for(PeerSession(lambda: _author_session(session, phase, config, loader, host)))


def _author_session(session: Session, phase: Phase, config: BootConfig, loader: Loader, host: Any) -> FrameSession:
    from mcpframe.frame.boot.page_storage import open_storage
    from mcpframe.frame.host_api.host import Host
    from mcpframe.frame.serving.author import FrameSession

    storage = open_storage(session.storage_key)
    its_host = host or Host(session.started.dialect)
    return FrameSession(session, phase, storage, author_page(storage, config, loader), its_host)


def author_page(storage: Storage, config: BootConfig, loader: Loader) -> Page:
    """Return the page, as the author's code sees it."""
    from mcpframe.frame.browser import dom
    from mcpframe.frame.page.session_page import Assets, Page

    assets = Assets(config.assets.get("base", ""), frozenset(config.assets.get("files", ())))
    return Page(dom.DomBrowser(loader), assets, storage=storage, on_error=loader.problem)


async def end_tasks(tasks: list[asyncio.Task[Any]]) -> None:
    """Cancel what runs beside a session, and wait for its end."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
