"""The conversion of a tool's result into data and content, without any SDK.

The rule is one walk through a result: what no SDK can send is replaced, by the class of the value, and everything else
stays as it is. Values of libraries are found by the names of their classes, so that no library is imported for this;
`libraries` has the table of them, and is only in bundles that contain one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from math import isfinite, isnan
from pathlib import Path
from sys import float_info
from types import UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from pydantic_core import to_json, to_jsonable_python
from typing_extensions import is_typeddict

from mcpframe.frame.results.content import Block, Described, Key, bytes_content, file_content

_LIBRARIES = frozenset({"altair", "matplotlib", "numpy", "pandas", "PIL", "plotly", "seaborn"})
_SDKS = frozenset({"fastmcp", "mcp", "mcp_types"})
_JSON = (str, int, float, bool, type(None))
_BYTES = (bytes, bytearray, memoryview)
DESCRIBES = "__mcpframe_described__"
"""The method of a class of mcpframe whose objects describe themselves, and return a `Described`."""
DECLARES = "__mcpframe_declared__"
"""The type that an output schema has for such an object."""
_DEEPEST = 8
"""The levels of an annotation that are searched: a class may refer to itself."""


class Result(NamedTuple):
    """A result whose content is not the text of its data.

    Attributes:
        content: Its content.
        data: Its structured content.
    """

    content: list[Block | str]
    data: dict[str, Any]


def converted(value: Any, fits: Callable[[Any], bool] = lambda _: True) -> Any:
    """Return a tool's result in a form that every SDK can send.

    JSON has no NaN and no infinity (RFC 8259, section 6), and clients refuse a result with one: they become null. So
    does an integer beyond the numbers of JavaScript, which would be infinite on its way.

    Args:
        value: The result.
        fits: Returns whether data with null in place of such numbers is what the tool declares.

    Returns:
        The value itself if there was nothing to convert; otherwise data, a `Block`, a list with `Block` in it, or a
        `Result`.

    Raises:
        TypeError: It is, or contains, an object of a library that has no such form. The text says what to return.
        ValueError: An image, a chart or a file is too large, or a number has no JSON form, and null does not fit.
    """
    if isinstance(value, Path):
        return file_content(value)
    walk = _Walk()
    result = _converted(value, walk)
    if walk.not_finite and not fits(result.data if isinstance(result, Result) else result):
        raise ValueError(_no_json(value))
    return result


def _converted(value: Any, walk: _Walk) -> Any:
    if isinstance(value, list | tuple):
        items = [walk.step(item) for item in value]
        content = bool(walk.blocks) or any(isinstance(item, Block | Described) for item in items)
        shown = [part for item in items for part in _shown(item)]
        return [*shown, *walk.blocks] if content else _same(value, items)
    data = walk.step(value)
    if isinstance(data, Described):
        return Result([data.text, *data.links], data.data)
    return as_result(data, walk.blocks) if walk.blocks else data


def _shown(item: Any) -> list[Any]:
    """Return an item of a list as content."""
    if isinstance(item, Block):
        return item.noted
    return [item.text, *item.links] if isinstance(item, Described) else [item]


def as_result(data: dict[str, Any], blocks: Iterable[Block | str] = ()) -> Result:
    """Return a result with data, its text, and further content."""
    return Result([to_json(data, indent=2, fallback=str).decode(), *blocks], to_jsonable_python(data, fallback=str))


def as_resource(value: Any) -> Any:
    """Return what a resource's function returned as a text or bytes; an object of an SDK as it is.

    Raises:
        TypeError: It has no such form, or several pictures or files are in it.
        ValueError: A picture or a file is too large.
    """
    if isinstance(value, str | bytes) or type(value).__module__.partition(".")[0] in _SDKS:
        return value
    result = converted(value)
    if isinstance(result, Block):
        return result.data
    data = result.data if isinstance(result, Result) else result
    blocks = result.content[1:] if isinstance(result, Result) else result if isinstance(result, list) else ()
    if any(isinstance(each, Block) for each in blocks):
        raise TypeError("A resource is one text or file: return a picture or a file by itself.")
    return data if isinstance(data, str) else to_json(data, indent=2, fallback=str).decode()


class _Walk:
    """One walk through a result. Content inside of data is collected, and named in its place.

    Attributes:
        blocks: The content that was inside of data, and the notes on it.
        not_finite: Whether there was a number that JSON lacks.
    """

    def __init__(self) -> None:
        self.blocks: list[Block | str] = []
        self.not_finite = False

    def step(self, value: Any) -> Any:
        """Return a value as data, a `Block` or a `Described`."""
        cls = type(value)
        if not _has_json(value):
            self.not_finite = True
            return None
        if cls in _JSON:
            return value
        if isinstance(value, _BYTES):
            return bytes_content(bytes(value))
        if (describe := getattr(cls, DESCRIBES, None)) is not None:
            return describe(value)
        if keys := library_keys(cls):
            return self._finite(library_table().convert(value, keys))
        if isinstance(value, dict):
            return _same(value, {self._data(key): self._data(item) for key, item in value.items()})
        if isinstance(value, list | tuple | set | frozenset):
            return _same(value, [self._data(item) for item in value])
        if (parts := _parts_of(value)) is not None:
            data = self.step(parts)
            return value if data is parts and not _has_no_text(cls) else data
        if _has_no_text(cls):
            raise TypeError(f"An object of the class {cls.__name__} is not a result: return its data, or a text.")
        return value

    def _finite(self, found: Any) -> Any:
        """Return a converted value, with null in place of a number that JSON lacks."""
        return self.step(found) if isinstance(found, float | int) else found

    def _data(self, value: Any) -> Any:
        shown = self.step(value)
        if isinstance(shown, Block):
            self.blocks += shown.noted
            return f"{shown.kind}, in the content of this result"
        if isinstance(shown, Described):
            self.blocks += shown.links
            return shown.data if shown.inner is None else shown.inner
        return shown


def _same(before: Any, after: Any) -> Any:
    """Return a container itself if its items are still the same objects."""
    pairs = zip(before, after, strict=True)
    if isinstance(before, dict):
        pairs = zip((*before, *before.values()), (*after, *after.values()), strict=True)
    return before if all(old is new for old, new in pairs) else after


def _parts_of(value: Any) -> dict[str, Any] | None:
    """Return the fields of an author's dataclass or pydantic model; None for any other value."""
    cls = type(value)
    if cls.__module__.partition(".")[0] in _SDKS:
        return None
    if is_dataclass(cls):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if hasattr(cls, "model_fields"):
        return dict(value)
    if _has_no_text(cls) and (names := [name for name in getattr(cls, "__annotations__", ()) if hasattr(value, name)]):
        return {name: getattr(value, name) for name in names}
    return None


