"""Searches for a text in the keys and values of a document, in document order."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from summary import segment

Where = Literal["keys", "values", "both"]

_PAUSE_EVERY = 2000


class Match(NamedTuple):
    """A match: its path, whether it is in the key or the value, and the value there."""

    path: str
    part: Literal["key", "value"]
    value: Any


def search_in(value: Any, text: str, where: Where = "both", *, case_sensitive: bool = False) -> Iterator[Match | None]:
    """Find a text in keys, and in the JSON text of strings, numbers and literals.

    Args:
        value: The parsed document.
        text: The text to find.
        where: Where to search.
        case_sensitive: Whether upper and lower case differ.

    Yields:
        The matches, and now and then None, to allow a pause.
    """
    wanted = text if case_sensitive else text.casefold()

    def holds(candidate: str) -> bool:
        return wanted in (candidate if case_sensitive else candidate.casefold())

    seen = 0
    open_places = [iter([("$", None, value)])]
    while open_places:
        place = next(open_places[-1], None)
        if place is None:
            open_places.pop()
            continue
        path, key, here = place
        seen += 1
        if seen % _PAUSE_EVERY == 0:
            yield None
        if key is not None and where != "values" and holds(key):
            yield Match(path, "key", here)
        if isinstance(here, dict | list):
            open_places.append(_inside(path, here))
        elif where != "keys" and holds(_written(here)):
            yield Match(path, "value", here)


def _inside(path: str, value: dict[str, Any] | list[Any]) -> Iterator[tuple[str, str | None, Any]]:
    if isinstance(value, dict):
        return ((path + segment(key), key, inner) for key, inner in value.items())
    return ((f"{path}[{index}]", None, inner) for index, inner in enumerate(value))


def _written(value: str | int | float | bool | None) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
