"""The description of a server, from importing its entry."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mcpframe.frame.core.allowed_origins import OriginEntries


@dataclass(frozen=True)
class SetupDescription:
    """The requirements of a server's setup.

    Attributes:
        visible: Whether the page must be visible.
        permissions: The fields of each `Permission`.
    """

    visible: bool = False
    permissions: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class ServerDescription:
    """The description of a server, from importing its entry.

    Attributes:
        name: The name that clients see.
        title: The title that clients see, if any.
        version: The server's version, if any.
        instructions: The server's instructions for models, if any.
        origins: The origins passed to `FrameServer`.
        tools: The tools as `tools/list` returns them; None if the server lists them only within a session.
        modules: The names of all modules imported with the server.
        setup: The requirements of its setup; None if unknown.
        notes: Warnings about its code, in sentences.
        draws: Whether it has a function that draws its page.
        sources: The top folders of the packages whose sources it reads.
        answers: Its answers to the requests with which clients begin: the protocol revisions (`versions`), and the
            results by method.
    """

    name: str
    title: str | None = None
    version: str | None = None
    instructions: str | None = None
    origins: OriginEntries = field(default_factory=OriginEntries)
    tools: tuple[dict[str, Any], ...] | None = None
    modules: tuple[str, ...] = ()
    setup: SetupDescription | None = None
    notes: tuple[str, ...] = ()
    draws: bool = False
    sources: tuple[str, ...] = ()
    answers: tuple[dict[str, Any], ...] = ()
