"""Prepare Python for a snapshot: all imports for serving are done, and no task runs.

static/build/snapshot-maker.js calls `prepare`, `rehearse` (rehearse.py), `drop_modules`, `load_packages` for the
author's requirements or `load` for the author's module, and then `finish`, `clean`; in a page restored from the layer
below, `continue_path` in place of `rehearse` and `drop_modules`. While code of the author or of requirements is
imported, uses of anything that must not be in a public file are noted with their line: randomness, the clock, the
visitor's locale, the browser.
"""

from __future__ import annotations

import _random
import asyncio
import json
import os
import random
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module, invalidate_caches
from types import FrameType
from typing import Any

from mcpframe.frame.compat.generators import HARMLESS, are_fresh

SERVER = "/mcpframe/server/"
PACKAGES = f"/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
OURS = f"{PACKAGES}/mcpframe/"
LIBRARY = re.compile(r"/(?:site-packages|mcpframe/packages)/(\w+)")
IMPORTS = "mcpframe: imports "
"""Begins a line of standard error for the build: the module that is imported now; no module once all are."""
LOCALE = frozenset({"LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_TIME", "LC_NUMERIC", "LC_MESSAGES", "TZ"})
ON_DEMAND = frozenset({"mcpframe.frame.serving.other_server", "mcpframe.frame.world.thread_pool"})
"""Modules for `load` alone: the first adapts the SDK as it is imported, the second needs `multiprocessing`."""
FIRST_IMPORTS = {
    "pandas": ["numpy.rec"],
    "sympy": [
        *("sympy.assumptions.wrapper", "sympy.integrals.heurisch", "sympy.integrals.manualintegrate"),
        *("sympy.integrals.risch", "sympy.physics.units", "sympy.sets.setexpr", "sympy.tensor.tensor"),
    ],
}
"""Modules that libraries import when they are first used."""
SETTINGS = (
    "/mcp/server/fastmcp/server.py",
    "/fastmcp/settings.py",
    "/fastmcp/__init__.py",
    "/fastmcp/server/server.py",
)
CLOCKS = frozenset(
    [
        *("time", "monotonic", "perf_counter", "process_time", "thread_time", "clock_gettime"),
        *("time_ns", "monotonic_ns", "perf_counter_ns", "process_time_ns", "thread_time_ns", "clock_gettime_ns"),
        *("localtime", "gmtime", "mktime", "ctime", "asctime", "strftime"),
    ]
)

_noted: list[dict[str, Any]] = []
_harmless = 0
_seeds = 0
_error: dict[str, Any] | None = None
_loaded: Any = None
_kind = ""


def asked(what: str) -> None:
    """Note that code outside of mcpframe used a global of the browser."""
    frame = sys._getframe(1)
    if not frame.f_code.co_filename.startswith(OURS):
        _note(what, frame)


def _note(what: str, frame: FrameType | None) -> None:
    """Note a use with the author's line that leads to it, and the library that it is in, if it is in one."""
    library = ""
    while frame is not None and not (path := frame.f_code.co_filename).startswith(SERVER):
        if not library and not path.startswith(OURS) and (match := LIBRARY.search(path)):
            library = match[1]
        frame = frame.f_back
    place = {"file": frame.f_code.co_filename.removeprefix(SERVER), "line": frame.f_lineno} if frame else {}
    _noted.append({"what": what, **place, **({"library": library} if library else {})})


def _watch(frame: FrameType, event: str, function: Any) -> None:
    """The profile function, called for every call of a C or Python function."""
    if event == "c_call":
        name = getattr(function, "__name__", "")
        owner = getattr(function, "__self__", None)
        if name == "urandom" or (isinstance(owner, _random.Random) and name in ("random", "getrandbits")):
            if not _is_harmless(frame):
                _note("randomness", frame)
            elif name == "urandom":
                global _harmless
                _harmless += 1
        elif _is_clock(owner, name) and _is_the_authors(frame):
            _note("the time", frame)  # libraries use it in their caches and logs
    elif event == "call":
        if frame.f_code.co_name == "<module>":
            print(f"{IMPORTS}{frame.f_globals.get('__name__')}", file=sys.__stderr__)
        if frame.f_code is _seed and frame.f_locals.get("a") is None:
            if _is_harmless(frame):
                global _seeds
                _seeds += 1
            else:
                _note("randomness", frame)
        elif frame.f_code is _getitem and frame.f_locals.get("key") in LOCALE and not _is_the_sdks(frame):
            _note("the locale", frame)


