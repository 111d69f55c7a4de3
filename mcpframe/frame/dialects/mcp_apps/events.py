"""The events of this dialect: what each side learns of the other in the handshake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcpframe.frame.core.events import Opened, OwnEvent


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
