"""Turns a JSON Schema into the fields of a form, without a browser.

`fields_of` handles the schemas of common tools (pydantic's, zod's, hand-written; JSON Schema 2020-12 and the older
drafts): references are resolved in the document, `allOf` is merged, and `null` beside one other option makes a field
nullable. Other schemas become a field of the kind `json`. A schema is not trusted: the number and the depth of its
fields are bounded, and references out of the document are never followed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from inspector.forms.checks import fits
from inspector.forms.fields import Choice, Field, Kind
from inspector.forms.json_values import MISSING, identity
from inspector.forms.merging import Unfit, merge
from mcpframe.hosts import resolve_reference

__all__ = ["fields_of"]


MAX_FIELDS = 2000
MAX_DEPTH = 20
MAX_CHOICES = 1000

_SCALARS = ("text", "file", "number", "integer", "boolean", "choice")
_KINDS: dict[str, Kind] = {"string": "text", "number": "number", "integer": "integer", "boolean": "boolean"}
_KIND_NAMES: dict[str, str] = {"object": "object", "array": "list", "text": "text", "file": "file", "json": "JSON"}
_HINTS = {
    "object": ("properties", "additionalProperties", "patternProperties", "required", "minProperties", "propertyNames"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems"),
    "string": ("minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
_BASE64 = ("base64", "base64url", "byte")
_EXAMPLE = re.compile(r"(\()?\b(?:Example|example|e\.g\.): *(\S.*?)\.?$", re.MULTILINE)


def fields_of(schema: Any, *, name: str = "") -> Field:
    """Return the field of a schema, including its members.

    Args:
        schema: a JSON Schema; anything else makes a `json` field.
        name: the visible name if the schema has no title.
    """
    return _Builder(schema).field(schema, name=name, required=True, refs=())


class _Builder:
    """Builds the fields of one document."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._left = MAX_FIELDS

    def field(self, schema: Any, *, name: str, required: bool, refs: tuple[str, ...], depth: int = 0) -> Field:
        """Return the field of a part of the document; `refs` are the references that led to it."""
        self._left -= 1
        flat: Mapping[str, Any] = {}
        try:
            if self._left < 0 or depth > MAX_DEPTH:
                raise Unfit
            flat, refs = self._flatten(schema, refs)
            made = self._make(flat, refs, depth)
        except Unfit:
            plain = dict(flat) if flat else dict(schema) if isinstance(schema, Mapping) else {}
            made = Field(kind="json", schema={**plain, "enum": None, "const": None})
        # the title of a referenced schema names a type, which several members may have
        title = _text((schema if name and isinstance(schema, Mapping) else flat).get("title"))
        description = _text(flat.get("description"))
        made = replace(
            made,
            name=name,
            title=name if _is_automatic(title, name) else title,
            description=description or made.description,
            required=required,
        )
        return replace(made, start=_start(made, flat))

    def _flatten(self, schema: Any, refs: tuple[str, ...]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Resolve a schema's own references and `allOf`."""
        if schema is True:
            return {}, refs
        if not isinstance(schema, Mapping):
            raise Unfit
        flat = {key: value for key, value in schema.items() if key not in ("$ref", "allOf", "$defs", "definitions")}
        if "$ref" in schema:
            target = schema["$ref"]
            if target in refs or not isinstance(target, str):
                raise Unfit
            found, refs = self._flatten(resolve_reference(target, self._root), (*refs, target))
            flat = merge({"title": target.rsplit("/", 1)[-1]} | found, flat)
        every = schema.get("allOf", [])
        if not isinstance(every, list):
            raise Unfit
        for part in every:
            found, refs = self._flatten(part, refs)
            flat = merge(found, flat)
        return flat, refs

    # One schema without references

    def _make(self, schema: Mapping[str, Any], refs: tuple[str, ...], depth: int) -> Field:
        if "const" in schema:
            return _choice(schema, [schema["const"]], [])
        if isinstance(schema.get("enum"), list):
            return _choice(schema, schema["enum"], schema.get("enumNames", schema.get("x-enumNames")))
        for key in ("oneOf", "anyOf"):
            options = schema.get(key)
            if isinstance(options, list) and options and not all(_only_requires(option) for option in options):
                base = {name: value for name, value in schema.items() if name != key}
                return self._any_of(base, options, refs, depth)
        types = schema.get("type")
        if isinstance(types, list):
            base = {name: value for name, value in schema.items() if name != "type"}
            return self._any_of(base, [{"type": each} for each in types], refs, depth)
        if not isinstance(types, str):
            types = next((kind for kind, hints in _HINTS.items() if any(hint in schema for hint in hints)), None)
        if types == "object":
            return self._object(schema, refs, depth)
        if types == "array":
            return self._array(schema, refs, depth)
        if types == "null":
            return _choice(schema, [None], [])
        if types == "string":
            encoded = schema.get("contentEncoding") in _BASE64 or schema.get("format") in _BASE64
            return Field(kind="file" if encoded else "text", schema=schema)
        if types in _KINDS:
            return Field(kind=_KINDS[types], schema=schema)
        raise Unfit

    def _any_of(self, base: dict[str, Any], options: list[Any], refs: tuple[str, ...], depth: int) -> Field:
        if len(options) > MAX_CHOICES:
            raise Unfit
        flat: list[tuple[dict[str, Any], tuple[str, ...]]] = []
        for option in options:
            if option is False:
                continue
            cyclic = isinstance(option, Mapping) and option.get("$ref", MISSING) in refs
            found, led = ({"$ref": option["$ref"]}, refs) if cyclic else self._flatten(option, refs)
            own = {key: value for key, value in base.items() if key not in ("title", "description", *_STARTS)}
            flat.append((merge(own, found), led))
        others = [(each, led) for each, led in flat if each.get("type") != "null" and each.get("const", 0) is not None]
        titled = [each for each, _ in others if "const" in each]
        if others and len(titled) == len(others):
            values = [each["const"] for each in titled]
            made = _choice(base, values, [each.get("title") for each in titled])
            return replace(made, nullable=len(others) < len(flat))
        nullable = len(others) < len(flat)
        if len(others) == 1:
            made = self.field(others[0][0], name="", required=True, refs=others[0][1], depth=depth + 1)
            if not nullable:
                return made
            if made.kind in _SCALARS:
                return replace(made, nullable=True)
            flat = others
        else:
            flat = others
        fields = [self.field(each, name="", required=True, refs=led, depth=depth + 1) for each, led in flat]
        if nullable:
            fields.append(replace(_choice({}, [None], []), title="null"))
        if not fields:
            raise Unfit
        return Field(kind="union", schema=base, options=_told_apart(fields))

    def _object(self, schema: Mapping[str, Any], refs: tuple[str, ...], depth: int) -> Field:
        properties = schema.get("properties", {})
        listed = schema.get("required", [])
        if not isinstance(properties, Mapping):
            raise Unfit
        wanted = dict.fromkeys(name for name in listed if isinstance(name, str)) if isinstance(listed, list) else {}
        if len(properties) + len(wanted) > MAX_FIELDS:
            raise Unfit
        names = [name for name in properties if properties[name] is not False or name in wanted]
        members = [
            self.field(properties.get(name, {}), name=name, required=name in wanted, refs=refs, depth=depth + 1)
            for name in dict.fromkeys([*names, *wanted])
        ]
        members = [each if each.title.strip() else replace(each, title=json.dumps(each.name)) for each in members]
        others = schema.get("additionalProperties", True)
        patterns = schema.get("patternProperties")
        if isinstance(patterns, Mapping) and patterns:
            others = next(iter(patterns.values())) if others in (True, False) else {}
        more = None if others is False else self.field(others, name="", required=True, refs=refs, depth=depth + 1)
        return Field(kind="object", schema=schema, members=tuple(members), more=more)

    def _array(self, schema: Mapping[str, Any], refs: tuple[str, ...], depth: int) -> Field:
        items = schema.get("items", True)
        places = schema.get("prefixItems", [])
        if isinstance(items, list):  # a tuple in drafts before 2020-12
            places, items = items, schema.get("additionalItems", True)
        if not isinstance(places, list) or len(places) > MAX_FIELDS:
            raise Unfit
        least = schema.get("minItems")
        least = least if isinstance(least, int) else 0
        members = [
            self.field(place, name=str(at + 1), required=at < least, refs=refs, depth=depth + 1)
            for at, place in enumerate(places)
        ]
        if items is False or len(members) == schema.get("maxItems"):
            return Field(kind="array", schema=schema, members=tuple(members))
        item = self.field(items, name="", required=True, refs=refs, depth=depth + 1)
        if item.kind == "choice" and not members and not item.nullable:
            return Field(kind="choices", schema=schema, choices=item.choices, more=item)
        return Field(kind="array", schema=schema, members=tuple(members), more=item)


_STARTS = ("examples", "example", "default")


def _only_requires(option: Any) -> bool:
    """Return whether an option only lists the properties that are required together, which the server checks."""
    return isinstance(option, Mapping) and set(option) <= {"required"}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _is_automatic(title: str, name: str) -> bool:
    """Return whether a title only repeats the name, as pydantic's "Max Results" for `max_results`."""

    def plain(text: str) -> str:
        return re.sub(r"[\W_]+", "", text).casefold()

    return not title or (bool(name) and plain(title) == plain(name))


def _choice(schema: Mapping[str, Any], values: list[Any], names: Any) -> Field:
    types = schema.get("type")
    allowed = types if isinstance(types, list) else [types] if isinstance(types, str) else None
    named = [
        (value, names[at] if isinstance(names, list) and at < len(names) else None)
        for at, value in enumerate(values)
        if allowed is None or any(_has_type(value, each) for each in allowed)
    ]
    if len(named) > MAX_CHOICES:
        return Field(kind="json", schema=schema)
    plain = all(isinstance(value, str) for value, _ in named)
    kept: dict[Any, Choice] = {}
    for value, name in named:
        title = name if isinstance(name, str) and name else _shown(value, plain=plain)
        kept.setdefault(identity(value), Choice(value, title))
    if not kept:
        raise Unfit
    return Field(kind="choice", schema=schema, choices=tuple(kept.values()))


def _shown(value: Any, *, plain: bool) -> str:
    """Return a value as text for people: unchanged if all values are texts, otherwise as JSON."""
    return value if plain and value.strip() else json.dumps(value, ensure_ascii=False)


def _has_type(value: Any, name: Any) -> bool:
    if name in ("integer", "number"):
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return is_number and (name == "number" or value == int(value))
    kinds = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None)}
    return isinstance(value, kinds.get(name, ()) if isinstance(name, str) else ())


