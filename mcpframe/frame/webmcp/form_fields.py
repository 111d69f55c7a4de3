"""The fields of a tool's form: a control of HTML for each property of its input schema, and the arguments from it.

References within the schema are resolved, and `null` beside one other option makes a field nullable. What has no
control of its own is entered as JSON. Constraints that HTML has, too, become attributes; the server checks all of them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal

from mcpframe.frame.core import payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.core.references import resolve_reference
from mcpframe.frame.dialects.webmcp.tools import LIMITS

BUNDLED_WITH = ("tool_forms",)

MISSING: Final = object()
"""The argument of a field that is left out."""

Kind = Literal["text", "area", "integer", "number", "check", "choice", "choices", "lines", "moment", "json"]

_TYPES: Final = {"email": "email", "uri": "url", "url": "url", "date": "date", "time": "time", "password": "password"}
"""The types of inputs, by the schema's `format`."""
_LONG_FORMATS: Final = ("textarea", "multiline", "multi-line", "markdown", "html", "code")
_LONG: Final = 200
"""Characters: a text that may be longer gets several lines."""
_DEEPEST: Final = 20
"""The most references that lead to a schema."""
_OF_THE_PLACE: Final = ("title", "description", "default")
"""Keys that a property has beside a reference, and that take precedence."""
_NOT_JSON: Final = "The message is not JSON: "
_HINTS: Final[Mapping[str, str]] = {"lines": "One per line.", "json": "As JSON."}


class WrongEntryError(Exception):
    """An entry that is no valid argument. The text is for the user, without the field's name."""


@dataclass(frozen=True, kw_only=True)
class FormField:
    """One field.

    Attributes:
        name: the name of the property.
        label: its title; its name if it has none.
        hint: its description, and how to enter it.
        kind: what its control is for; `moment` is a date with a time.
        attributes: further attributes of the control.
        choices: the text in the form, the label and the value of each choice.
        required: whether it is required.
        nullable: whether it may be null.
        start: its first content: a text, whether it is checked, or the texts of the choices.
    """

    name: str
    label: str
    hint: str
    kind: Kind
    attributes: Mapping[str, str | bool] = field(default_factory=dict)
    choices: Sequence[tuple[str, str, Any]] = ()
    required: bool = False
    nullable: bool = False
    start: Any = ""

    @property
    def tag(self) -> str:
        """The tag of its control."""
        if self.kind in ("choice", "choices"):
            return "select"
        return "textarea" if self.kind in ("area", "lines", "json") else "input"

    @property
    def must_be_entered(self) -> bool:
        """Whether the browser has to insist on it: an empty list or JSON is checked by `argument`."""
        return self.required and not self.nullable and self.kind not in ("check", "choices", "lines")

    def argument(self, entered: Any) -> Any:
        """Return the argument; `MISSING` to leave it out.

        Args:
            entered: the control's text, whether it is checked, or the texts of the choices.

        Raises:
            WrongEntryError: if it is none.
        """
        if self.kind == "check":
            return bool(entered)
        if self.kind == "choices":
            values = [value for text, _, value in self.choices if text in entered]
            return values if values or self.required else MISSING
        if not str(entered).strip() and (self.kind not in ("text", "area") or not entered):
            return self._empty()
        return self._value(str(entered))

    def _empty(self) -> Any:
        if not self.required:
            return MISSING
        if self.nullable:
            return None
        if self.kind == "lines":
            return []
        raise WrongEntryError("is required.")

    def _value(self, text: str) -> Any:
        match self.kind:
            case "integer" | "number":
                return _number(text, whole=self.kind == "integer")
            case "choice":
                for choice, _, value in self.choices:
                    if choice == text:
                        return value
                raise WrongEntryError("is not one of the choices.")
            case "lines":
                return [line for line in text.splitlines() if line.strip()]
            case "moment":
                try:
                    return datetime.fromisoformat(text).astimezone().isoformat()
                except (ValueError, OverflowError):
                    raise WrongEntryError("is not a date with a time.") from None
            case "json":
                try:
                    return payload.decode(text, **LIMITS)
                except MessageError as error:
                    raise WrongEntryError(f"is not JSON: {str(error).removeprefix(_NOT_JSON)}") from None
        return text


def fields_of(schema: Any) -> list[FormField]:
    """Return the fields for a tool's input schema, in its order.

    Args:
        schema: a JSON Schema of an object; what it has in other shapes is left out.
    """
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping):
        return []
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    return [_field(name, part, schema, name in names) for name, part in properties.items()]


def _field(name: str, schema: Any, root: Mapping[str, Any], required: bool) -> FormField:
    resolved, nullable = _resolved(schema, root)
    kind, more = _control(resolved, root)
    default = resolved.get("default", MISSING)
    if kind == "check" and (nullable or not (required or isinstance(default, bool))):
        kind, more = "choice", {"choices": _boolean_choices()}
    own: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}  # a reference's title names a type
    hint = " ".join(filter(None, [_text(resolved.get("description")), _HINTS.get(kind)]))
    form_field = FormField(
        name=name,
        label=_text(own.get("title")) or name,
        hint=hint,
        kind=kind,
        required=required,
        nullable=nullable,
        **more,
    )
    if default is not MISSING and default is not None:
        return replace(form_field, start=_start(form_field, default))
    is_certain = kind == "choice" and required and not nullable and len(form_field.choices) == 1
    return replace(form_field, start=form_field.choices[0][0]) if is_certain else form_field


