"""The setup of the author's server with its host, and its session with that host or with clients in its window."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mcpframe.frame.boot.author_page import end_tasks, open_storage, running_for
from mcpframe.frame.boot.reporter import Reporter
from mcpframe.frame.compat import in_pyodide
from mcpframe.frame.core.allowed_origins import ANY, OPAQUE
from mcpframe.frame.core.connection import AllowedOrigins, Candidate, Connection, Options
from mcpframe.frame.core.dialect import TRANSPORT
from mcpframe.frame.core.errors import SessionError
from mcpframe.frame.dialects.available import offered_dialects
from mcpframe.frame.serving.framed import Framed, browser_capability
from mcpframe.frame.serving.server_module import server_module

if TYPE_CHECKING:
    from mcpframe.frame.boot.config import BootConfig
    from mcpframe.frame.boot.interfaces import Loader, OfferedTools
    from mcpframe.frame.core.allowed_origins import OriginLists
    from mcpframe.frame.core.events import InnerWindow
    from mcpframe.frame.serving.frame_session import UiFunction
    from mcpframe.frame.serving.server import ServerObject
    from mcpframe.frame.session.host_messages import HostMessages
    from mcpframe.frame.session.interfaces import Messages
    from mcpframe.frame.session.session import EventHook, Session

BOOT_CAPABILITY = "mcpframe/boot"
"""The experimental capability with the timing of this page's start for the host: see `interfaces.Loader.timing`."""

_LATER_INTERVAL = 2.0
"""`Options.repeat_interval` of the openings for a later host: twice the usual, as the page already serves somebody."""


async def serve_host(
    target: ServerObject,
    candidates: Sequence[Candidate],
    host: InnerWindow,
    config: BootConfig,
    loader: Loader,
    offering: OfferedTools | None = None,
    *,
    on_event: EventHook | None = None,
) -> None:
    """Serve until the session ends; if its dialect is shared by clients, also a host of another that comes meanwhile.

    Args:
        target: the author's server.
        candidates: the roles that the page may take.
        host: the window of its peer.
        config: the boot config.
        loader: the loader's callbacks.
        offering: the server's tools at the document, if any: see `offered_tools`.
        on_event: called with every event of the connection but `Received`.

    Raises:
        SessionError: the error that ended it.
    """
    from mcpframe.frame.host_api import by_dialect as hosts
    from mcpframe.frame.session import host_messages
    from mcpframe.frame.session.session import open_session

    messages = server_module(config.program, target).messages()
    framed = candidates[0].role.phase == TRANSPORT
    connection = Connection(candidates, options=config.connection_options, names_refusal=framed)
    others = host_messages.HostMessages(hosts.host_api)
    hooks: dict[str, Any] = {"on_event": on_event, "messages": messages}
    first: dict[str, Any] = {
        "take_inbox": host.take_inbox,
        "waiting": waiting_for_host(config, offering),
        "intercept": others,
    }
    serve = partial(_serve_session, target, messages=messages, config=config, loader=loader, offering=offering)
    async with open_session(connection, host, **hooks, **first) as session:
        if not session.connection.role.shared:
            await serve(session, others)
            return
        async with _later_host(session, candidates, host, config.connection_options, hooks) as later:
            serving = asyncio.create_task(serve(session, others))
            coming = asyncio.create_task(later[0].begun()) if later else None
            try:
                await asyncio.wait([serving, *([coming] if coming else [])], return_when=asyncio.FIRST_COMPLETED)
                came = coming is not None and coming.done() and coming.exception() is None
                if came:
                    session.close()  # its clients are notified
                await serving
            finally:
                await end_tasks([serving, *([coming] if coming else [])])
            if came and later:
                await serve(*later, again=True)


async def _serve_session(
    target: ServerObject,
    session: Session,
    others: HostMessages,
    *,
    messages: Any,
    config: BootConfig,
    loader: Loader,
    offering: OfferedTools | None,
    again: bool = False,
) -> None:
    """Serve an open session until it ends; `again` in a document in which another has drawn.

    Raises:
        SessionError: the error that ended it.
    """
    from mcpframe.frame.host_api import by_dialect as hosts

    servers = server_module(config.program, target)
    async with _files_of(target, session, messages, config, loader) as streams:
        its_host = others.handler
        draw = target.ui_function if isinstance(target, Framed) else None
        following = hosts.follow_host(its_host, drawn=draw is None)
        with following, running_for(target, session, "transport", config, loader, its_host, offering):
            tasks: list[asyncio.Task[None]] = []
            if isinstance(target, Framed) and draw:
                tasks.append(asyncio.create_task(_run_ui(target, draw, loader, again)))
            try:
                experimental = {BOOT_CAPABILITY: json.loads(loader.timing())}

                async def serve(read: Any, write: Any) -> None:
                    async with _beside(offering, config):
                        await servers.serve(
                            target,
                            read,
                            offering.watched(write) if offering else write,
                            experimental=experimental,
                            on_problem=lambda title, error: loader.problem(title, _traceback_of(error)),
                        )

                if session.connection.role.shared:
                    from mcpframe.frame.browser import window
                    from mcpframe.frame.session.many_clients import MOST, serve_clients

                    if isinstance(target, Framed):
                        await target.known()
                    await serve_clients(
                        streams,
                        messages,
                        session.post,
                        serve,
                        most=1 if config.program else MOST,
                        capabilities=browser_capability(target),
                        before_leaving=window.before_leaving,
                    )
                else:
                    await serve(*streams)
                closed = await session.ended()
            finally:
                others.close()
                await end_tasks(tasks)
    if closed.error:
        raise closed.error


