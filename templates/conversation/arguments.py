"""The arguments of a tool as fields of a form, from its schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Field:
    """One field.

    Attributes:
        name: The name of the argument.
        kind: `"text"` or `"number"`.
        label: What it is, for people.
        required: Whether it has to be filled in.
        initial: The text that it starts with.
    """

    name: str
    kind: str
    label: str
    required: bool
    initial: str


def fields_of(schema: Mapping[str, Any]) -> list[Field]:
    """Return the fields for the texts and numbers that a tool takes; other arguments are left to their defaults."""
    required = schema.get("required", ())
    found = []
    for name, described in schema.get("properties", {}).items():
        kind = {"string": "text", "integer": "number", "number": "number"}.get(described.get("type", ""))
        if kind is None:
            continue
        label = described.get("description") or described.get("title") or name
        initial = described.get("default", "")
        found.append(Field(name, kind, str(label), name in required, "" if initial is None else str(initial)))
    return found


def arguments_of(schema: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments of a call.

    Args:
        schema: The schema of the tool.
        values: What the user has entered, by name; empty for nothing.

    Raises:
        ValueError: A field is empty that is required, or has no number in it.
    """
    arguments: dict[str, Any] = {}
    for field in fields_of(schema):
        text = values.get(field.name, "").strip()
        if not text:
            if field.required:
                raise ValueError(f"{field.label}: enter a value.")
            continue
        if field.kind == "text":
            arguments[field.name] = text
            continue
        whole = schema["properties"][field.name]["type"] == "integer"
        try:
            arguments[field.name] = int(text) if whole else float(text)
        except ValueError:
            raise ValueError(f"{field.label}: {text!r} is not a {'whole ' if whole else ''}number.") from None
    return arguments
