"""The fields of a form, and the values of a new form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from inspector.forms.json_values import MISSING

__all__ = ["Choice", "Field", "Kind", "initial"]

Kind = Literal["object", "array", "text", "file", "number", "integer", "boolean", "choice", "choices", "union", "json"]

MAX_STARTING_PARTS = 100

_LONG_FORMATS = ("textarea", "multiline", "multi-line", "markdown", "html", "code", "json")


@dataclass(frozen=True)
class Choice:
    """One value of several.

    Attributes:
        value: the value.
        title: its visible name.
    """

    value: Any
    title: str


@dataclass(frozen=True, kw_only=True)
class Field:
    """One part of a value, and its constraints.

    Attributes:
        kind: the kind of its control.
        schema: its schema, references and `allOf` resolved: bounds, pattern, format and the like.
        name: its key in its object; empty outside of objects.
        title: its visible name; its key if the schema has no title.
        description: its description in the schema.
        required: whether it is required.
        nullable: whether it may be null, for kinds with one control.
        start: its initial value; `MISSING` for none.
        members: of an object its properties; of an array the items with schemas of their own (a tuple's).
        more: the field of further properties or items; None if there may be none.
        choices: the values of `choice` and `choices`.
        options: the fields of a union.
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
    def has_long_format(self) -> bool:
        """Whether the schema's format says that a text has several lines."""
        return self.schema.get("format") in _LONG_FORMATS

    @property
    def is_free(self) -> bool:
        """Whether the user may add properties to this object."""
        return self.more is not None and (self.says_more or not self.members)

    @property
    def says_more(self) -> bool:
        """Whether the schema explicitly allows further properties of this object."""
        return self.schema.get("additionalProperties", self.schema.get("patternProperties")) not in (None, False)


def initial(field: Field) -> Any:
    """Return the value of a new form: the field's initial value, else the initial values of its parts.

    Required parts without an initial value are left out, for the user to fill in. `MISSING` if there is none at all.
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
    """Return the number of parts of a value, including itself."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_size, inner))


def _completed(field: Field, value: Any) -> Any:
    """Return an initial value, completed by the initial values of its missing members."""
    if field.kind != "object" or not isinstance(value, dict):
        return value
    given = {member.name: value.get(member.name, initial(member)) for member in field.members}
    return {key: part for key, part in {**given, **value}.items() if part is not MISSING}