@asynccontextmanager
async def _later_host(
    session: Session, candidates: Sequence[Candidate], host: InnerWindow, options: Options, hooks: Mapping[str, Any]
) -> AsyncIterator[tuple[Session, HostMessages] | None]:
    """Call the host in the other dialects, beside a session whose clients may be strangers in the host's window.

    A hub is such a client. The page's own host may begin later, and hears of this page by its opening only. Nobody but
    the window and the origin of the session is called and heard.

    Yields:
        A session that has not begun, and what takes its host's messages; None if no other dialect allows this origin.
    """
    from mcpframe.frame.host_api import by_dialect as hosts
    from mcpframe.frame.session import host_messages
    from mcpframe.frame.session import session as sessions

    origin = session.origin
    opaque = origin == OPAQUE
    only = AllowedOrigins(frozenset() if opaque else frozenset({origin}), opaque=opaque)
    rest = [
        replace(each, allowed_origins=only, target=ANY if opaque else origin)
        for each in candidates
        if each.role.phase == TRANSPORT and not each.role.shared and origin in each.allowed_origins
    ]
    if not rest:
        yield None
        return
    patient = replace(options, handshake_timeout=None, repeat_interval=_LATER_INTERVAL)
    others = host_messages.HostMessages(hosts.host_api)
    later = sessions.Session(Connection(rest, options=patient), host, **hooks, intercept=others)
    try:
        later.start()
        yield later, others
    finally:
        later.close()
        later.streams[0].close()


async def set_up(
    target: ServerObject, allowed: OriginLists, host: InnerWindow, config: BootConfig, loader: Loader
) -> None:
    """Run the setup of a server with its host, and show its result."""
    from mcpframe.frame.session import setup_phase
    from mcpframe.frame.session.session import open_session

    phase = target.setup_phase if isinstance(target, Framed) else None
    asked: dict[str, Any] = {"visible": phase.visible, "permissions": phase.permissions} if phase else {}
    candidates = setup_phase.page_candidates(allowed, **asked)
    connection = Connection(candidates, options=config.connection_options, names_refusal=True)
    hooks: dict[str, Any] = {"on_event": Reporter(loader), "take_inbox": host.take_inbox}
    messages = server_module(config.program, target).messages()
    async with open_session(connection, host, **hooks, messages=messages, waiting=waiting_for_host(config)) as session:
        if phase is None or not isinstance(target, Framed):
            setup_phase.complete(session, config.setup_result)
            loader.at_end("null")
        else:
            from mcpframe.frame.serving.author_setup import run_setup

            with running_for(target, session, "setup", config, loader):
                setting_up = asyncio.create_task(run_setup(phase.function, target.session, config.setup_result))
                ending = asyncio.create_task(session.ended())
                try:
                    await asyncio.wait([setting_up, ending], return_when=asyncio.FIRST_COMPLETED)
                    if ending.done():
                        raise ending.result().error or SessionError("The session was closed during the setup.")
                    result, failure = setting_up.result()
                    setup_phase.complete(session, result)
                    loader.at_end("null")
                finally:
                    await end_tasks([setting_up, ending])
            if failure:
                loader.fail(failure.title, failure.detail)
                return
        loader.ready(json.dumps({"state": "set up", "origin": session.origin}))


def waiting_for_host(config: BootConfig, offering: OfferedTools | None = None) -> AbstractAsyncContextManager[None]:
    """Return a context manager for the handshake with a host: `stack.spared`, unless the author's code runs then."""
    if offering or config.world or not in_pyodide():
        return nullcontext()
    from mcpframe.frame.browser import stack

    return stack.spared()


def offered_tools(
    target: ServerObject, config: BootConfig, loader: Loader
) -> AbstractAsyncContextManager[OfferedTools | None]:
    """Return a context manager in whose block the server's tools are registered at the document, if it accepts any."""
    from mcpframe.frame.browser import window

    spoken = next((each for each in offered_dialects() if each.document_module and config.offers(each.name)), None)
    if spoken is None or not window.takes_tools(spoken.document_property):
        return nullcontext()
    from mcpframe.frame.boot.document import offered

    return offered(spoken, target, config, loader)


def _beside(offering: OfferedTools | None, config: BootConfig) -> AbstractAsyncContextManager[None]:
    """Return a context manager for serving a further client: a program serves only one at a time."""
    return offering.standing_aside() if offering and config.program else nullcontext()


def _files_of(
    target: ServerObject, session: Session, messages: Messages, config: BootConfig, loader: Loader
) -> AbstractAsyncContextManager[tuple[Any, Any]]:
    """Return a context manager that keeps the files of a session, unless its worker does; it yields the streams."""
    if not config.persist or (isinstance(target, Framed) and target.served_by):
        return nullcontext(session.streams)
    from mcpframe.frame.boot.page_files import keeping_files
    from mcpframe.frame.browser.leaving import on_hidden

    return keeping_files(config.persist, session.id, session.streams, messages, loader.problem, open_storage, on_hidden)


async def _run_ui(server: Framed, function: UiFunction, loader: Loader, again: bool) -> None:
    session = server.session
    if again:
        session.page.element("#mcpframe-app").clear()
    try:
        with session.page.drawing():
            await function(session)
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task and task.cancelling():
            raise  # the session is over
        # Other exceptions of the author's function are shown, and the tools continue.
        from mcpframe.frame.page import hints

        await hints.explain(error)
        loader.problem(f"The page's own part stopped: {type(error).__name__}: {error}", traceback.format_exc())


def _traceback_of(error: BaseException | None) -> str:
    return "".join(traceback.format_exception(error)) if error else ""
