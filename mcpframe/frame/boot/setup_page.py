"""The setup phase of a server's page."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from mcpframe.frame.boot.author_page import end_tasks, running_for
from mcpframe.frame.boot.reporter import Reporter
from mcpframe.frame.core.connection import Connection
from mcpframe.frame.core.errors import SessionError
from mcpframe.frame.serving.framed import Framed
from mcpframe.frame.serving.server_module import server_module

if TYPE_CHECKING:
    from mcpframe.frame.boot.config import BootConfig
    from mcpframe.frame.boot.reporter import Loader
    from mcpframe.frame.core.events import InnerWindow
    from mcpframe.frame.core.origins import OriginLists
    from mcpframe.frame.serving.server import ServerObject


async def set_up(
    target: ServerObject, allowed: OriginLists, host: InnerWindow, config: BootConfig, loader: Loader
) -> None:
    """Run the setup of a server with its host, and show how it ended."""
    from mcpframe.frame.boot.serving import waiting_for_host
    from mcpframe.frame.session import setup as setup_phase
    from mcpframe.frame.session.session import open_session

    phase = target.setup_phase if isinstance(target, Framed) else None
    asked: dict[str, Any] = {"visible": phase.visible, "permissions": phase.permissions} if phase else {}
    connection = Connection([setup_phase.page_candidate(allowed, **asked)], options=config.connection_options)
    hooks: dict[str, Any] = {"on_event": Reporter(loader), "take_inbox": host.take_inbox}
    messages = server_module(config.program, target).messages()
    async with open_session(connection, host, **hooks, messages=messages, waiting=waiting_for_host(config)) as session:
        if phase is None or not isinstance(target, Framed):
            setup_phase.complete(session, config.setup_result)
            loader.at_end("null")
        else:
            from mcpframe.frame.serving.setup import run_setup

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
