"""Import the author's server as a page does, and describe it.

Environment variables: MCPFRAME_ENTRY, MCPFRAME_SERVER (the folder of the author's files), MCPFRAME_PATHS (further
folders to import from, separated by colons), MCPFRAME_KIND, MCPFRAME_SETTINGS (JSON: `args` and `env` of the author),
MCPFRAME_PATIENCE (the seconds that a program may take before it serves). After the seconds of MCPFRAME_LIMIT, the
script around this program raises KeyboardInterrupt in it.
If the author's code raises, the result is {"error": sentence, "traceback": text, "raised": the result of `failure`}.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import errno
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from types import FrameType
from typing import Any


async def main() -> dict[str, Any]:
    """Import the server and return its description."""
    names = ("SERVER", "ENTRY", "KIND", "PATHS", "SETTINGS", "PATIENCE")
    folder, entry, kind, paths, settings, patience = (os.environ.pop(f"MCPFRAME_{name}") for name in names)
    os.environ.pop("MCPFRAME_LIMIT", None)
    if folder not in sys.path:  # a page has them already
        sys.path.insert(0, folder)
        sys.path.extend(filter(None, paths.split(":")))
    os.chdir(folder)
    read = watch_sources(paths.split(":"))
    result = await inspected(entry, folder, kind, json.loads(settings), float(patience))
    return {**result, "sources": sorted(read)}


def watch_sources(folders: list[str]) -> set[str]:
    """Return a set to which every later request for the source of a module in these folders adds its path.

    A bundle has the sources of a package only if it reads them. Tracebacks and warnings do without.
    """
    import inspect
    from importlib.machinery import SourcelessFileLoader

    read: set[str] = set()
    find = inspect.getmodule

    def get_source(loader: Any, name: str) -> None:
        if loader.path.startswith(tuple(f"{folder}/" for folder in folders if folder)) and not is_shown():
            read.add(loader.path)

    def is_shown() -> bool:
        return any(path.endswith(("/traceback.py", "/warnings.py")) for path, *_ in calls(sys._getframe(2)))

    def getmodule(target: Any, filename: str | None = None) -> Any:
        """As `inspect.getmodule`; bytecode without a source names another folder than its module."""
        if (module := find(target, filename)) is not None:
            return module
        _, _, inner = (filename or getattr(target, "f_code", target).co_filename).partition("/site-packages/")
        return next((each for folder in folders if (each := find(target, f"{folder}/{inner}")) is not None), None)

    setattr(SourcelessFileLoader, "get_source", get_source)  # noqa: B010
    setattr(inspect, "getmodule", getmodule)  # noqa: B010
    return read


async def inspected(
    entry: str, folder: str, kind: str, settings: dict[str, Any], patience: float = 60.0
) -> dict[str, Any]:
    """Return the description of the entry, or the error that it raised."""
    from mcpframe.frame.compat import sdk
    from mcpframe.frame.page import load

    sdk.prepare()
    load.configure({})
    from mcpframe.frame.boot.environment import set_environment
    from mcpframe.frame.compat.process import outlive_exits
    from mcpframe.frame.core.errors import EntryError, ProgramError
    from mcpframe.frame.serving import entries
    from mcpframe.frame.serving.framed import unwrapped
    from mcpframe.frame.serving.server_module import server_module

    outlive_exits()
    refuse_sockets()
    before = frozenset(sys.modules)  # those that serving needs, or that a snapshot has
    program = settings.get("program", "")
    servers = server_module(program)

    try:
        set_environment(**settings)
        if settings.get("world"):
            from mcpframe.frame import world

            world.only_look()
        target: Any = await servers.open_entry(entry) if kind == "server" else entries.load_main(entry)
        if program:
            return await asked(servers, target, patience, before)
        used = sorted(sys.modules.keys() - before)
        listed = await server_module(program, target).list_tools(target) if kind == "server" else None
        first = await first_answers(server_module(program, target), target) if kind == "server" else []
    except (EntryError, ProgramError) as error:
        shown = told(error.__cause__) if error.__cause__ else ""
        return {"error": str(error), "traceback": shown, "raised": failure(error)}
    except BaseException as error:  # noqa: BLE001 an author's module may raise anything, SystemExit included
        from mcpframe.frame.page import hints

        hints.explain_now(error)
        error = innermost(error)
        shown = f"{type(error).__name__}: {error}".rstrip(": ")
        return {"error": shown, "traceback": told(error), "raised": failure(error)}
    return {
        "kind": type(unwrapped(target)).__name__,
        "name": target.name if kind == "server" else target.__module__,
        "title": getattr(target, "title", None),
        "version": getattr(target, "version", None),
        "instructions": getattr(target, "instructions", None),
        "allowed_origins": list(getattr(target, "allowed_origins", None) or []),
        "dialect_origins": {name: list(own) for name, own in getattr(target, "dialect_origins", {}).items()},
        "tools": listed and [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed],
        "modules": used,
        "setup": setup_of(target) if kind == "server" else None,
        "views": views_of(target),
        "draws": getattr(target, "ui_function", None) is not None,
        "answers": first,
    }


def views_of(server: Any) -> dict[str, str]:
    """Return the addresses of the pages in a server's views, by the views' URIs."""
    registry = sys.modules.get("mcpframe.views.registry")  # without it there are no views
    return {} if registry is None else {view.uri: view.url for view in registry.views_of(server) if view.url}


def setup_of(server: Any) -> dict[str, Any]:
    """Return the requirements of a server's setup."""
    phase = getattr(server, "setup_phase", None)
    if phase is None:
        return {"visible": False, "permissions": []}
    return {"visible": phase.visible, "permissions": [dataclasses.asdict(item) for item in phase.permissions]}