def _has_no_text(cls: type) -> bool:
    """Return whether the text of a class's objects would be their address in memory."""
    texts = {getattr(cls, "__str__"), getattr(cls, "__repr__")}  # noqa: B009  mypy binds them
    plain = texts == {object.__str__, object.__repr__}
    return plain and not hasattr(cls, "__get_pydantic_core_schema__") and cls.__module__.partition(".")[0] not in _SDKS


def _has_json(value: Any) -> bool:
    """Return false for a number that JSON, or JavaScript, lacks."""
    if isinstance(value, float):
        return isfinite(value)
    return not isinstance(value, int) or -float_info.max <= value <= float_info.max


def _no_json(value: Any) -> str:
    """Return the error for a result with a number that JSON lacks."""
    place, number = next(_not_finite(value, "result"), ("result", "NaN"))
    return (
        f"The number at {place} is {number}, which JSON, as JavaScript reads it, does not have: return another number, "
        "or declare that it can be None, and return that."
    )


def _not_finite(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Return the numbers that JSON lacks, with their places."""
    if library_keys(type(value)) and hasattr(value, "item"):
        value = value.item() if getattr(value, "ndim", 1) == 0 else None
    if not _has_json(value):
        is_nan = isinstance(value, float) and isnan(value)
        yield place, "NaN" if is_nan else "infinite" if isinstance(value, float) else "beyond ±1.8e308"
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _not_finite(item, f"{place}[{key!r}]")
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _not_finite(item, f"{place}[{number}]")
    elif (parts := _parts_of(value)) is not None:
        for name, item in parts.items():
            yield from _not_finite(item, f"{place}.{name}")


def library_keys(cls: type) -> list[Key]:
    """Return the classes of libraries that a class is one of, the most special first."""
    keys = [(base.__module__.partition(".")[0], base.__name__) for base in cls.__mro__]
    return [key for key in keys if key[0] in _LIBRARIES]


def library_table() -> Any:
    """Return the module `libraries`."""
    return import_module("mcpframe.frame.results.libraries")  # only in bundles that contain one of them


# Annotations


class _Missing:
    """Stands for a type that cannot be declared."""


UNDECLARED = _Missing
"""The result of `declared` for an annotation that no output schema can stand for."""


def declared(annotation: Any) -> Any:
    """Return the annotation of a result after its conversion, for the output schema.

    Returns:
        The annotation itself if nothing of it is converted; another one; or `UNDECLARED`.
    """
    is_union = get_origin(annotation) in (Union, UnionType)
    members = get_args(annotation) if is_union else (annotation,)
    if any(isinstance(each, type) and issubclass(each, Path) for each in members):
        return UNDECLARED
    if not _is_converted(annotation, _DEEPEST):
        return annotation
    if (described := getattr(_class_of(annotation), DECLARES, None)) is not None:
        return described
    keys = library_keys(_class_of(annotation))
    return library_table().schema(keys) or UNDECLARED if keys else UNDECLARED


def _is_converted(annotation: Any, levels: int) -> bool:
    """Return whether an annotation is, or contains, a class whose objects are converted."""
    cls = _class_of(annotation)
    if issubclass(cls, _BYTES) or library_keys(cls) or hasattr(cls, DECLARES):
        return True
    inner = get_args(annotation)
    if is_dataclass(cls) or is_typeddict(cls) or hasattr(cls, "model_fields"):
        try:
            inner = (*inner, *get_type_hints(cls).values())
        except NameError:  # reported by the SDK
            return False
    return levels > 0 and any(_is_converted(each, levels - 1) for each in inner)


def _class_of(annotation: Any) -> type:
    cls = get_origin(annotation) or annotation
    return cls if isinstance(cls, type) else object
