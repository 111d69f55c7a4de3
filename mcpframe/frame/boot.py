"""The composition root inside a page: from the boot config to a served session.

The loader calls `main` once Python runs. Everything that differs from page to page is in the boot config that the build
wrote into it; everything a person sees goes through the loader's callbacks.
"""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mcpframe.frame import entries, load
from mcpframe.frame.compat import sdk
from mcpframe.frame.compat.batching import batch_callbacks
from mcpframe.frame.compat.process import outlive_exits
from mcpframe.frame.core.connection import AllowedOrigins, Candidate, Connection, Options
from mcpframe.frame.core.dialect import SETUP, TAB, TRANSPORT
from mcpframe.frame.core.errors import McpFrameError, SessionError
from mcpframe.frame.core.events import InnerWindow, SessionBegun
from mcpframe.frame.core.origins import OriginEntries, OriginLists
from mcpframe.frame.dialects.available import dialect, inner_candidates, phase_of
from mcpframe.frame.peer_session import Framed, PeerSession, unwrapped
from mcpframe.frame.reporter import Loader, RefusalLog, Reporter, last_words_to_post

if TYPE_CHECKING:
    from mcpframe.frame.author import FrameSession, Phase, UiFunction
    from mcpframe.frame.server import ServerObject
    from mcpframe.frame.session import EventHook, Messages, Session
    from mcpframe.frame.setup_phase import SetupResult
    from mcpframe.frame.storage import Storage
    from mcpframe.frame.ui import Page

log = logging.getLogger("mcpframe")

BOOT_CAPABILITY = "mcpframe/boot"
"""The experimental capability that tells the host how this page came to be ready: see `Loader.timing`."""


@dataclass(frozen=True)
class BootConfig:
    """What the build wrote into the page.

    Attributes:
        entry: `module:object` or `module:factory()` of the author's server, or of the main function of a page.
        name: the name of the bundle.
        title: the name for people.
        allowed_origins: origins of the hosts that may embed the page; empty to take those of the `FrameServer`.
        dialect_origins: the same for single dialects, in place of those.
        visibility: `requirement` and `message` for the setup's answer.
        options: any of `Options`' fields, and `allow_opaque`.
        lazy: for each lazy requirement, the wheels to fetch; see `load`.
        assets: the author's files for the page: `base`, their folder, and `files`, their paths in it.
        kind: `"server"`, or `"page"` for a page with a main function.
        args: what the author's code finds in `sys.argv`, after the program's name.
        env: environment variables that it finds.
        program: the name of the console script whose function the entry names; empty for a server object.
        world: whether the author's code was written for a process: see `mcpframe.frame.world`.
        at_home: whether the home folder is the current one.
        persist: files and folders that are kept for each session: see `persist`.
        about: how the page introduces itself to its host: `name`, `version` and `title`.
    """

    entry: str
    name: str
    title: str
    allowed_origins: list[str] = field(default_factory=list)
    dialect_origins: Mapping[str, list[str]] = field(default_factory=dict)
    visibility: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    lazy: Mapping[str, Any] = field(default_factory=dict)
    assets: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "server"
    args: list[str] = field(default_factory=list)
    env: Mapping[str, str] = field(default_factory=dict)
    program: str = ""
    world: bool = False
    at_home: bool = False
    persist: list[str] = field(default_factory=list)
    about: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> BootConfig:
        """Read it from the page's JSON; members for the loader alone are passed over."""
        data = json.loads(text)
        return cls(**{field.name: data[field.name] for field in fields(cls) if data.get(field.name) is not None})

    @property
    def environment(self) -> dict[str, Any]:
        """The arguments of `entries.set_environment`."""
        return {name: getattr(self, name) for name in ("args", "env", "program", "world", "at_home")}

    @property
    def connection_options(self) -> Options:
        """The deadlines and limits of the connection."""
        known = {field.name for field in fields(Options)}
        return Options(**{name: value for name, value in self.options.items() if name in known})

    def origins(self, server: object) -> OriginLists:
        """Return the allow-lists: the config's, or else those the author passed to `FrameServer`.

        Raises:
            OriginError: where neither allows anybody.
        """
        common, own = tuple(self.allowed_origins), self.dialect_origins
        entries = OriginEntries(common, {name: tuple(origins) for name, origins in own.items()})
        if not entries and isinstance(server, Framed):
            entries = OriginEntries(server.allowed_origins or (), server.dialect_origins)
        return entries.parse(opaque=bool(self.options.get("allow_opaque", False)))

    @property
    def setup_result(self) -> SetupResult:
        """How the setup of a server without one of its own ends: at once, with this."""
        from mcpframe.frame.setup_phase import configured_result

        return configured_result(self.title, self.visibility)


_running: set[asyncio.Task[Any] | None] = set()
"""Holds the page's task: the event loop's own reference is weak, and so is the browser's, as far as Python can see."""