def _is_harmless(frame: FrameType | None) -> bool:
    """Return whether a frame draws for code that is known to publish nothing of it, while that is imported."""
    while frame is not None and (frame.f_code.co_filename.startswith("<") or frame.f_code.co_filename in DRAWING):
        frame = frame.f_back
    for path, function in HARMLESS:
        caller = frame
        while caller is not None and path in caller.f_code.co_filename:
            if caller.f_code.co_name == function:
                return True
            caller = caller.f_back
    return False


def _is_the_authors(frame: FrameType | None) -> bool:
    """Return whether a frame runs the author's code, or code generated for it, such as a dataclass's methods."""
    while frame is not None and frame.f_code.co_filename.startswith("<"):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(SERVER)


def _is_clock(owner: Any, name: str) -> bool:
    dates = name in ("now", "utcnow", "today") and getattr(owner, "__module__", "") == "datetime"
    return dates or (owner is time and name in CLOCKS)


def _is_the_sdks(frame: FrameType | None) -> bool:
    """Return whether a frame is in the settings of an SDK, which look through all variables for their own."""
    while frame is not None and not frame.f_code.co_filename.endswith(SETTINGS):
        frame = frame.f_back
    return frame is not None


_getitem = type(os.environ).__getitem__.__code__
_seed = random.Random.seed.__code__
DRAWING = frozenset(_seed.co_filename.replace("random.py", name) for name in ("random.py", "secrets.py", "uuid.py"))


def continue_path(paths: list[str]) -> None:
    """Set up `sys.path` and folders in a page that was restored for a layer above, as at the start of any page.

    Args:
        paths: The folders of the author's requirements.
    """
    from mcpframe.frame.compat import after_restore

    del sys.path[0]  # Pyodide inserts this entry at every start; the layer below has it already
    sys.path.extend(path for path in paths if path not in sys.path)
    after_restore.make_folders()
    invalidate_caches()  # files have come, though all folders are of one time here


async def prepare(settings: str, modules: str) -> None:
    """Import the modules for serving.

    Args:
        settings: Those of `load`; the environment variables are set.
        modules: JSON; the modules of mcpframe to import.
    """
    from mcpframe.frame.compat import sdk

    sdk.prepare()
    sdk.adapt_http()  # in a layer above the SDK's
    os.environ.update(json.loads(settings).get("env", {}))
    sdk.load_fastmcp()
    import anyio._backends._asyncio  # noqa: F401  anyio imports it when it is first used

    for name in sorted(set(json.loads(modules)) - ON_DEMAND):
        try:
            import_module(name)
        except ModuleNotFoundError as error:
            if error.name != "mcp_types":  # it is for mcp 2.x, and 1.x is here
                raise


def drop_modules(names: list[str]) -> str:
    """Drop modules that no start runs; return as JSON those of which something is kept: see `later_modules.drop`."""
    import pyodide._package_loader

    from mcpframe.frame.compat import later_modules

    return json.dumps(later_modules.drop(names, [pyodide._package_loader]))


def load_packages(names: str, settings: str) -> None:
    """Import modules of the author's requirements before the author's module, and note their uses.

    Args:
        names: JSON; the modules.
        settings: Those of `load`.
    """
    global _error
    from mcpframe.frame.boot.environment import set_environment

    with _watched():
        set_environment(**json.loads(settings))
        for name in json.loads(names):
            import_module(name)


def load(entry: str, kind: str, settings: str) -> None:
    """Import the author's module, and note its uses. Factories and programs are called in each page."""
    global _loaded, _kind
    from mcpframe.frame.boot.environment import set_environment
    from mcpframe.frame.serving import entries
    from mcpframe.frame.serving.server_module import server_module

    chosen = json.loads(settings)
    servers = server_module(chosen.get("program", ""))
    _kind = kind
    if kind == "page":
        import_module("mcpframe.frame.boot.page_main")
    with _watched():
        set_environment(**chosen)
        if entries.is_factory(entry):
            entries.find(entry, lambda _: "")
        elif chosen.get("program"):
            servers.load_entry(entry)
        else:
            _loaded = servers.load_entry(entry) if kind == "server" else entries.load_main(entry)


