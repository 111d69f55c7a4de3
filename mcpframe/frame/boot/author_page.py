"""The session of an author's code with a peer, its page, and its storage."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mcpframe.frame.serving.framed import Framed, PeerSession, SessionFacts

if TYPE_CHECKING:
    from mcpframe.frame.boot.config import BootConfig
    from mcpframe.frame.boot.interfaces import Loader, OfferedTools
    from mcpframe.frame.page.interfaces import FormsOfTools
    from mcpframe.frame.page.session_page import Page
    from mcpframe.frame.serving.frame_session import FrameSession, Phase
    from mcpframe.frame.serving.server import ServerObject
    from mcpframe.frame.session.session import Session
    from mcpframe.frame.storage.values import Storage

log = logging.getLogger(__name__)


def running_for(
    target: ServerObject,
    session: Session,
    phase: Phase,
    config: BootConfig,
    loader: Loader,
    host: Any = None,
    offering: OfferedTools | None = None,
) -> AbstractContextManager[None]:
    """Return a context manager in whose block `server.session` is the session with this peer.

    Args:
        target: the author's server.
        session: the session.
        phase: its phase.
        config: the boot config.
        loader: the loader's callbacks.
        host: the requests of this page to its host; None for none.
        offering: the server's tools at the document, if any.
    """
    if not isinstance(target, Framed):
        return nullcontext()
    about = SessionFacts(session.id, session.origin, session.storage_key)

    def open_session() -> FrameSession:
        forms = (lambda: _tool_forms(target, peer, config, offering)) if phase == "transport" else None
        return _author_session(session, phase, config, loader, host, forms)

    peer = PeerSession(open_session, about)
    return target.running_for(peer)


def _author_session(
    session: Session,
    phase: Phase,
    config: BootConfig,
    loader: Loader,
    host: Any,
    open_forms: Callable[[], FormsOfTools] | None,
) -> FrameSession:
    from mcpframe.frame.host_api.host import Host
    from mcpframe.frame.serving.frame_session import FrameSession

    storage = open_storage(session.storage_key)
    its_host = host or Host(session.started.dialect)
    its_host.opens_storage = open_storage
    return FrameSession(session, phase, storage, author_page(storage, config, loader, open_forms), its_host)


def _tool_forms(target: Framed, peer: PeerSession, config: BootConfig, offering: OfferedTools | None) -> FormsOfTools:
    """Return the forms of a page for its server's tools, which run in the session of this peer."""
    from mcpframe.frame.dialects.available import offered_dialects
    from mcpframe.frame.serving.server_module import server_module

    servers = server_module(config.program, target)

    async def serve(read: Any, write: Any) -> None:
        with target.joining(peer):
            await servers.serve(target, read, write)

    module: Any = import_module(next(each.form_module for each in offered_dialects() if each.form_module))
    forms: FormsOfTools = module.PageForms(servers.messages(), serve, offering)
    return forms


def author_page(
    storage: Storage, config: BootConfig, loader: Loader, open_forms: Callable[[], FormsOfTools] | None = None
) -> Page:
    """Return the page for the author's code."""
    from mcpframe.frame.browser import dom
    from mcpframe.frame.page.session_page import Assets, Page

    given = config.assets
    assets = Assets(given.get("base", ""), frozenset(given.get("files", ())), given.get("addresses", {}))
    return Page(dom.DomBrowser(loader), assets, storage=storage, on_error=loader.problem, open_forms=open_forms)


def open_storage(session_id: str, *, is_kept: bool | None = None) -> Storage:
    """Return the values of a session: in the browser, or in memory if the page has no storage.

    Args:
        session_id: the key of the values.
        is_kept: in a worker, which has no localStorage, whether its page has storage.
    """
    from mcpframe.frame.browser import storage as browser_storage
    from mcpframe.frame.storage.values import Storage

    texts = browser_storage.local_storage()
    if texts is None and not is_kept:
        log.warning(
            "This page has no storage, so what the session keeps is lost with the page: the sandbox lacks "
            "allow-same-origin, or the browser blocks the storage of pages that another site frames."
        )
        return Storage(session_id)
    return Storage(session_id, texts, browser_storage.Database(), browser_storage.page_locks())


async def end_tasks(tasks: list[asyncio.Task[Any]]) -> None:
    """Cancel the tasks beside a session, and wait for their end."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
