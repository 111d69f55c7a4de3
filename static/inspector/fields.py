"""What a form is made of: fields, and what a fresh form holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from json_values import MISSING

__all__ = ["Choice", "Field", "Kind", "initial"]

Kind = Literal["object", "array", "text", "file", "number", "integer", "boolean", "choice", "choices", "union", "json"]

MAX_STARTING_PARTS = 100

_LONG_FORMATS = ("textarea", "multiline", "multi-line", "markdown", "html", "code", "json")


@dataclass(frozen=True)
class Choice:
    """One value of several.

    Attributes:
        value: the value.
        title: what a person reads.
    """

    value: Any
    title: str


@dataclass(frozen=True, kw_only=True)
class Field:
    """One place of a value, and what may be there.

    Attributes:
        kind: what shows it.
        schema: its schema, references and `allOf` resolved: bounds, pattern, format and the like.
        name: its key in the object it is in; empty elsewhere.
        title: what a person reads; the name where the schema has no other.
        description: what the schema says of it.
        required: whether it must be given.
        nullable: whether it may be null, for the kinds that are one control.
        start: what it is filled with at first; `MISSING` for nothing.
        members: of an object its properties; of an array the items that have places of their own (a tuple's).
        more: what else an object's properties or an array's items may be; None for nothing else.
        choices: of `choice` and `choices`.
        options: of a union.
    """

    kind: Kind
    schema: Mapping[str, Any]
    name: str = ""
    title: str = ""
    description: str = ""
    required: bool = True
    nullable: bool = False
    start: Any = MISSING
    members: tuple[Field, ...] = ()
    more: Field | None = None
    choices: tuple[Choice, ...] = ()
    options: tuple[Field, ...] = ()

    @property
    def multiline(self) -> bool:
        """Whether a text is likely to have several lines."""
        schema = self.schema
        if schema.get("pattern") or schema.get("format", "binary") not in (*_LONG_FORMATS, "binary"):
            return False
        longest = schema.get("maxLength")
        return not isinstance(longest, (int, float)) or longest > 100

    @property
    def is_free(self) -> bool:
        """Whether a person may add properties to this object."""
        return self.more is not None and (self.says_more or not self.members)

    @property
    def says_more(self) -> bool:
        """Whether the schema says itself that this object may have further properties."""
        return self.schema.get("additionalProperties", self.schema.get("patternProperties")) not in (None, False)


def initial(field: Field) -> Any:
    """Return the value that a fresh form holds: the field's start, else what its parts start with.

    Parts that are required and have no start are left out, for the person to fill; `MISSING` for nothing at all.
    """
    if field.start is not MISSING:
        return _completed(field, field.start)
    if not field.required:
        return MISSING
    if field.kind == "object":
        return _completed(field, {})
    if field.kind == "array":
        wanted = field.schema.get("minItems", 0)
        items = [initial(member) for member in field.members]
        while items and items[-1] is MISSING:
            items.pop()
        if field.more and not field.members and isinstance(wanted, int) and 0 < wanted <= MAX_STARTING_PARTS:
            item = initial(field.more)
            items += [item] * (wanted if wanted * _size(item) <= MAX_STARTING_PARTS else 0)
        return [] if MISSING in items else items
    if field.kind == "choices":
        return []
    if field.kind == "choice" and len(field.choices) == 1 and not field.nullable:
        return field.choices[0].value
    if field.kind == "boolean" and not field.nullable:
        return False
    if field.kind == "union":
        return initial(field.options[0])
    return MISSING


def _size(value: Any) -> int:
    """How many parts a value has, itself included."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_size, inner))


def _completed(field: Field, value: Any) -> Any:
    """A start with what the members that it doesn't give start with."""
    if field.kind != "object" or not isinstance(value, dict):
        return value
    given = {member.name: value.get(member.name, initial(member)) for member in field.members}
    return {key: part for key, part in {**given, **value}.items() if part is not MISSING}
