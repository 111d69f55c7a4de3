"""The election of the tab that leads: it holds a lock, and the others queue for it.

    idle ── start ──> queued ── held ──> leading ── lost ──> queued
                        └─ usurp ─> queued, to take the lock from a tab that does not respond
    any ── stop ──> idle

A leading tab's hub has an id, and a second lock named by it: when that is released, this hub is gone, regardless of
which tab leads next. A page that ends in any way, also by a crash, releases its locks.
"""

from __future__ import annotations

from collections.abc import Callable

from mcpframe.hub.homes.page.tab_browser import TabBrowser
from mcpframe.hub.homes.page.wire import ChannelNames, new_id


class Election:
    """One tab's part in the election.

    Args:
        lead: Called with the hub's id when this tab leads.
        resign: Called when it no longer does. Not called by `stop`.
    """

    def __init__(
        self, place: TabBrowser, names: ChannelNames, lead: Callable[[str], None], resign: Callable[[], None]
    ) -> None:
        self._place = place
        self._names = names
        self._lead = lead
        self._resign = resign
        self._turn = 0
        """Counts the requests for the lock: events of an earlier request are ignored."""
        self._releases: list[Callable[[], None]] = []
        self.hub: str | None = None
        """The id of this tab's hub; None while it does not lead."""

    @property
    def queued(self) -> bool:
        """Whether this tab waits for its turn."""
        return bool(self._releases) and self.hub is None

    def start(self) -> None:
        """Queue. Starting again does nothing."""
        if not self._releases:
            self._request(steal=False)

    def usurp(self) -> None:
        """Steal the lock from a leading tab that does not respond. Does nothing unless this tab is queued."""
        if self.queued:
            self._release()
            self._request(steal=True)

    def stop(self) -> None:
        """Stop leading or queueing."""
        self.hub = None
        self._release()

    def _request(self, *, steal: bool) -> None:
        self._turn += 1
        turn = self._turn

        def held() -> None:
            if turn == self._turn:
                self._held(turn)

        self._ask(self._names.leader, held, turn, steal=steal)

    def _held(self, turn: int) -> None:
        hub = new_id()

        def led() -> None:
            if turn == self._turn:
                self.hub = hub
                self._lead(hub)

        self._ask(self._names.hub(hub), led, turn)

    def _ask(self, name: str, held: Callable[[], None], turn: int, *, steal: bool = False) -> None:
        def lost() -> None:
            if turn == self._turn:
                self._lost()

        self._releases.append(self._place.lock(name, held, lost, steal=steal))

    def _lost(self) -> None:
        led, self.hub = self.hub is not None, None
        self._release()
        if led:
            self._resign()
        self.start()

    def _release(self) -> None:
        self._turn += 1
        releases, self._releases = self._releases, []
        for release in reversed(releases):
            release()
