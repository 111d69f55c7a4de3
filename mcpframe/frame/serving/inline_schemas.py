"""JSON Schemas without references: some clients drop `$defs` and keep the `$ref` to it.

Which ones: `kit/bundle/assembly/client_rules.py`. A schema that refers to itself has no finite form without references,
so such references stay, with their definitions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_types import Tool

_PREFIXES = ("#/$defs/", "#/definitions/")
_BY_NAME = frozenset({"properties", "patternProperties", "dependentSchemas"})
"""Keywords whose value has a schema for each name."""
_DATA = frozenset({"const", "default", "enum", "examples"})
"""Keywords whose value is data, which may look like a reference."""
_NOTES = frozenset({"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"})
"""Keywords beside a reference that constrain nothing, so that they can stand in the definition itself."""
_OWN_BASE = frozenset({"$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef"})
"""Keywords that change what a reference means: a schema with one is left alone."""
_MOST_PARTS = 2_000
"""The most objects of a result: definitions that use each other twice double it with each level."""


class _LeftAlone(Exception):
    """The schema cannot be inlined."""


def inlined_tool(tool: Tool) -> Tool:
    """Return a tool whose schemas have no references, as far as that is possible."""
    changed = {}
    for name in ("input_schema", "output_schema"):
        schema = getattr(tool, name)
        if isinstance(schema, dict) and (without := inlined(schema)) is not schema:
            changed[name] = without
    return tool.model_copy(update=changed) if changed else tool


def inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with its definitions in place of references to them.

    References in a circle stay, with the definitions that they need. The schema is returned as it is if it has none
    to resolve, refers in other ways than by `#/$defs/NAME`, or would grow beyond bounds.
    """
    work = _Inlining(schema)
    if not work.definitions:
        return schema
    try:
        result: dict[str, Any] = work.resolved(schema, ())
        kept: dict[str, Any] = {}
        while missing := work.needed - kept.keys():
            for path in sorted(missing):
                kept[path] = work.resolved(work.definitions[path], (path,))
    except _LeftAlone:
        return schema
    for path, definition in sorted(kept.items()):
        _, section, name = path.split("/", 2)
        result.setdefault(section, {})[_unescaped(name)] = definition
    return result


class _Inlining:
    """The work on one schema.

    Attributes:
        definitions: The definitions, by the reference to them.
        needed: The references that stay, as they are part of a circle.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.definitions: dict[str, Any] = {}
        for prefix in _PREFIXES:
            section = schema.get(prefix.split("/")[1])
            for name, definition in section.items() if isinstance(section, Mapping) else ():
                self.definitions[prefix + name.replace("~", "~0").replace("/", "~1")] = definition
        self.needed: set[str] = set()
        self._parts = 0

    def resolved(self, schema: Any, within: tuple[str, ...]) -> Any:
        """Return a schema without references.

        Args:
            within: The definitions around it.
        """
        if not isinstance(schema, Mapping):
            return schema
        self._parts += 1
        if self._parts > _MOST_PARTS or not _OWN_BASE.isdisjoint(schema):
            raise _LeftAlone
        reference = schema.get("$ref")
        rest = {key: self._part(key, value, within) for key, value in schema.items() if not _is_definitions(key)}
        if reference is None:
            return rest
        if reference not in self.definitions:
            raise _LeftAlone
        if reference in within:
            self.needed.add(reference)
            return rest
        del rest["$ref"]
        target = self.resolved(self.definitions[reference], (*within, reference))
        if not rest:
            return target
        if isinstance(target, dict) and _NOTES.issuperset(rest):
            return {**target, **rest}
        return {"allOf": [target], **rest}

    def _part(self, key: str, value: Any, within: tuple[str, ...]) -> Any:
        if key in _DATA:
            return value
        if key in _BY_NAME and isinstance(value, Mapping):
            return {name: self.resolved(part, within) for name, part in value.items()}
        if isinstance(value, list):
            return [self.resolved(part, within) for part in value]
        return self.resolved(value, within)


def _is_definitions(key: str) -> bool:
    return key in ("$defs", "definitions", "discriminator")  # whose mapping names definitions (OpenAPI)


def _unescaped(name: str) -> str:
    return name.replace("~1", "/").replace("~0", "~")
