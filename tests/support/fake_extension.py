"""An extension: its ports, and a service worker with the browser's tabs and a store."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable
from typing import Any

ID = "abcdefghijklmnopabcdefghijklmnop"


class FarEnd:
    """The other end of a port.

    Attributes:
        heard: What the hub has posted.
        is_closed: Whether either end has closed it.
    """

    def __init__(self, number: int, deliver: Callable[[str, int, str], None]) -> None:
        self.number = number
        self.heard: list[Any] = []
        self.is_closed = False
        self._deliver = deliver

    def post(self, message: Any) -> None:
        self._deliver("message", self.number, json.dumps(message))

    def close(self) -> None:
        self.is_closed = True
        self._deliver("closed", self.number, "")


class FakeExtension:
    """`ExtensionApi`.

    Attributes:
        tabs: The addresses of the tabs.
        unloaded: Those that the browser has put aside.
        active: The tab that the user looks at.
        store: What is stored.
        session: What is stored until the browser ends.
        stops: Whether the worker answers nothing at all.
        on_open: Called with each tab that is opened.
        windows: How often the window that asks was to be opened.
        programs: How often the program on this machine was to be started.
        badge: What is shown at the extension's button.
    """

    def __init__(self) -> None:
        self.tabs: dict[int, str] = {}
        self.unloaded: set[int] = set()
        self.active: int | None = None
        self.store: dict[str, str] = {}
        self.session: dict[str, str] = {}
        self._areas = {"local": self.store, "session": self.session}
        self.stops = False
        self.on_open: Callable[[int], None] = lambda tab: None
        self.asked: list[str] = []
        self.windows = self.programs = 0
        self.badge = ""
        self._ends: dict[int, FarEnd] = {}
        self._numbers = itertools.count(1)
        self._next_tab = itertools.count(100)
        self._deliver: Callable[[str, int, str], None] = lambda *_: None

    def connect(self, name: str, *, external: bool = False, **sender: Any) -> FarEnd:
        """Open a port."""
        end = self._ends[next(self._numbers)] = FarEnd(len(self._ends) + 1, lambda *given: self._deliver(*given))
        self._deliver("opened", end.number, json.dumps({"name": name, "external": external, "sender": sender}))
        return end

    def connect_page(self, tab: int, url: str, name: str = "mcpframe-relay", **more: Any) -> FarEnd:
        """Open the port of a content script in the page of a tab."""
        self.tabs[tab] = url
        origin = "/".join(url.split("/")[:3])
        return self.connect(name, **{"id": ID, "tab": tab, "frame": 0, "url": url, "origin": origin, **more})

    def event(self, event: str, **more: Any) -> None:
        """Report an event of the browser."""
        self._deliver("event", 0, json.dumps({"to": "hub", "event": event, **more}))

    def listen(self, deliver: Callable[[str, int, str], None]) -> None:
        self._deliver = deliver

    def post(self, number: int, text: str) -> None:
        if self._ends[number].is_closed:
            raise OSError("Attempting to use a disconnected port object")
        self._ends[number].heard.append(json.loads(text))

    def close(self, number: int) -> None:
        self._ends[number].is_closed = True

    async def ask(self, text: str) -> str:
        message = json.loads(text)
        self.asked.append(message["call"])
        if self.stops:
            await asyncio.Event().wait()
        try:
            return json.dumps({"value": getattr(self, f"_{message.pop('call')}")(**message)})
        except KeyError as error:
            return json.dumps({"error": f"No tab with id: {error}"})

    async def file(self, name: str) -> bytes:
        return b"{}"

    def _shown(self, tab: int) -> dict[str, Any]:
        status = "unloaded" if tab in self.unloaded else "complete"
        return {"id": tab, "url": self.tabs[tab], "status": status, "active": tab == self.active}

    def _tabs(self) -> list[Any]:
        return [self._shown(tab) for tab in self.tabs]

    def _active(self) -> Any:
        return None if self.active is None else self._shown(self.active)

    def _tab(self, tab: int) -> Any:
        return self._shown(tab)

    def _open(self, url: str) -> Any:
        tab = next(self._next_tab)
        self.tabs[tab] = url
        self.on_open(tab)
        return self._shown(tab)

    def _close(self, tab: int) -> None:
        del self.tabs[tab]

    def _read(self, key: str, area: str) -> str | None:
        return self._areas[area].get(key)

    def _write(self, key: str, value: str, area: str) -> None:
        self._areas[area][key] = value

    def _forget(self, key: str) -> None:
        self.store.pop(key, None)

    def _window(self) -> None:
        self.windows += 1

    def _native(self) -> None:
        self.programs += 1

    def _badge(self, text: str) -> None:
        self.badge = text

    def _keys(self) -> list[str]:
        return list(self.store)
