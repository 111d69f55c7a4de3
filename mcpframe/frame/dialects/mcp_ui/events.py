"""Acts and events that only this dialect has."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from mcpframe.frame.core.events import Opened


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
        data: the render data, if that was the sign; None otherwise.
    """

    data: Any = field(default=None, hash=False)
