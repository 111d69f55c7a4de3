"""What each side says in its own messages, as data: see `Candidate.offer`."""

from __future__ import annotations

from dataclasses import dataclass

from mcpframe.frame.core.errors import StateError
from mcpframe.frame.dialects.sep.events import Permission


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOffer:
    """What an inner frame asks for in its setup.

    Attributes:
        requires_visible_setup: whether it needs to be seen meanwhile.
        permissions: the browser permissions it asks for.
    """

    requires_visible_setup: bool = False
    permissions: tuple[Permission, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HostOffer:
    """What an outer frame gives to the inner one, and what it has decided about permissions.

    Attributes:
        session_id: the id of the session; not empty.
        granted: the names of the permissions that are granted; None where the host leaves them to the iframe.
        declined: the names of those that are not.
        asks: whether somebody is there to decide on further ones; without, only required ones are undecided.
    """

    session_id: str = ""
    granted: frozenset[str] | None = None
    declined: frozenset[str] = frozenset()
    asks: bool = False

    def __post_init__(self) -> None:
        if not self.session_id:
            raise StateError("An outer frame gives the session its id: pass session_id.")

    def undecided(self, permissions: tuple[Permission, ...]) -> tuple[Permission, ...]:
        """Return those of the permissions that the host has still to decide on."""
        if self.granted is None:
            return ()
        return tuple(p for p in permissions if p.name not in self.granted and self._is_open(p))

    def _is_open(self, permission: Permission) -> bool:
        return permission.required or (self.asks and permission.name not in self.declined)
