"""The permissions of a framed page: granted by name, in advance or when its setup asks; none otherwise."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

from mcpframe.frame.core.errors import PermissionsDenied, StateError
from mcpframe.frame.core.places import allow_attribute

if TYPE_CHECKING:
    from mcpframe.frame.session.setup_phase import Permission

Decide = Callable[["tuple[Permission, ...]"], Iterable[str] | Awaitable[Iterable[str]]]


class Permissions:
    """The decisions on a page's permissions, and the phases for which it asked.

    Attributes:
        granted: The names of those granted so far.
        declined: The names of those that a host was asked for and did not grant.
    """

    def __init__(self, granted: Iterable[str]) -> None:
        """Grant some in advance. Raises `OriginError` for what is no name of a feature."""
        self.granted = set(granted)
        self.declined: set[str] = set()
        self._phases: dict[str, tuple[str, ...]] = {}
        allow_attribute(self.granted)

    def allowed(self, phase: str) -> str:
        """Return the `allow` attribute of a page in a phase."""
        return allow_attribute(name for name in self.granted if phase in (self._phases.get(name) or (phase,)))

    def note(self, asked: Iterable[Permission]) -> None:
        """Remember the phases for which a page asks."""
        for permission in asked:
            self._phases[permission.name] = permission.phase

    async def ask(self, error: PermissionsDenied, decide: Decide | None, origin: str) -> None:
        """Ask the host for the permissions that a setup needs.

        Raises:
            PermissionsDenied: if nobody decides, or a required one is not granted.
            StateError: if one is granted that was not asked for.
        """
        if decide is None:
            raise error
        self.note(error.permissions)  # now, so that they apply to the reloaded page
        answer = decide(error.permissions)
        granted = set(await answer if inspect.isawaitable(answer) else answer)
        asked = {permission.name for permission in error.permissions}
        if unasked := granted - asked:
            raise StateError(f"Granted, but not asked for: {', '.join(sorted(unasked))}.")
        missing = tuple(p for p in error.permissions if p.required and p.name not in granted)
        if missing:
            names = ", ".join(p.name for p in missing)
            raise PermissionsDenied(f"The page of {origin} cannot do without: {names}.", missing) from error
        allow_attribute(granted)
        self.granted |= granted
        self.declined |= asked - granted
