"""Import the author's server as a page does, and describe it.

Environment variables: MCPFRAME_ENTRY, MCPFRAME_SERVER (the folder of the author's files), MCPFRAME_PATHS (further
folders to import from, separated by colons), MCPFRAME_KIND, MCPFRAME_SETTINGS (JSON: `args` and `env` of the author).
If the author's code raises, the result is {"error": sentence, "traceback": text}.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import sys
from typing import Any


async def main() -> dict[str, Any]:
    """Import the server and return its description."""
    names = ("SERVER", "ENTRY", "KIND", "PATHS", "SETTINGS")
    folder, entry, kind, paths, settings = (os.environ.pop(f"MCPFRAME_{name}") for name in names)
    sys.path.insert(0, folder)
    sys.path.extend(filter(None, paths.split(":")))
    os.chdir(folder)
    return await inspected(entry, folder, kind, json.loads(settings))


async def inspected(entry: str, folder: str, kind: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the description of the entry, or the error that it raised."""
    from mcpframe.frame import load
    from mcpframe.frame.compat import sdk

    sdk.prepare()
    load.configure({})
    from mcpframe.frame import boot, entries
    from mcpframe.frame.core.errors import EntryError, ProgramError
    from mcpframe.frame.peer_session import unwrapped

    program = settings.get("program", "")
    servers = boot.server_module(program)

    try:
        entries.set_environment(**settings)
        if settings.get("world"):
            from mcpframe.frame import world

            world.only_look()
        found: Any = await servers.open_entry(entry) if kind == "server" else entries.load_main(entry)
        if program:
            return await asked(servers, found)
        used = sorted(sys.modules)
        lists = getattr(boot.server_module(program, found), "list_tools", None)
        if kind == "server" and lists:
            listed = await lists(found)
        else:  # a lowlevel server lists its tools only within a session
            listed = await found.list_tools() if hasattr(found, "list_tools") else None
    except (EntryError, ProgramError) as error:
        return {"error": str(error), "traceback": told(error.__cause__, folder) if error.__cause__ else ""}
    except BaseException as error:  # noqa: BLE001 an author's module may raise anything, SystemExit included
        from mcpframe.frame import hints

        hints.explain_now(error)
        return {"error": f"{type(error).__name__}: {error}".rstrip(": "), "traceback": told(error, folder)}
    return {
        "kind": type(unwrapped(found)).__name__,
        "name": found.name if kind == "server" else found.__module__,
        "title": getattr(found, "title", None),
        "version": getattr(found, "version", None),
        "instructions": getattr(found, "instructions", None),
        "allowed_origins": list(getattr(found, "allowed_origins", None) or []),
        "tools": listed and [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed],
        "modules": used,
        "setup": setup_of(found) if kind == "server" else None,
    }


def setup_of(server: Any) -> dict[str, Any]:
    """Return the requirements of a server's setup."""
    phase = getattr(server, "setup_phase", None)
    if phase is None:
        return {"visible": False, "permissions": []}
    return {"visible": phase.visible, "permissions": [dataclasses.asdict(item) for item in phase.permissions]}


_CLIENT = {"name": "mcpframe build", "version": "1"}
_HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": _CLIENT}
_MOST_PAGES = 100


async def asked(servers: Any, target: Any) -> dict[str, Any]:
    """What a program says of itself to a client: it has no object that could be looked at.

    Raises:
        ProgramError: It does not serve, or answers with an error.
        BaseException: What ends it.
    """
    import anyio

    from mcpframe.frame.core.errors import ProgramError

    asking, read = anyio.create_memory_object_stream[Any](1)
    write, answers = anyio.create_memory_object_stream[Any](1000)
    ends: list[BaseException | None] = []

    async def ask(number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
        await asking.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while True:
            _, answer = await answers.receive()
            if answer.get("id") == number and "method" not in answer:
                break
        if ends and ends[0] is not None:
            raise ends[0]
        if "error" in answer:
            raise ProgramError(f"The program answers {method} with an error: {answer['error'].get('message')}")
        result: dict[str, Any] = answer["result"]
        return result

    serving = asyncio.create_task(servers.serve(target, read, write, on_problem=lambda _, error: ends.append(error)))
    try:
        hello = await ask(0, "initialize", _HELLO)
        await asking.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        tools: list[Any] = []
        cursor: Any = None
        for number in range(1, _MOST_PAGES if "tools" in hello["capabilities"] else 1):
            page = await ask(number, "tools/list", {"cursor": cursor} if cursor else {})
            tools += page["tools"]
            cursor = page.get("nextCursor")
            if cursor is None:
                break
        used = sorted(sys.modules)
    finally:
        asking.close()
        await serving
        answers.close()
    about = hello["serverInfo"]
    return {
        "kind": "program",
        "setup": setup_of(target),
        **{key: about.get(key) for key in ("name", "title", "version")},
        "instructions": hello.get("instructions"),
        "tools": tools,
        "modules": used,
    }


def told(error: BaseException, folder: str) -> str:
    """Return the traceback without the frames of this program, which do not help an author."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    theirs = folder.rpartition("/")[0]  # the author's files, and those of the requirements
    first = next((number for number, frame in enumerate(frames) if frame.filename.startswith(theirs)), 0)
    lines = ["Traceback (most recent call last):\n", *traceback.format_list(frames[first:])]
    return "".join([*lines, *traceback.format_exception_only(error)])
