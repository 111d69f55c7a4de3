"""A tab's browser, as a page hub needs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core.interfaces import KeyValues


class TabChannel(Protocol):
    """A broadcast channel: a posted text reaches all others of its name, in this tab and in others, but not itself."""

    def post(self, text: str) -> None:
        """Post a text. Does nothing after `close`."""
        ...

    def close(self) -> None:
        """Close the channel: no more texts arrive here. Texts posted before still reach the others."""
        ...


class TabBrowser(Protocol):
    """A tab's browser, and the parts of it that tabs of one origin share."""

    @property
    def clock(self) -> Clock: ...

    @property
    def store(self) -> KeyValues:
        """A store that all tabs share."""
        ...

    @property
    def url(self) -> str:
        """The address of this page."""
        ...

    @property
    def window_name(self) -> str:
        """The name of this tab's window, given when it was opened."""
        ...

    def channel(self, name: str, heard: Callable[[str], None]) -> TabChannel:
        """Open a broadcast channel.

        Args:
            heard: Called with each text posted on another channel object of this name.
        """
        ...

    def lock(
        self,
        name: str,
        held: Callable[[], None],
        lost: Callable[[], None],
        *,
        shared: bool = False,
        steal: bool = False,
    ) -> Callable[[], None]:
        """Wait for a lock, and hold it until the returned function is called; the browser releases it with the page.

        Args:
            held: Called when the lock is held, never during this call.
            lost: Called when another tab has stolen the lock, or the browser does not grant it.
            shared: Whether it may be held by several that all share it.
            steal: Whether to take it from its holder.
        """
        ...

    def remembered(self, key: str) -> str | None:
        """Return a text that this tab has remembered over a reload; None if there is none."""
        ...

    def remember(self, key: str, value: str) -> None:
        """Remember a text over a reload of this tab, if the browser can."""
        ...

    def noted(self, key: str) -> str | None:
        """Return a text that any tab has noted; None if there is none."""
        ...

    def note(self, key: str, value: str) -> None:
        """Note a text for all tabs, if the browser can."""
        ...

    def is_seen(self) -> bool:
        """Return whether the user looks at this tab."""
        ...

    def watch(self, seen: Callable[[], None], away: Callable[[], None], back: Callable[[], None]) -> Callable[[], None]:
        """Watch this tab's visibility and lifecycle.

        Args:
            seen: Called when `is_seen` may have changed.
            away: Called just before the page is frozen or left: it stops running then, perhaps for ever.
            back: Called when it runs again.

        Returns:
            A function that ends the watch.
        """
        ...

    def open(self, url: str, name: str) -> bool:
        """Open a tab whose window has a name. Returns whether the browser has allowed it."""
        ...
