"""The outputs of a supervisor, which its owner carries out in their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Start:
    """Output: start a worker; one that runs is ended at once."""


@dataclass(frozen=True)
class End:
    """Output: end the worker at once; there is none until the next `Start`."""


@dataclass(frozen=True)
class Post:
    """Output: post a text to the worker."""

    text: str


@dataclass(frozen=True)
class Deliver:
    """Output: send a message to a client.

    Attributes:
        client: its number.
        text: the JSON text.
        message: the same, parsed.
    """

    client: int
    text: str
    message: Json


@dataclass(frozen=True)
class Left:
    """Output: the worker has ended the session of a client."""

    client: int


@dataclass(frozen=True)
class Problem:
    """Output: show an error that the server survives."""

    title: str
    detail: str


@dataclass(frozen=True)
class Computing:
    """Output: the worker computes, or does so no more.

    Attributes:
        tools: the names of the tools of the calls that it handles; empty once it computes no more.
        since: the time at which it last answered.
    """

    tools: tuple[str, ...]
    since: float


Output = Start | End | Post | Deliver | Left | Problem | Computing