_TO_END = 1.0  # seconds
_CLIENT = {"name": "mcpframe build", "version": "1"}
_HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": _CLIENT}


async def asked(servers: Any, target: Any, patience: float, before: frozenset[str]) -> dict[str, Any]:
    """Return a program's description from its answers to a client, as it has no server object.

    Args:
        before: The modules that were imported before the author's.

    Raises:
        ProgramError: It does not serve in time, or answers with an error.
        BaseException: The exception that ends it.
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
    printed = Printed(sys.stdout)
    sys.stdout = printed
    time.sleep = sleeping = Impatient(time.sleep, patience)
    try:
        asking_for = asyncio.create_task(ask(0, "initialize", _HELLO))
        await asyncio.wait([asking_for], timeout=patience)
        if not asking_for.done() and ends and ends[0] is not None:
            raise ends[0]
        if not asking_for.done():
            places = [place for task in asyncio.all_tasks() for place in waits_at(task) if task is not asking_for]
            asking_for.cancel()
            late = ProgramError(f"The program runs, but has not answered in {patience:g} seconds.")
            error = sleeping.error() if sleeping.places else late
            error.mcpframe_places = sleeping.places or places  # type: ignore[attr-defined]
            serving.cancel()
            raise error
        hello = asking_for.result()
        await asking.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        from mcpframe.frame.core.paging import Paging

        tools: list[Any] = []
        pages, number = Paging(), 0
        while "tools" in hello["capabilities"] and pages.more:
            number += 1
            page = await ask(number, "tools/list", pages.params)
            tools += page["tools"]
            pages.follow(page.get("nextCursor"))
        used = sorted(sys.modules.keys() - before)
    finally:
        asking.close()
        await asyncio.wait([serving], timeout=_TO_END)  # its event loop may wait for something else for ever
        answers.close()
    about = hello["serverInfo"]
    return {
        "kind": "program",
        "setup": setup_of(target),
        **{key: about.get(key) for key in ("name", "title", "version")},
        "instructions": hello.get("instructions"),
        "tools": tools,
        "modules": used,
        "printed": printed.first,
    }


_REVISIONS = ("2025-06-18", "2025-11-25", "2026-07-28")
"""The revisions in which first answers are recorded: those that clients of today ask for."""
_LISTS = {
    "tools": ("tools/list",),
    "prompts": ("prompts/list",),
    "resources": ("resources/list", "resources/templates/list"),
}
_TO_ANSWER = 5.0  # seconds


async def first_answers(servers: Any, server: Any) -> list[dict[str, Any]]:
    """Return a server's answers to the requests with which clients begin, by revision, as its page will give them.

    A bridge answers with them before the page is open. The author's lifespan is not entered: a list that needs it is
    left out. Only for objects of mcp 2.x.
    """
    from mcpframe.frame.core.errors import EntryError

    if servers.__name__ != "mcpframe.frame.serving.server":
        return []
    try:
        target = servers.lowlevel(server)
    except EntryError:  # it has a serving of its own
        return []
    own, target.lifespan = target.lifespan, without_lifespan
    groups: list[dict[str, Any]] = []
    try:
        for revision in _REVISIONS:
            results = await asyncio.wait_for(answers_in(revision, servers, server), _TO_ANSWER)
            same = next((group for group in groups if alike(group["results"], results)), None)
            if same is not None:
                same["versions"].append(revision)
            elif results:
                groups.append({"versions": [revision], "results": results})
    except Exception:  # noqa: BLE001  it is no error of a build: the bridge waits for the page
        return []
    finally:
        target.lifespan = own
    return groups


@contextlib.asynccontextmanager
async def without_lifespan(_: Any) -> AsyncIterator[dict[str, Any]]:
    """A lifespan in which nothing happens."""
    yield {}


def alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether results differ in the revision that they name only."""
    return {**one, "initialize": {**one.get("initialize", {}), "protocolVersion": ""}} == {
        **other,
        "initialize": {**other.get("initialize", {}), "protocolVersion": ""},
    }


