"""A server that describes the memory of its own Python, for tests/benchmarks/blocks.py."""

import gc
import json
import sys
from collections import deque
from types import CodeType, FunctionType, ModuleType

from mcpframe import FrameServer

NOTES = False  # the benchmark also builds it with True
_HAS_DOCSTRING = 0x4000000
_INLINE_VALUES = 1 << 2
_TOOL = 3
_CONTAINERS = (dict, list, set, frozenset)

server = FrameServer("blocks", version="1.0.0")
_ran = set()


@server.tool(structured_output=False)
def echo(text: str) -> str:
    """Return the text back."""
    return text


@server.tool(structured_output=False)
def ran() -> str:
    """Return the names of the code objects that have run since this module was imported, as JSON."""
    return json.dumps([_name(code) for code in list(_ran)])


@server.tool(structured_output=False)
def objects() -> str:
    """Return the sizes of containers without their tables, and all objects of this Python, as JSON.

    Of each object its address, its size, how much of it is before the address, its kind, its owner, its name, and the
    offset of its attributes, if they are in it. The owner is the module that defines it, or from which it is first
    reached. Only code has a name.
    """
    gc.collect()
    rows, seen = [], {}
    waiting = deque((module, name, "") for name, module in sys.modules.items())
    rest = iter(gc.get_objects())
    while True:
        if not waiting:
            thing = next(rest, None)
            if thing is None:
                return json.dumps(({each.__name__: each.__basicsize__ for each in _CONTAINERS}, rows))
            waiting.append((thing, "", ""))
        thing, owner, kind = waiting.popleft()
        if id(thing) in seen or thing is seen or thing is rows or thing is waiting:
            continue
        seen[id(thing)] = True
        owner = _module(thing) or owner
        try:
            size = sys.getsizeof(thing)
            before = size - type(thing).__sizeof__(thing)
        except Exception:  # noqa: BLE001  some types have no such method
            continue
        name = _name(thing) if isinstance(thing, CodeType) else ""
        basic = type(thing).__basicsize__
        if isinstance(thing, type):  # its size counts the keys of its objects, which are elsewhere
            size = before + basic
        inline = basic if type(thing).__flags__ & _INLINE_VALUES else 0
        rows.append((id(thing), size, before, kind or _kind(thing), owner, name, inline))
        waiting.extend((each, owner, kind) for each, kind in _parts(thing))


def _module(thing):
    if isinstance(thing, ModuleType):
        return thing.__name__
    if isinstance(thing, (FunctionType, type)):
        return thing.__module__ if isinstance(thing.__module__, str) else ""
    return ""


def _kind(thing):
    return "type" if isinstance(thing, type) else type(thing).__name__


def _name(code):
    return f"{code.co_filename}:{code.co_firstlineno}:{code.co_qualname}"


def _parts(thing):
    """Yield what an object refers to, and its kind if that is not to be seen from its type."""
    if isinstance(thing, CodeType):
        has_docstring = thing.co_flags & _HAS_DOCSTRING
        yield thing.co_linetable, "line tables"
        yield thing.co_exceptiontable, "exception tables"
        yield thing.co_consts, ""
        if has_docstring:
            yield thing.co_consts[0], "docstrings"
        for each in (thing.co_names, thing.co_filename):
            yield each, ""
        for each in (thing.co_name, thing.co_qualname, *thing.co_names, *thing.co_varnames, *thing.co_freevars):
            yield each, "names in code"
    elif isinstance(thing, (ModuleType, type)) and isinstance(vars(thing).get("__doc__"), str):
        yield vars(thing)["__doc__"], "docstrings"
    for each in gc.get_referents(thing):
        yield each, ""


if NOTES:  # last, so that nothing counts that making the server runs

    def _note(code, _offset):
        _ran.add(code)
        return _monitoring.DISABLE

    _monitoring = sys.monitoring  # type: ignore[attr-defined]  # of Python 3.12
    _monitoring.use_tool_id(_TOOL, "blocks")
    _monitoring.register_callback(_TOOL, _monitoring.events.PY_START, _note)
    _monitoring.set_events(_TOOL, _monitoring.events.PY_START)
