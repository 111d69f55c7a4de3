"""MCP tools in WebMCP: their names, definitions and visibility, and a check of their arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from mcpframe.frame.core import payload
from mcpframe.frame.core.allowed_origins import AllowedOrigins
from mcpframe.frame.core.limits import MESSAGE_BYTES, MESSAGE_NESTING

Json = Mapping[str, Any]

_LEVELS_AROUND = 4
"""The message, its result, the list of tools, and the tool: a deeper schema would cost its reader the whole list."""

LIMITS: Final = {"max_bytes": MESSAGE_BYTES, "max_nesting": MESSAGE_NESTING - _LEVELS_AROUND}
"""The limits of a value from another page, as `payload` takes them."""

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}\Z")
_LOCAL = re.compile(r"http://(localhost|[a-z0-9.-]+\.localhost|127(\.\d+){3}|\[::1\])(:\d+)?\Z")
_SECURE = re.compile(r"(https|[a-z-]+-extension)://")


class Rejected(Exception):
    """The document has not registered a tool, or does not list or run one.

    Attributes:
        kind: the name of the exception in JavaScript.
    """

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


def exposed_to(allowed: AllowedOrigins | None, embedder: str) -> list[str]:
    """Return the other origins that may see the tools (WebMCP, `exposedTo`): exact, secure ones.

    `"*"` stands for the page around this one, which it allows to embed it; WebMCP has no such entry. `"null"` and
    `http:` beyond this computer cannot be exposed to.

    Args:
        allowed: the allow-list; None allows no origin.
        embedder: the origin of the page around this one; empty for none.
    """
    if allowed is None:
        return []
    named = allowed.exact | ({embedder} if allowed.anyone and embedder else set())
    return sorted(origin for origin in named if _SECURE.match(origin) or _LOCAL.match(origin))


def definitions(tools: Iterable[Json], note: Callable[[str], None]) -> dict[str, tuple[str, Json]]:
    """Return each tool's own name and its WebMCP definition, by its name in WebMCP.

    In a name that WebMCP does not allow, `_` replaces forbidden characters, and a number is added if another tool has
    that name. Calls look names up in this table; no name is ever parsed.

    Args:
        tools: the tools of a `tools/list` result.
        note: called with a sentence about each name that is changed.
    """
    named = {tool["name"]: tool for tool in tools if isinstance(tool.get("name"), str)}
    given = {name: name for name in named if _NAME.match(name)}
    for name in named:
        if name in given:
            continue
        plain = re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:128] or "_"
        number, allowed = 2, plain
        while allowed in given:
            allowed, number = f"{plain[:120]}_{number}", number + 1
        given[allowed] = name
        note(f"WebMCP does not allow the tool name {name!r}: there it is {allowed!r}.")
    return {allowed: (name, _definition(allowed, named[name])) for allowed, name in given.items()}


def _definition(name: str, tool: Json) -> Json:
    """Return a definition for `registerTool`, in which two of MCP's hints have counterparts of other names."""
    hints = dict(tool["annotations"]) if isinstance(tool.get("annotations"), Mapping) else {}
    title = tool.get("title") or hints.get("title") or (tool["name"] if tool["name"] != name else "")
    definition: dict[str, Any] = {"name": name, "description": str(tool.get("description") or title or name)}
    if title:
        definition["title"] = str(title)
    if isinstance(tool.get("inputSchema"), Mapping):
        definition["inputSchema"] = tool["inputSchema"]
    if hints.get("destructiveHint") is True and not hints.get("readOnlyHint"):
        hints.setdefault("consequentialHint", True)
    if hints.get("openWorldHint") is True:
        hints.setdefault("untrustedContentHint", True)
    if hints:
        definition["annotations"] = hints
    return definition


_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "number": (int, float, str),
    "integer": (int, float, str),
    "boolean": (bool, int, float, str),
    "array": (list, str),
    "object": (dict, str),
    "null": (type(None), str),
}
"""The Python values that are accepted for each JSON type: servers parse other types from texts."""


def argument_problem(schema: Json, arguments: Any) -> str | None:
    """Return a definite problem of a tool's arguments, naming the field; None leaves the decision to the server.

    Neither browsers nor lowlevel servers check arguments.

    Args:
        schema: the tool's `inputSchema`.
        arguments: JSON values.
    """
    if not isinstance(arguments, dict):
        return f"an object is needed, not {_type_of(arguments)}."
    required, properties = schema.get("required"), schema.get("properties")
    for name in required if isinstance(required, list) else ():
        if name not in arguments:
            return f"{name!r} is missing."
    for name, value in arguments.items():
        declared = properties.get(name) if isinstance(properties, Mapping) else None
        kind: Any = declared.get("type") if isinstance(declared, Mapping) else None
        names: list[Any] = kind if isinstance(kind, list) else [kind]
        if not all(isinstance(each, str) and each in _TYPES for each in names):
            continue
        if not isinstance(value, tuple(allowed for each in names for allowed in _TYPES[each])):
            return f"{name!r} must be of type {' or '.join(names)}, not {_type_of(value)}."
    return None


def _type_of(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    return _NAMES.get(type(value), "number")


_NAMES: Final[Mapping[type, str]] = {str: "string", list: "array", dict: "object"}


def failure(text: str) -> Json:
    """Return the result of a failed tool call."""
    return {"content": [{"type": "text", "text": payload.well_formed(text)}], "isError": True}