async def main(config_json: str, loader: Loader) -> None:
    """Start the author's server and serve the host of this page until either of them ends it.

    Nothing is raised: what goes wrong is shown on the page.

    Args:
        config_json: the boot config.
        loader: the loader's callbacks.
    """
    _running.add(asyncio.current_task())
    kind = "server"
    try:
        config = BootConfig.read(config_json)
        kind = config.kind
        await _run(config, loader)
    except SessionError as error:
        loader.fail(str(error), "")
    except McpFrameError as error:
        loader.fail(str(error), traceback.format_exc())
    except BaseException as error:
        _report(error, kind, loader)
        raise


def _report(error: BaseException, kind: str, loader: Loader) -> None:
    """Show an error that ended the server; without its traceback where there is no memory for that."""
    try:
        loader.fail(f"The {kind} stopped: {type(error).__name__}: {error}", traceback.format_exc())
    except Exception:  # noqa: BLE001  whatever it is, the page is told that the server has stopped
        error.__traceback__ = None  # and so frees what its frames hold
        loader.fail(f"The {kind} stopped: {type(error).__name__}.", "")


async def serves() -> bool:
    """Return whether `main` still serves in a loop that runs: the page asks where an error reached it."""
    await asyncio.sleep(0)
    return any(task is not None and not task.done() for task in _running)


async def _run(config: BootConfig, loader: Loader) -> None:
    sdk.prepare()
    if sdk.in_pyodide():
        batch_callbacks(asyncio.get_running_loop())
        outlive_exits()
    load.configure(config.lazy)
    from mcpframe.frame.browser import window

    servers = server_module(config.program)
    loader.progress("Starting the server" if config.kind == "server" else "Starting")
    try:
        if config.world:
            import_module("mcpframe.frame.world").begin()
        entries.set_environment(**config.environment)
        is_server = config.kind == "server"
        target: Any = await servers.open_entry(config.entry) if is_server else entries.load_main(config.entry)
    except McpFrameError:
        raise
    except BaseException as error:  # noqa: BLE001  whatever the author's module raises is shown, `sys.exit()` included
        from mcpframe.frame import hints

        await hints.explain(error)
        loader.fail(f"{config.title}: the {config.kind}'s module raised an error.", traceback.format_exc())
        return
    if config.kind == "page":
        await _run_page(target, config, loader)
        return
    host = window.host_window()
    if host is None:
        loader.standalone("{}")
        own = AllowedOrigins(frozenset({window.own_origin()}))
        if candidates := inner_candidates(TAB, own):
            await _serve(target, candidates, window.own_window(), config, loader, on_event=RefusalLog())
        return
    allowed = config.origins(target)
    if allowed.anyone:
        log.warning("Any page may embed this server: its allowed_origins has '*'.")
    loader.ready(json.dumps({"state": "waiting"}))
    if phase_of(window.fragment()) == SETUP:
        await _set_up(target, allowed, host, config, loader)
    else:
        candidates = inner_candidates(TRANSPORT, allowed, about=config.about, query=window.query())
        await _serve(target, candidates, host, config, loader, on_event=Reporter(loader))


def server_module(program: str = "", target: object = None) -> Any:
    """Return the module for server objects of an SDK that is there, or for programs.

    It imports that SDK: call `sdk.prepare` before.

    Args:
        program: the name of the program; empty for an object.
        target: the object, where it is known.
    """
    if program:
        return import_module("mcpframe.frame.console")
    other = sdk.major() == 1 or (sdk.has_fastmcp() if target is None else sdk.is_of_fastmcp(unwrapped(target)))
    return import_module("mcpframe.frame.other_server" if other else "mcpframe.frame.server")


async def _serve(
    target: ServerObject,
    candidates: Sequence[Candidate],
    host: InnerWindow,
    config: BootConfig,
    loader: Loader,
    *,
    on_event: EventHook | None = None,
) -> None:
    from mcpframe.frame import hosts
    from mcpframe.frame.host_messages import HostMessages
    from mcpframe.frame.session import open_session

    servers = server_module(config.program, target)
    connection = Connection(candidates, options=config.connection_options)
    others = HostMessages(hosts.host_api)
    messages = servers.messages()
    hooks: dict[str, Any] = {
        "on_event": on_event,
        "take_inbox": host.take_inbox,
        "messages": messages,
        "intercept": others,
    }
    async with (
        open_session(connection, host, **hooks) as session,
        _files_of(session, messages, config, loader) as streams,
    ):
        its_host = others.handler
        with hosts.fitted(its_host), _running_for(target, session, "transport", config, loader, its_host):
            tasks: list[asyncio.Task[None]] = []
            if isinstance(target, Framed) and target.ui_function:
                tasks.append(asyncio.create_task(_run_ui(target, target.ui_function, loader)))
            try:
                experimental = {BOOT_CAPABILITY: json.loads(loader.timing())}

                async def serve(read: Any, write: Any) -> None:
                    await servers.serve(
                        target,
                        read,
                        write,
                        experimental=experimental,
                        on_problem=lambda title, error: loader.problem(title, _traceback_of(error)),
                    )

                if dialect(session.started.dialect).shared:
                    from mcpframe.frame.clients import MOST, serve_clients

                    most = 1 if config.program else MOST
                    await serve_clients(streams, messages, session.post, serve, most=most)
                else:
                    await serve(*streams)
                closed = await session.ended()
            finally:
                others.close()
                await _end(tasks)
    if closed.error:
        raise closed.error


