"""Lists of a page that are read together: at once, and again after changes. Without I/O."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from mcpframe.frame.core import payload
from mcpframe.frame.core.limits import LISTED_TOOLS
from mcpframe.frame.core.paging import Paging
from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core import limits
from mcpframe.hub.core.messages import LISTS, Json

log = logging.getLogger(__name__)

Ask = Callable[[str, Json, Callable[[Json], None]], None]
"""Sends a request to the page, by its method and parameters. The function takes the answer; an error if none comes."""
Lists = dict[str, list[Any]]
"""Lists of a page, by their members of results."""


class PageLists:
    """Some of a page's lists. Those that cannot be read stay as they were, and are asked for again.

    Args:
        methods: The requests for them.
        read: Called with the lists that could be read.
        page: The page's name in the log.

    Attributes:
        notifies: Whether the page says when they change; else they are polled.
        measures: Whether lists on a single page are measured, too: alone, such a list is within the limit of a message.
    """

    def __init__(
        self, methods: Sequence[str], ask: Ask, read: Callable[[Lists], None], clock: Clock, page: str
    ) -> None:
        self.notifies = self.measures = False
        self._methods = methods
        self._ask = ask
        self._read = read
        self._clock = clock
        self._page = page
        self._sizes: dict[str, int] = {}
        self._reads = self._again = self._unread = self._is_stopped = False
        self._stop_timer: Callable[[], None] = lambda: None

    @property
    def size(self) -> int:
        """The bytes of the lists that were read last."""
        return sum(self._sizes.values())

    def changed(self) -> None:
        """Read the lists a little later, once for all changes until then."""
        if not self._again:
            self._again = True
            self._set_timer(limits.LIST_DEBOUNCE_SECONDS)

    def read(self) -> None:
        """Read the lists; if they are being read, once more afterwards."""
        if self._reads:
            self._again = True
            return
        self._stop_timer()
        self._reads, self._again, self._unread = True, False, False
        self._next(list(self._methods), {})

    def stop(self) -> None:
        """Read nothing any more."""
        self._is_stopped = True
        self._stop_timer()

    def _set_timer(self, seconds: float) -> None:
        self._stop_timer()
        if not self._is_stopped:
            self._stop_timer = self._clock.call_later(seconds, self.read)

    def _next(self, methods: list[str], listed: Lists) -> None:
        if methods:
            self._ask_page(methods, Paging(limits.RELAYED_PAGES), [], listed, 0)
            return
        self._reads = False
        self._read(listed)
        if self._again:
            self._set_timer(limits.LIST_DEBOUNCE_SECONDS)
        elif not self.notifies or self._unread:
            self._set_timer(limits.LIST_POLL_SECONDS)

    def _ask_page(self, methods: list[str], pages: Paging, items: list[Any], listed: Lists, size: int) -> None:
        method, *others = methods
        member = LISTS[method]

        def answered(message: Json) -> None:
            result = message.get("result")
            if not isinstance(result, dict) or not isinstance(result.get(member), list):
                error = result if "error" not in message else message["error"].get("message")
                log.warning("The list of %s of %s cannot be read: %.200s", member, self._page, error)
                self._unread = True
                self._next(others, listed)
                return
            following = result.get("nextCursor")
            is_whole = not self.measures and pages.cursor is None and following is None
            with_page = size if is_whole else size + len(payload.encode(result[member]))
            self._sizes[member] = size
            if with_page < limits.HUB_MESSAGE_BYTES:
                self._sizes[member] = with_page
                items.extend(result[member][: LISTED_TOOLS - len(items)])
                pages.follow(following)
                if pages.more and len(items) < LISTED_TOOLS:
                    self._ask_page(methods, pages, items, listed, with_page)
                    return
            self._next(others, {**listed, member: items})

        self._ask(method, pages.params, answered)
