"""The content of each side's own messages, as data: see `Candidate.offer`."""

from __future__ import annotations

from dataclasses import dataclass

from mcpframe.frame.core.errors import StateError
from mcpframe.frame.core.setup import Permission
from mcpframe.frame.dialects.sep.messages import check_session_id


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOffer:
    """An inner frame's requests in its setup handshake.

    Attributes:
        requires_visible_setup: whether it must be visible during the setup.
        permissions: the browser permissions it asks for.
    """

    requires_visible_setup: bool = False
    permissions: tuple[Permission, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HostOffer:
    """The session id for the inner frame, and the host's decisions about permissions.

    Attributes:
        session_id: the id of the session; not empty. Each host creates it: `OuterFrame` (frame/hosting/outer.py),
            host.js (`randomId` in static/host/frames.js), and the bridge (kit/browser/profile.py), which remembers it.
        granted: the names of granted permissions; None if the host leaves them to the iframe.
        declined: the names of declined permissions.
        asks: whether the host can decide on further ones; if not, only required ones count as undecided.
    """

    session_id: str = ""
    granted: frozenset[str] | None = None
    declined: frozenset[str] = frozenset()
    asks: bool = False

    def __post_init__(self) -> None:
        if not self.session_id:
            raise StateError("An outer frame gives the session its id: pass session_id.")
        check_session_id(self.session_id)

    def undecided(self, permissions: tuple[Permission, ...]) -> tuple[Permission, ...]:
        """Return the permissions that the host has not decided on yet."""
        if self.granted is None:
            return ()
        return tuple(p for p in permissions if p.name not in self.granted and self._is_open(p))

    def _is_open(self, permission: Permission) -> bool:
        return permission.required or (self.asks and permission.name not in self.declined)
