"""The content of a view's handshake (see `Candidate.offer`), and the event when it has found its host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcpframe.frame.core.events import Opened


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOffer:
    """A view's part of the handshake.

    Attributes:
        name: its name.
        version: its version.
        title: its name for people; empty for none.
        display_modes: the display modes that it can be shown in; empty to leave that open.
    """

    name: str = "mcpframe"
    version: str = "0"
    title: str = ""
    display_modes: tuple[str, ...] = ()

    @property
    def info(self) -> dict[str, Any]:
        """`appInfo`."""
        return {"name": self.name, "version": self.version, **({"title": self.title} if self.title else {})}

    @property
    def capabilities(self) -> dict[str, Any]:
        """`appCapabilities`. The server's own tools are the app's tools."""
        modes = {"availableDisplayModes": list(self.display_modes)} if self.display_modes else {}
        return {"tools": {"listChanged": True}, **modes}


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFound(Opened):
    """A view has found its host.

    Attributes:
        version: the revision that the host chose; None if it named none.
        info: `hostInfo`.
        capabilities: `hostCapabilities`.
        context: `hostContext`.
    """

    version: str | None
    info: Mapping[str, Any] = field(hash=False)
    capabilities: Mapping[str, Any] = field(hash=False)
    context: Mapping[str, Any] = field(hash=False)
