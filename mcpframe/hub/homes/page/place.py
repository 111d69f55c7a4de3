"""What a tab needs of its browser to be one of an app's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core.interfaces import KeyValues


class TabChannel(Protocol):
    """A broadcast channel: what is posted reaches all others of its name, in this tab and in others, but not itself."""

    def post(self, text: str) -> None:
        """Post a text. Nothing happens after `close`."""
        ...

    def close(self) -> None:
        """Close it: nothing more is heard. What was posted arrives all the same."""
        ...


class TabPlace(Protocol):
    """A tab's browser, as far as tabs of one origin share it."""

    @property
    def clock(self) -> Clock:
        """The time."""
        ...

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
        """The name of this tab's window, with which it was opened."""
        ...

    def channel(self, name: str, heard: Callable[[str], None]) -> TabChannel:
        """Open a broadcast channel.

        Args:
            heard: Called with each text that another one has posted.
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
            held: Called when it is held, and never within this call.
            lost: Called when another tab has stolen it, or the browser does not grant it.
            shared: Whether others that share it may hold it at the same time.
            steal: Whether to take it from the tab that holds it.
        """
        ...

    def remembered(self, key: str) -> str | None:
        """Return what this tab has remembered over a reload; None for nothing."""
        ...

    def remember(self, key: str, value: str) -> None:
        """Remember a text over a reload of this tab, if the browser can."""
        ...

    def noted(self, key: str) -> str | None:
        """Return what any tab has noted; None for nothing."""
        ...

    def note(self, key: str, value: str) -> None:
        """Note a text for all tabs, if the browser can."""
        ...

    def is_seen(self) -> bool:
        """Return whether the user looks at this tab."""
        ...

    def watch(self, seen: Callable[[], None], away: Callable[[], None], back: Callable[[], None]) -> Callable[[], None]:
        """Have functions be called when something happens to this tab.

        Args:
            seen: Called when `is_seen` may have changed.
            away: Called just before the page is frozen or left: afterwards nothing of it runs, perhaps for ever.
            back: Called when it runs again.

        Returns:
            A function that ends it.
        """
        ...

    def open(self, url: str, name: str) -> bool:
        """Open a tab, whose window gets a name. Returns whether the browser has allowed it."""
        ...
