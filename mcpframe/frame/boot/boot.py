"""The composition root inside a page: from the boot config to a served session.

The loader calls `main` once Python runs. Everything that differs between pages is in the boot config that the build
wrote into the page; everything a person sees goes through the loader's callbacks.
"""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mcpframe.frame.boot.config import BootConfig
from mcpframe.frame.boot.environment import set_environment
from mcpframe.frame.boot.reporter import RefusalLog, Reporter
from mcpframe.frame.boot.serving import offered_tools, serve_host, set_up
from mcpframe.frame.compat import in_pyodide, sdk
from mcpframe.frame.compat.batching import batch_callbacks
from mcpframe.frame.compat.process import outlive_exits
from mcpframe.frame.core.allowed_origins import OriginLists
from mcpframe.frame.core.connection import AllowedOrigins
from mcpframe.frame.core.dialect import SETUP, TAB, TRANSPORT
from mcpframe.frame.core.errors import HandshakeTimeout, McpFrameError, SessionError
from mcpframe.frame.dialects.available import inner_candidates, phase_of, withheld
from mcpframe.frame.page import load
from mcpframe.frame.serving import entries, user_input
from mcpframe.frame.serving.server_module import server_module

if TYPE_CHECKING:
    from mcpframe.frame.boot.interfaces import Loader

log = logging.getLogger("mcpframe")

_running: set[asyncio.Task[Any] | None] = set()
"""Holds the page's task, as the event loop's own reference is weak."""


async def main(config_json: str, loader: Loader) -> None:
    """Start the author's server and serve the host of this page until either of them ends it.

    Never raises: errors are shown on the page.

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
    """Show an error that ended the server; without its traceback if memory is short."""
    try:
        loader.fail(f"The {kind} stopped: {type(error).__name__}: {error}", traceback.format_exc())
    except Exception:  # noqa: BLE001  the page must show that the server has stopped
        error.__traceback__ = None  # frees the objects that its frames hold
        loader.fail(f"The {kind} stopped: {type(error).__name__}.", "")


async def serves() -> bool:
    """Return whether `main` still serves in a running loop. The page asks this after an error."""
    await asyncio.sleep(0)
    return any(task is not None and not task.done() for task in _running)


async def main_in_worker(config_json: str, port: Any) -> None:
    """Serve the clients of a page in a worker, or run functions for it, until the page ends the worker.

    Args:
        config_json: the boot config.
        port: the worker's end of the port, and the loader's callbacks.
    """
    _running.add(asyncio.current_task())
    config = BootConfig.read(config_json)
    _prepare(config, port)
    if port.kind == "process":
        set_environment(**config.environment)
        await import_module("mcpframe.frame.boot.in_worker").run_functions(port)
        return
    target = await _opened(config, port)
    if target is not None:
        await import_module("mcpframe.frame.boot.in_worker").serve(target, config, port)


def _prepare(config: BootConfig, loader: Loader) -> None:
    """Prepare Python for the author's code."""
    sdk.prepare()
    if in_pyodide():
        from mcpframe.frame.browser import stack

        batch_callbacks(asyncio.get_running_loop(), is_spared=stack.is_spared)
        outlive_exits()
        user_input.replace()
    load.configure(config.lazy)
    if config.processes:
        import_module("mcpframe.frame.boot.in_worker").use_processes(loader)
    loader.progress("Starting the server" if config.kind == "server" else "Starting")


async def _opened(config: BootConfig, loader: Loader) -> Any:
    """Return the author's server, or the main function of a page; None if its module raised an error. That is shown."""
    servers = server_module(config.program)
    if config.load_first:
        loader.progress("Installing packages")
        await load.load(*config.load_first)
    try:
        if config.world:
            import_module("mcpframe.frame.world").begin()
        set_environment(**config.environment)
        if config.visitor_env:
            asking = import_module("mcpframe.frame.serving.asking_program")
            return asking.AskingProgram(config.entry, config.visitor_env, config.title)
        is_server = config.kind == "server"
        return await servers.open_entry(config.entry) if is_server else entries.load_main(config.entry)
    except McpFrameError:
        raise
    except BaseException as error:  # noqa: BLE001  any exception of the author's module is shown, `sys.exit()` included
        from mcpframe.frame.page import hints

        await hints.explain(error)
        loader.fail(f"{config.title}: the {config.kind}'s module raised an error.", traceback.format_exc())
        return None


async def _run(config: BootConfig, loader: Loader) -> None:
    from mcpframe.frame.browser import window

    _prepare(config, loader)
    host = window.host_window()
    is_setup = host is not None and phase_of(window.fragment()) == SETUP
    if config.runs_in == "worker" and not is_setup:  # a setup has no tools; see `setup_hash` in loader.js
        in_worker = import_module("mcpframe.frame.boot.in_worker")
        target = await in_worker.server(config, loader, lambda: _opened(config, loader))
    else:
        target = await _opened(config, loader)
    if target is None:
        return
    if config.kind == "page":
        from mcpframe.frame.boot.page_main import run_page

        await run_page(target, config, loader)
        return
    if host is None:
        loader.standalone("{}")
        own = OriginLists(AllowedOrigins(frozenset({window.own_origin()})), {}).without(withheld(config.dialects))
        async with offered_tools(target, config, loader) as offering:
            if candidates := inner_candidates(TAB, own):
                hook = RefusalLog()
                await serve_host(target, candidates, window.own_window(), config, loader, offering, on_event=hook)
            elif offering:
                await offering.ended()
        return
    allowed = config.origins(target, window.own_origin())
    if allowed.anyone:
        log.warning("Any page may embed this server: its allowed_origins has '*'.")
    loader.ready(json.dumps({"state": "waiting"}))
    if is_setup:
        await set_up(target, allowed, host, config, loader)
    else:
        candidates = inner_candidates(TRANSPORT, allowed, about=config.about, query=window.query())
        async with offered_tools(target, config, loader) as offering:
            try:
                if candidates:
                    await serve_host(target, candidates, host, config, loader, offering, on_event=Reporter(loader))
            except HandshakeTimeout:
                if not offering or not offering.registered:
                    raise
                candidates = []  # the page around this one uses only WebMCP
            if offering and not candidates:
                await offering.ended()
