"""The content of each side's handshake (see `Candidate.offer`), and the acts and events of this dialect alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from mcpframe.frame.core.events import Opened


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedOffer:
    """A framed page's part of the handshake.

    Attributes:
        waits: whether it begins only with the host's render data, as its address says.
    """

    waits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderOffer:
    """A host's part of the handshake.

    Attributes:
        origin: the origin of the page, `"null"` for an opaque one. The host posts its render data as soon as the page
            has loaded, before the first message of the page.
        data: the render data; None for none.
    """

    origin: str = ""
    data: Any = None


class EmbedderAct(StrEnum):
    """Acts of a host in this dialect, besides sending: see `Connection.act`."""

    LOADED = "send render data on load"
    """The page has loaded: send it the render data, if there is any."""
    RENDER = "send other render data"
    """Send other render data from now on, and at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderFound(Opened):
    """A framed page has found its host.

    Attributes:
        data: the render data, if that was the host's first message; None otherwise.
    """

    data: Any = field(default=None, hash=False)