async def answers_in(revision: str, servers: Any, server: Any) -> dict[str, Any]:
    """Return the results of the first requests in a revision, by method."""
    import anyio

    stateless = revision == _REVISIONS[-1]
    form = servers.messages()
    asking, read = anyio.create_memory_object_stream[Any](1)
    write, answers = anyio.create_memory_object_stream[Any](1000)
    meta = {
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientInfo": _CLIENT,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    results: dict[str, Any] = {}

    async def ask(method: str, params: dict[str, Any]) -> None:
        await asking.send(form.read({"jsonrpc": "2.0", "id": method, "method": method, "params": params}))
        while (answer := json.loads(form.text(await answers.receive()))).get("id") != method:
            pass
        if "result" in answer and "nextCursor" not in answer["result"]:  # a list in pages is the page's
            results[method] = answer["result"]

    serving = asyncio.create_task(servers.serve(server, read, write))
    try:
        first = "server/discover" if stateless else "initialize"
        await ask(first, {"_meta": meta} if stateless else {**_HELLO, "protocolVersion": revision})
        hello = results.get(first, {})
        if not stateless and hello.get("protocolVersion") != revision:
            return {}
        if not stateless:
            await asking.send(form.read({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        for method in (each for name in _LISTS if name in hello.get("capabilities", {}) for each in _LISTS[name]):
            await ask(method, {"_meta": meta} if stateless else {})
        return results
    finally:
        asking.close()
        await asyncio.wait([serving], timeout=_TO_END)
        serving.cancel()
        answers.close()


def refuse_sockets() -> None:
    """Make connections fail as in a page: under Node an attempt would end Python."""
    import socket

    def refused(*_: object) -> Any:
        raise OSError(errno.EOPNOTSUPP, "A page has no sockets")

    for name in ("listen", "connect", "connect_ex"):
        setattr(socket.socket, name, refused)


class Printed:
    """Standard output that notes the place of the first output. Other attributes are the original's."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.first: dict[str, Any] | None = None

    def write(self, text: str) -> int:
        if self.first is None and text.strip():
            self.first = {"text": text.strip()[:_MOST_TEXT], "frames": calls(sys._getframe(1))}
        return int(self._stream.write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Impatient:
    """A `time.sleep` that raises an error after a program has slept for `patience` seconds.

    Attributes:
        places: Where it sleeps now, most of that time being over; the innermost last.
    """

    def __init__(self, sleep: Callable[[Any], None], patience: float) -> None:
        self._sleep = sleep
        self._patience = self._left = patience
        self.places: list[list[Any]] = []

    def error(self) -> Exception:
        """Return the error of a program that only sleeps."""
        from mcpframe.frame.core.errors import ProgramError

        return ProgramError(f"The program runs, but only sleeps for {self._patience:g} seconds.")

    def __call__(self, seconds: Any) -> None:
        self._left -= seconds
        if self._left < 0:
            raise self.error()
        if self._left < self._patience / 2:
            self.places = calls(sys._getframe(1))
        try:
            self._sleep(seconds)
        finally:
            self.places = []


# Of an error, for the build's message: a recursion has thousands of frames, and a chain of causes may be endless.
_MOST_FRAMES = 100
_MOST_CAUSES = 5
_MOST_TEXT = 2000


def innermost(error: BaseException) -> BaseException:
    """Return the first exception in a group; the group's own message has no information."""
    while isinstance(error, BaseExceptionGroup):
        places = getattr(error, "mcpframe_places", None)
        inner: BaseException = error.exceptions[0]
        if places and not hasattr(inner, "mcpframe_places"):
            inner.mcpframe_places = places  # type: ignore[attr-defined]
        error = inner
    return error


def failure(error: BaseException) -> list[dict[str, Any]]:
    """Return an exception and its causes: the names of their types, their texts, and their places."""
    chain: list[dict[str, Any]] = []
    cause: BaseException | None = error
    while cause is not None and len(chain) < _MOST_CAUSES:
        cause = innermost(cause)
        frames = [list(place) for place in getattr(cause, "mcpframe_places", ())] + traced(cause)
        kinds = [kind.__name__ for kind in type(cause).__mro__]
        try:
            text = str(cause)
        except Exception:  # noqa: BLE001  an author's `__str__` may raise anything
            text = ""
        chain.append({"kinds": kinds, "text": text[:_MOST_TEXT], "frames": frames[-_MOST_FRAMES:]})
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return chain


def traced(error: BaseException) -> list[list[Any]]:
    """Return the file, line and function of each frame of an exception's traceback, the innermost last."""
    frames = []
    at = error.__traceback__
    while at is not None:
        code = at.tb_frame.f_code
        frames.append([code.co_filename, at.tb_lineno, code.co_name])
        at = at.tb_next
    return frames


def calls(frame: FrameType | None) -> list[list[Any]]:
    """Return the file, line and function of a frame and its callers, the innermost last."""
    frames: list[list[Any]] = []
    while frame is not None and len(frames) < _MOST_FRAMES:
        frames.insert(0, [frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name])
        frame = frame.f_back
    return frames


def waits_at(task: asyncio.Task[Any]) -> list[list[Any]]:
    """Return the place where a task waits: the file, line and function of each coroutine, the innermost last."""
    frames: list[list[Any]] = []
    at: Any = task.get_coro()
    while at is not None and len(frames) < _MOST_FRAMES:
        frame = getattr(at, "cr_frame", None)
        if frame is not None:
            frames.append([frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name])
        at = getattr(at, "cr_await", None)
    return frames


def told(error: BaseException) -> str:
    """Return the traceback without the frames of this program, which do not help an author."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    ours = ("import_server.py", "<frozen importlib", "/std/importlib/", "/mcpframe/frame/")
    first = next((at for at, frame in enumerate(frames) if not any(part in frame.filename for part in ours)), 0)
    lines = ["Traceback (most recent call last):\n", *traceback.format_list(frames[first:])]
    return "".join([*lines, *traceback.format_exception_only(error)])
