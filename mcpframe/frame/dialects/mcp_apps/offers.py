"""The content of each side's handshake (see `Candidate.offer`), and the events when the other side has read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcpframe.frame.core.events import Opened, OwnEvent


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
class AppsHostOffer:
    """A host's part of the handshake.

    Attributes:
        info: `hostInfo`: name and version.
        capabilities: `hostCapabilities`.
        context: `hostContext` at the time of the handshake.
        resource: the parameters of `ui/notifications/sandbox-resource-ready`, where the host frames a sandbox proxy;
            None where it frames the view itself.
    """

    info: Mapping[str, Any] = field(default_factory=lambda: {"name": "mcpframe", "version": "0"})
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    context: Mapping[str, Any] = field(default_factory=dict)
    resource: Mapping[str, Any] | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewCalled(OwnEvent):
    """A view has called its host. `Opened` follows once it is ready.

    Attributes:
        version: the revision that it asks for; None if it names none.
        info: `appInfo`.
        capabilities: `appCapabilities`.
    """

    version: str | None
    info: Mapping[str, Any] = field(hash=False)
    capabilities: Mapping[str, Any] = field(hash=False)