@contextmanager
def _watched() -> Iterator[None]:
    """Note the uses of what is imported, its error, and the folders that it makes."""
    global _error
    from mcpframe.frame.compat import after_restore

    drawn, there = random.getstate(), _folders()
    sys.setprofile(_watch)
    try:
        yield
        _complete_libraries()
    except BaseException as error:  # noqa: BLE001  such a module may raise anything
        sys.setprofile(None)
        _error = {"what": f"{type(error).__name__}: {error}"}
    finally:
        sys.setprofile(None)
    print(IMPORTS, file=sys.__stderr__)
    after_restore.folders += sorted(_folders() - there)
    if random.getstate() != drawn or not are_fresh():  # the profile function does not see calls of native code
        _noted.append({"what": "randomness"})


def _complete_libraries() -> None:
    """Do now what libraries do when they are first used, and would fetch all files for."""
    for name in (name for library, names in FIRST_IMPORTS.items() if library in sys.modules for name in names):
        with suppress(ModuleNotFoundError):  # of another version
            import_module(name)
    controller = getattr(sys.modules.get("threadpoolctl"), "ThreadpoolController", None)
    if hasattr(controller, "_find_libraries_pyodide"):
        # It looks up the file of every loaded library, to limit its threads; a page has one.
        setattr(controller, "_find_libraries_pyodide", lambda _self: None)  # noqa: B010


def _folders() -> set[str]:
    """Return the writable folders of the file system."""
    folders: set[str] = set()
    for folder, names, _ in os.walk("/"):
        if folder == "/":
            names[:] = [name for name in names if name not in ("dev", "lib", "proc")]
        folders |= {os.path.join(folder, name) for name in names}  # noqa: PTH118
    return folders


async def finish() -> str:
    """Return the notes as JSON."""
    if _loaded is not None and _kind == "server":
        await _tools(_loaded)
    others = asyncio.all_tasks() - {asyncio.current_task()}
    noted = _noted[0] if _noted else None
    report = {
        "error": _error,
        "asked": noted,
        "tasks": len(others),
        "harmless": _harmless,
        "seeds": _seeds,
        "modules": sorted(sys.modules),
    }
    return json.dumps(report)


def clean() -> None:
    """Remove everything no longer needed, and collect garbage."""
    import gc
    import linecache
    import sys

    import anyio.lowlevel
    import pyodide._package_loader

    linecache.clearcache()
    for name in [name for name in globals() if not name.startswith("__") and name != "fill"]:
        del globals()[name]
    getattr(anyio.lowlevel, "_run_vars", {}).clear()
    sys.__dict__.pop("last_exc", None)
    # Pyodide would search all packages at every start to fill `loadedPackages`, which a page does not use:
    # https://github.com/pyodide/pyodide/pull/3039
    pyodide._package_loader.init_loaded_packages = lambda: None
    gc.collect()
    gc.collect()


def fill(free: str) -> None:
    """Fill all free blocks of Python's allocator with zeros, by allocating and freeing them."""
    import json

    blocks = json.loads(free)
    held = []
    for size, count in blocks["sizes"]:
        if size > 33:
            held.append([bytes(size - 33) for _ in range(count)])
    held.append([bytes(479) for _ in range(blocks["unused"] // 512)])
    held.clear()


async def check(entry: str | None, kind: str, settings: str) -> str:
    """Return the tools of the server in a restored Python, as JSON."""
    from mcpframe.frame.boot.environment import set_environment
    from mcpframe.frame.serving import entries
    from mcpframe.frame.serving.server_module import server_module

    if not entry:
        return json.dumps({"tools": None})
    chosen = json.loads(settings)
    program = chosen.get("program", "")
    servers = server_module(program)
    set_environment(**chosen)
    target: Any = await servers.open_entry(entry) if kind == "server" else entries.load_main(entry)
    return json.dumps({"tools": await _tools(target) if kind == "server" and not program else None})


async def _tools(server: Any) -> list[Any] | None:
    from mcpframe.frame.serving.server_module import server_module

    listed = await server_module(target=server).list_tools(server)
    return listed and [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed]
