"""The content of a framed page's handshake (see `Candidate.offer`), and the event when it has found its host."""

from __future__ import annotations

from dataclasses import dataclass, field
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
class EmbedderFound(Opened):
    """A framed page has found its host.

    Attributes:
        data: the render data, if that was the host's first message; None otherwise.
    """

    data: Any = field(default=None, hash=False)
