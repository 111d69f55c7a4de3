"""Validates the outcome from static/build/snapshot-maker.js: the build uses it, and the author's modules run there.

An outcome of another shape is forged by one of them, or the page is broken.
"""

from __future__ import annotations

import struct
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

MOST_BYTES = 1024 * 1024 * 1024
"""The limit of one request of the page, and of the memory in a snapshot."""

MOST_RESULT = 64 * 1024 * 1024
"""The limit of a program's result, and of each of its files, in characters."""

_Text = Annotated[str, Field(max_length=1_000_000)]
_Texts = Annotated[list[_Text], Field(max_length=100_000)]
_Address = Annotated[int, Field(ge=0, lt=2**32)]
_Addresses = Annotated[list[_Address], Field(max_length=1_000_000)]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True)


class _Error(_Strict):
    what: _Text


class _Asked(_Strict):
    what: _Text
    file: _Text = ""
    line: int = 0
    library: _Text = ""


class _Findings(_Strict):
    error: _Error | None = None
    asked: _Asked | None = None
    tasks: int = 0
    written: _Texts = []
    opened: _Texts = []
    modules: _Texts = []
    callbacks: int = 0
    held: _Text = ""
    waits: bool = False
    kept: _Texts = []


class _Outcome(_Strict):
    failure: _Text = ""
    stack: _Text = ""
    drawnOrTimed: _Addresses = []  # noqa: N815  as in JavaScript
    bases: Annotated[dict[_Text, _Address], Field(max_length=1000)] = {}
    found: _Findings | None = None
    own: _Addresses = []
    table: _Address = 0
    build: Annotated[str, Field(pattern=r"^[0-9a-f]{0,256}$")] = ""
    references: dict[str, Any] = {}
    links: _Address = 0
    tools: list[Any] | None = None
    result: Annotated[str, Field(max_length=MOST_RESULT)] = ""
    files: dict[_Text, Annotated[str, Field(max_length=MOST_RESULT)]] = {}


def checked(outcome: object) -> dict[str, Any]:
    """Return a valid outcome unchanged.

    Raises:
        ValueError: It is invalid.
    """
    try:
        valid = _Outcome.model_validate(outcome)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the whole"
        raise ValueError(
            f"its page sends an outcome that the build does not expect ({place}: {first['msg']})"
        ) from error
    return valid.model_dump(exclude_unset=True)


def check_memory(sent: bytes) -> None:
    """Raise `ValueError` if the received data does not describe a memory; see `memory.whole`."""
    try:
        count, size = struct.unpack_from("<II", sent)
        places = list(struct.iter_unpack("<II", sent[8 : 8 + 8 * count]))
    except struct.error:
        raise ValueError("its page sends something else than memory") from None
    lengths = sum(length for _, length in places)
    within = all(place + length <= size for place, length in places)
    if size > MOST_BYTES or len(places) != count or not within or 8 + 8 * count + lengths != len(sent):
        raise ValueError("its page sends something else than memory")
