"""The content of each side's own messages, as data: see `Candidate.offer`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedOffer:
    """How a framed page begins.

    Attributes:
        waits: whether it begins only with the host's render data, as its address says.
    """

    waits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderOffer:
    """What a host has for a framed page.

    Attributes:
        origin: the origin of the page, `"null"` for an opaque one. The host posts its render data as soon as the page
            has loaded, before it has heard anything of it.
        data: the render data; None for none.
    """

    origin: str = ""
    data: Any = None