def _files_of(
    session: Session, messages: Messages, config: BootConfig, loader: Loader
) -> AbstractAsyncContextManager[tuple[Any, Any]]:
    """Return a context manager that keeps the files of a session, and has its streams."""
    if not config.persist:
        return nullcontext(session.streams)
    from mcpframe.frame.page_files import keeping_files

    return keeping_files(config.persist, session, messages, loader.problem)


async def _set_up(
    target: ServerObject, allowed: OriginLists, host: InnerWindow, config: BootConfig, loader: Loader
) -> None:
    from mcpframe.frame import setup_phase
    from mcpframe.frame.session import open_session

    phase = target.setup_phase if isinstance(target, Framed) else None
    asked: dict[str, Any] = {"visible": phase.visible, "permissions": phase.permissions} if phase else {}
    connection = Connection([setup_phase.page_candidate(allowed, **asked)], options=config.connection_options)
    hooks: dict[str, Any] = {"on_event": Reporter(loader), "take_inbox": host.take_inbox}
    messages = server_module(config.program, target).messages()
    async with open_session(connection, host, **hooks, messages=messages) as session:
        if phase is None or not isinstance(target, Framed):
            setup_phase.complete(session, config.setup_result)
            loader.at_end("null")
        else:
            from mcpframe.frame.author_setup import run_setup

            with _running_for(target, session, "setup", config, loader):
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
                    await _end([setting_up, ending])
            if failure:
                loader.fail(failure.title, failure.detail)
                return
        loader.ready(json.dumps({"state": "set up", "origin": session.origin}))


async def _run_page(main: Callable[[Page], Any], config: BootConfig, loader: Loader) -> None:
    from mcpframe.frame import host_link as inner
    from mcpframe.frame.page_storage import open_storage

    options = config.options
    named = bool(config.allowed_origins or any(config.dialect_origins.values()) or options.get("allow_opaque"))
    allowed = config.origins(None) if named else None

    def note_session(begun: SessionBegun | None) -> None:
        loader.at_end(last_words_to_post(begun) if begun else "null")

    def setup() -> SetupResult:
        return config.setup_result

    inner.configure(inner.Defaults(allowed, config.connection_options, setup, note_session))
    its_page = _author_page(open_storage(f"page {config.name}"), config, loader)
    loader.ready(json.dumps({"state": "running"}))
    try:
        await main(its_page)
    except Exception as error:
        from mcpframe.frame import hints

        await hints.explain(error)
        raise
    finally:
        its_page.close()


async def _run_ui(server: Framed, function: UiFunction, loader: Loader) -> None:
    try:
        await function(server.session)
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task and task.cancelling():
            raise  # the session is over
        # Whatever else the author's function raises is shown, and the tools go on.
        from mcpframe.frame import hints

        await hints.explain(error)
        loader.problem(f"The page's own part stopped: {type(error).__name__}: {error}", traceback.format_exc())


def _traceback_of(error: BaseException | None) -> str:
    return "".join(traceback.format_exception(error)) if error else ""


async def _end(tasks: list[asyncio.Task[Any]]) -> None:
    """End what runs beside the session."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)


def _running_for(
    target: ServerObject, session: Session, phase: Phase, config: BootConfig, loader: Loader, host: Any = None
) -> AbstractContextManager[None]:
    """Return a context manager in whose block `server.session` is the session with this peer."""
    if not isinstance(target, Framed):
        return nullcontext()
    return target.running_for(PeerSession(lambda: _author_session(session, phase, config, loader, host)))


def _author_session(session: Session, phase: Phase, config: BootConfig, loader: Loader, host: Any) -> FrameSession:
    from mcpframe.frame.author import FrameSession
    from mcpframe.frame.host import Host
    from mcpframe.frame.page_storage import open_storage

    storage = open_storage(session.storage_key)
    its_host = host or Host(session.started.dialect)
    return FrameSession(session, phase, storage, _author_page(storage, config, loader), its_host)


def _author_page(storage: Storage, config: BootConfig, loader: Loader) -> Page:
    from mcpframe.frame.browser import dom
    from mcpframe.frame.ui import Assets, Page

    assets = Assets(config.assets.get("base", ""), frozenset(config.assets.get("files", ())))
    return Page(dom.DomBrowser(loader), assets, storage=storage, on_error=loader.problem)
