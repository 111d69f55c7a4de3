"""A page of the server beside a result: its frame, its state, and its activity."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Generic, TypeVar

from inspector.session.telling import sentence
from inspector.views.activity import Activity
from inspector.views.controls import Controls
from mcpframe import Element, Page
from mcpframe.wire import Wire

T = TypeVar("T")


@dataclass(frozen=True)
class Hosting:
    """The inspector's services for views.

    Attributes:
        sandbox: returns the address of the sandbox proxy on another origin; empty for the inspector's own, in a frame
            without an origin.
        is_own: returns whether the server is one of the user's own projects, which were named on the command line. Its
            views have the sandbox's origin, and frame its page instead of the published one.
        on_wire: called with every message between the inspector and a page, and the kind of the page: one of
            `entry.PEERS`.
    """

    sandbox: Callable[[], str]
    is_own: Callable[[], bool]
    on_wire: Callable[[Wire, str], None]


class LiveView(ABC, Generic[T]):
    """The region of one page, which can be shown and removed repeatedly."""

    _controls: Controls
    _activity: Activity
    _stage: Element
    _frame: Element

    def __init__(self, page: Page, place: Element, name: str) -> None:
        """Build the region's head; nothing is framed yet. The subclass adds controls, stage and activity.

        Args:
            name: the heading.
        """
        self._page = page
        self._running: T | None = None
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._region = place.add("section", role="region", aria_label=name, class_="insp-view")
        head = self._region.add("div", class_="insp-row")
        head.add("h4", name)
        self._status = head.add("span", role="status", class_="quiet")
        self._again = head.add("button", "Reload", type="button", class_="small", hidden=True)
        self._remove = head.add("button", "Tear down", type="button", class_="small", hidden=True)
        self._again.on("click", self.reload)
        self._remove.on("click", self.close)

    def _add_stage(self) -> None:
        self._problem = self._region.add("p", role="alert", class_="insp-problem", hidden=True)
        self._stage = self._region.add("div", class_="insp-stage", data_mode="inline")
        back = self._stage.add("button", "Back to inline", type="button", class_="insp-stage-back")
        self._frame = self._stage.add("div", class_="insp-view-frame")
        back.on("click", lambda: self._become("inline"))

    @abstractmethod
    async def reload(self) -> None:
        """Show the page again."""

    async def close(self) -> None:
        """Remove the page."""
        task, self._task = self._task, None
        self._stop.set()
        if task is not None:
            await asyncio.wait([task])

    # Implemented by subclasses

    @abstractmethod
    def _open(self) -> AbstractAsyncContextManager[T]:
        """Return a context manager that shows the page."""

    @abstractmethod
    async def _feed(self, running: T) -> None:
        """Send the page its data."""

    @abstractmethod
    async def _ended(self, running: T) -> str:
        """Wait until the page has ended by itself, and return the reason."""

    def _over(self) -> None:
        """Handle the removal of the page."""

    # Internals

    async def _clear(self) -> None:
        """Remove the page, and its remains in the region."""
        await self.close()
        self._stop = asyncio.Event()
        self._activity.clear()
        self._problem.hidden = True

    def _begin(self) -> None:
        self._task = asyncio.ensure_future(self._hold(self._stop))

    async def _hold(self, stop: asyncio.Event) -> None:
        """Show the page until it ends or is to be removed: one task opens and closes it."""
        try:
            self._status.text = "Starting …"
            self._again.hidden = self._remove.hidden = False
            async with self._open() as running:
                self._running = running
                feeding = asyncio.ensure_future(self._feed(running))
                ended = asyncio.ensure_future(self._ended(running))
                stopped = asyncio.ensure_future(stop.wait())
                try:
                    await asyncio.wait((ended, stopped), return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for task in (feeding, ended, stopped):
                        task.cancel()
                    await asyncio.gather(feeding, stopped, return_exceptions=True)
                if ended.done() and not ended.cancelled() and not stop.is_set():
                    self._tell_problem(ended.result())
            self._status.text = "Removed."
        except Exception as error:  # noqa: BLE001  any failure of a page is shown beside the result
            self._tell_problem(sentence(error))
        finally:
            self._running = None
            self._remove.hidden = True
            self._become("inline")
            self._over()

    def _on_change(self) -> None:
        surroundings = self._controls.surroundings
        self._become(surroundings.mode)
        width = f"{surroundings.width}px" if surroundings.width else ""
        self._frame.js.style.width = f"min({width}, 100%)" if width else ""

    def _become(self, mode: str) -> None:
        self._stage.set("data-mode", mode)
        self._controls.choose_mode(mode)

    def _tell_problem(self, problem: str) -> None:
        self._status.text = ""
        self._problem.text = problem
        self._problem.hidden = False
