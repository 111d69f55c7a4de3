"""`[tool.mcpframe]`: every key with its type, its default and what it means, from the models that read it."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from docs.generate.docstrings import attributes, sentence
from docs.generate.docstrings import table as as_table
from docs.generate.protocol import shown_default
from mcpframe.frame.core.roles import Options
from mcpframe.kit.project import pyproject as config

_SECTIONS: dict[str, type[BaseModel]] = {
    "": config.McpframeConfig,
    "visibility": config.VisibilityConfig,
    "options": config.OptionsConfig,
    "csp": config.CspConfig,
    "app": config.AppConfig,
    "npm": config.NpmConfig,
}
_WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false"}


def table(section: str) -> str:
    """Return the keys of `[tool.mcpframe]`, or of one of its sections."""
    model = _SECTIONS[section]
    meanings = attributes(model)
    if model is config.OptionsConfig:
        meanings = attributes(Options) | meanings
    rows = [
        [f"`{key}`", _kind(field.annotation), _default(section, key, field), sentence(meanings[key])]
        for key, field in model.model_fields.items()
    ]
    return as_table(["key", "type", "by default", "meaning"], rows)


def _kind(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return ", ".join(f"`{value!r}`".replace("'", '"') for value in arguments)
    if origin in (Union, UnionType):
        return " or ".join(_kind(argument) for argument in arguments if argument is not NoneType)
    if origin is list and get_origin(arguments[0]) is Literal:
        return f"list of {_kind(arguments[0])}"
    if origin is list:
        return f"list of {_plural(_kind(arguments[0]))}"
    if origin is dict:
        kind = _kind(arguments[1])
        return "tables" if kind == "table" else f"table of {_plural(kind)}"
    if hasattr(annotation, "__metadata__"):  # Annotated
        return _kind(arguments[0])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "table"
    return _WORDS[annotation]


def _plural(kind: str) -> str:
    return kind.replace("list of", "lists of", 1) if kind.startswith("list of") else f"{kind}s"


def _default(section: str, key: str, field: FieldInfo) -> str:
    if field.is_required():
        return "needed"
    value = field.default
    if section == "options" and value is None:
        return shown_default(key)
    if value is None or isinstance(value, BaseModel) or value in ([], {}):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f'`"{value}"`' if isinstance(value, str) else f"{value:g}"