def _told_apart(fields: list[Field]) -> tuple[Field, ...]:
    """Return the options of a union with distinct titles."""
    titles: list[str] = []
    for field in fields:
        consts = [member for member in field.members if member.kind == "choice" and len(member.choices) == 1]
        title = field.title or (f"{consts[0].name}: {consts[0].choices[0].title}" if consts else "")
        if not title and field.kind == "choice":
            title = " or ".join(choice.title for choice in field.choices[:3])
        if not title and field.kind == "array" and field.more:
            title = f"list of {field.more.title or _KIND_NAMES.get(field.more.kind, field.more.kind)}"
        titles.append(title or _KIND_NAMES.get(field.kind, field.kind))
    told = [f"{title} ({at + 1})" if titles.count(title) > 1 else title for at, title in enumerate(titles)]
    return tuple(replace(field, title=title) for field, title in zip(fields, told, strict=True))


def _start(field: Field, schema: Mapping[str, Any]) -> Any:
    """Return the initial value of a field, an example or else the default, if it is valid."""
    examples = schema.get("examples")
    candidates = [examples[0]] if isinstance(examples, list) and examples else []
    candidates += [schema["example"]] if "example" in schema else []
    if match := _EXAMPLE.search(_text(schema.get("description"))):
        candidates += _read(match[2].removesuffix(")") if match[1] else match[2])
    candidates += [schema["default"]] if "default" in schema else []
    for candidate in candidates:
        if candidate is None and not field.required:
            continue  # same effect as leaving it out
        if fits(field, candidate):
            return candidate
    return field.start


def _read(text: str) -> list[Any]:
    """Return the value of an example in a description: parsed as JSON, or the text itself."""
    plain = text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'`" else text
    try:
        return [json.loads(plain), plain] if len(plain) < 10_000 else [plain]
    except (ValueError, RecursionError):
        return [plain]