def _resolved(schema: Any, root: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """Return a schema without references and options of null at its root, and whether it may be null."""
    nullable = False
    resolved: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}
    for _ in range(_DEEPEST):
        inner: Any = None
        options = resolved.get("anyOf", resolved.get("oneOf"))
        if "$ref" in resolved:
            inner = resolve_reference(resolved["$ref"], root)
        elif isinstance(resolved.get("allOf"), list) and len(resolved["allOf"]) == 1:
            inner = resolved["allOf"][0]
        elif isinstance(options, list) and not _constants(resolved):
            others = [each for each in options if not (isinstance(each, Mapping) and each.get("type") == "null")]
            if len(others) < len(options) and len(others) == 1:
                nullable, inner = True, others[0]
        if not isinstance(inner, Mapping):
            break
        resolved = {**inner, **{key: resolved[key] for key in _OF_THE_PLACE if key in resolved}}
    kinds = resolved.get("type")
    if isinstance(kinds, list) and "null" in kinds and len(kinds) == 2:
        resolved, nullable = {**resolved, "type": next(each for each in kinds if each != "null")}, True
    return resolved, nullable or (isinstance(resolved.get("enum"), list) and None in resolved["enum"])


def _constants(schema: Mapping[str, Any]) -> list[tuple[Any, str]]:
    """Return the values that a schema lists, with their labels; none if it does not."""
    listed, options = schema.get("enum"), schema.get("oneOf", schema.get("anyOf"))
    if isinstance(listed, list):
        return [(value, _label(value)) for value in listed if value is not None]
    if "const" in schema:
        return [(schema["const"], _label(schema["const"]))]
    if isinstance(options, list) and all(isinstance(each, Mapping) and "const" in each for each in options):
        return [(each["const"], _text(each.get("title")) or _label(each["const"])) for each in options]
    return []


def _control(schema: Mapping[str, Any], root: Mapping[str, Any]) -> tuple[Kind, dict[str, Any]]:
    """Return the kind of a schema's control, and further members of its field."""
    kind = schema.get("type")
    if constants := _constants(schema):
        return "choice", {"choices": _choices(constants)}
    if kind == "boolean":
        return "check", {"start": False}
    if kind in ("integer", "number"):
        step = "1" if kind == "integer" else "any"
        return kind, {"attributes": {"type": "number", "step": step, **_bounds(schema, whole=kind == "integer")}}
    if kind == "string":
        return _text_control(schema)
    if kind == "array":
        items, _ = _resolved(schema.get("items"), root)
        if constants := _constants(items):
            return "choices", {"choices": _choices(constants), "attributes": {"multiple": True}, "start": []}
        if items.get("type") == "string":
            return "lines", {}
    return "json", {"attributes": {"spellcheck": "false"}}


def _text_control(schema: Mapping[str, Any]) -> tuple[Kind, dict[str, Any]]:
    kind = schema.get("format")
    if kind == "date-time":
        return "moment", {"attributes": {"type": "datetime-local", "step": "1"}}
    lengths = {"minLength": "minlength", "maxLength": "maxlength"}
    attributes = {lengths[key]: str(schema[key]) for key in lengths if _is_count(schema.get(key))}
    is_long = int(attributes.get("maxlength", 0)) > _LONG or "contentMediaType" in schema
    if kind in _LONG_FORMATS or (is_long and kind not in _TYPES):
        return "area", {"attributes": attributes}
    return "text", {"attributes": {"type": _TYPES.get(str(kind), "text"), **attributes}}


def _bounds(schema: Mapping[str, Any], *, whole: bool) -> dict[str, str]:
    """Return the attributes `min` and `max`; an exclusive bound of fractions is left to the server."""
    low, above = _real(schema.get("minimum")), _real(schema.get("exclusiveMinimum"))
    high, below = _real(schema.get("maximum")), _real(schema.get("exclusiveMaximum"))
    lows: list[int | float]
    highs: list[int | float]
    if whole:
        lows = [math.ceil(low)] if low is not None else []
        lows += [math.floor(above) + 1] if above is not None else []
        highs = [math.floor(high)] if high is not None else []
        highs += [math.ceil(below) - 1] if below is not None else []
    else:
        lows = [each for each in (low, above) if each is not None]
        highs = [each for each in (high, below) if each is not None]
    return ({"min": str(max(lows))} if lows else {}) | ({"max": str(min(highs))} if highs else {})


def _choices(constants: Sequence[tuple[Any, str]]) -> list[tuple[str, str, Any]]:
    """Return choices. Texts stand for themselves, so that agents see them, unless there are other values, or an empty
    one, which means none."""
    plain = all(isinstance(value, str) and value for value, _ in constants)
    return [(value if plain else json.dumps(value), label, value) for value, label in constants]


def _boolean_choices() -> list[tuple[str, str, Any]]:
    return [("true", "Yes", True), ("false", "No", False)]


def _start(made: FormField, default: Any) -> Any:
    """Return the first content of a field, from its default."""
    match made.kind:
        case "check":
            return default is True
        case "choice":
            return next((text for text, _, value in made.choices if _same(value, default)), "")
        case "choices":
            chosen = default if isinstance(default, list) else []
            return [text for text, _, value in made.choices if any(_same(value, each) for each in chosen)]
        case "lines":
            is_lines = isinstance(default, list) and all(isinstance(each, str) for each in default)
            return "\n".join(default) if is_lines else ""
        case "json":
            return json.dumps(default, ensure_ascii=False)
        case "moment":
            return ""  # a default of the server's is in its zone
    return default if isinstance(default, str) else json.dumps(default)


def _number(text: str, *, whole: bool) -> int | float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(text)
        if math.isfinite(value) and (value.is_integer() or not whole):
            return int(value) if value.is_integer() and whole else value
    except ValueError:
        pass
    raise WrongEntryError("is not a whole number." if whole else "is not a number.")


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _label(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _real(value: Any) -> int | float | None:
    is_real = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return value if is_real else None


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
