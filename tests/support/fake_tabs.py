"""Tabs of one origin in a browser of a test's own: channels, locks and a clock that are moved by hand."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from tests.support.fake_hub import FakeClock, FakeStore

ORIGIN = "https://app.example"


class FakeTabChannel:
    def __init__(self, tab: FakeTab, name: str, heard: Callable[[str], None]) -> None:
        self.tab = tab
        self.name = name
        self.heard = heard
        self.open = True
        tab.browser.channels.append(self)

    def post(self, text: str) -> None:
        if not self.open or not self.tab.alive:
            return
        for other in self.tab.browser.channels:
            if other is not self and other.name == self.name:
                self.tab.browser.say(other, text)

    def close(self) -> None:
        if self.open:
            self.open = False
            self.tab.browser.channels.remove(self)


class FakeTabLock:
    def __init__(
        self, tab: FakeTab, name: str, held: Callable[[], None], lost: Callable[[], None], *, shared: bool
    ) -> None:
        self.tab = tab
        self.name = name
        self.held = held
        self.lost = lost
        self.shared = shared
        self.over = False


class FakeTabClock:
    """The clock as one tab has it: its timers are late while it hangs."""

    def __init__(self, tab: FakeTab) -> None:
        self._tab = tab
        self.now = tab.browser.clock.now
        self.wall = tab.browser.clock.wall

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Callable[[], None]:
        stopped = False

        def due() -> None:
            self._tab.browser.happens(self._tab, lambda: None if stopped else callback() and None)

        stop_timer = self._tab.browser.clock.call_later(seconds, due)

        def stop() -> None:
            nonlocal stopped
            stopped = True
            stop_timer()

        return stop


class FakeTab:
    """A tab's browser (`hub.homes.page.tab_browser.TabBrowser`)."""

    def __init__(self, browser: FakeBrowser, *, url: str = f"{ORIGIN}/", session: dict[str, str] | None = None) -> None:
        self.browser = browser
        self.clock = FakeTabClock(self)
        self.store = browser.store
        self.url = url
        self.window_name = ""
        self.session = {} if session is None else session
        self.alive = True
        self.hung = False
        self.seen = False
        self.opened: list[tuple[str, str]] = []
        self.may_open = True
        self.watchers: list[tuple[Callable[[], None], Callable[[], None], Callable[[], None]]] = []
        self.late: deque[Callable[[], None]] = deque()
        """What happens to this tab once it responds again."""

    def channel(self, name: str, heard: Callable[[str], None]) -> FakeTabChannel:
        return FakeTabChannel(self, name, heard)

    def lock(
        self,
        name: str,
        held: Callable[[], None],
        lost: Callable[[], None],
        *,
        shared: bool = False,
        steal: bool = False,
    ) -> Callable[[], None]:
        lock = FakeTabLock(self, name, held, lost, shared=shared)
        self.browser.request(lock, steal=steal)
        return lambda: self.browser.release(lock)

    def remembered(self, key: str) -> str | None:
        return self.session.get(key)

    def remember(self, key: str, value: str) -> None:
        self.session[key] = value

    def noted(self, key: str) -> str | None:
        return self.browser.notes.get(key)

    def note(self, key: str, value: str) -> None:
        self.browser.notes[key] = value

    def is_seen(self) -> bool:
        return self.seen

    def watch(self, seen: Callable[[], None], away: Callable[[], None], back: Callable[[], None]) -> Callable[[], None]:
        watcher = (seen, away, back)
        self.watchers.append(watcher)
        return lambda: self.watchers.remove(watcher)

    def open(self, url: str, name: str) -> bool:
        self.opened.append((url, name))
        return self.may_open

    def look(self, *, seen: bool) -> None:
        """Show this tab to the user, or hide it."""
        self.seen = seen
        for notice, _, _ in self.watchers:
            notice()

    def freeze(self) -> None:
        """The browser freezes the tab, and says so before."""
        for _, away, _ in self.watchers:
            away()
        self.hung = True

    def thaw(self) -> None:
        """The tab runs again."""
        self.respond()
        for _, _, back in self.watchers:
            back()

    def respond(self) -> None:
        """What hung goes on: what has happened meanwhile is heard now."""
        self.hung = False
        self.browser.queue.extend(self.late)
        self.late.clear()
        self.browser.wake()

    def end(self) -> None:
        """The tab is gone, without a word."""
        self.alive = False
        browser = self.browser
        for channel in [each for each in browser.channels if each.tab is self]:
            channel.close()
        for queue in list(browser.locks.values()):
            for lock in [each for each in queue if each.tab is self]:
                browser.release(lock)


class FakeBrowser:
    """The browser of all tabs of one origin."""

    def __init__(self, clock: FakeClock | None = None) -> None:
        self.clock = clock or FakeClock()
        self.store = FakeStore()
        self.notes: dict[str, str] = {}
        self.channels: list[FakeTabChannel] = []
        self.locks: dict[str, list[FakeTabLock]] = {}
        """Those that hold a lock, and then those that wait, in their order."""
        self.holding: set[FakeTabLock] = set()
        self.queue: deque[Callable[[], None]] = deque()
        self.posted: list[tuple[str, str]] = []

    def holders(self, name: str) -> list[FakeTabLock]:
        return [each for each in self.locks.get(name, ()) if each in self.holding]

    def say(self, channel: FakeTabChannel, text: str) -> None:
        self.posted.append((channel.name, text))
        self.happens(channel.tab, lambda: channel.heard(text) if channel.open else None)

    def request(self, lock: FakeTabLock, *, steal: bool) -> None:
        queue = self.locks.setdefault(lock.name, [])
        if steal:
            for robbed in self.holders(lock.name):
                queue.remove(robbed)
                self.holding.discard(robbed)
                self._tell(robbed, robbed.lost)
            queue.insert(0, lock)
        else:
            queue.append(lock)
        self._grant(lock.name)

    def release(self, lock: FakeTabLock) -> None:
        lock.over = True
        queue = self.locks.get(lock.name, [])
        if lock in queue:
            queue.remove(lock)
            self.holding.discard(lock)
            self._grant(lock.name)

    def _grant(self, name: str) -> None:
        queue = self.locks[name]
        for lock in queue:
            first = lock is queue[0]
            if not first and not (lock.shared and all(each.shared for each in queue[: queue.index(lock)])):
                break
            if lock not in self.holding:
                self.holding.add(lock)
                self._tell(lock, lock.held)
        if not queue:
            del self.locks[name]

    def _tell(self, lock: FakeTabLock, act: Callable[[], None]) -> None:
        self.happens(lock.tab, lambda: None if lock.over else act())

    def happens(self, tab: FakeTab, act: Callable[[], None]) -> None:
        def happen() -> None:
            if tab.hung:
                tab.late.append(happen)
            elif tab.alive:
                act()

        self.queue.append(happen)
        self.wake()

    def wake(self) -> None:
        """Have what is queued happen in the event loop, if there is one."""
        try:
            asyncio.get_running_loop().call_soon(self.settle)
        except RuntimeError:
            return

    def pass_time(self, seconds: float) -> None:
        """Advance the time, outside of an event loop."""
        self.settle()
        end = self.clock.now() + seconds
        while self.clock.next_timer(end):
            self.settle()

    def settle(self) -> None:
        """Have everything happen that is queued, and what that causes."""
        for _ in range(100_000):
            if not self.queue:
                return
            self.queue.popleft()()
        raise AssertionError("The tabs never come to rest.")
