"""Show and log the state of a page's connection, through the loader's callbacks."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

from mcpframe.frame.core.allowed_origins import ANY, OPAQUE
from mcpframe.frame.core.errors import HandshakeTimeout
from mcpframe.frame.core.events import Closed, Event, Opened, Refused, SessionBegun, Withdrawn
from mcpframe.frame.dialects.available import last_words

if TYPE_CHECKING:
    from mcpframe.frame.boot.interfaces import Loader

log = logging.getLogger("mcpframe")

_REPORTED_REFUSALS = 20
"""The most rejected messages of one session that are logged; further ones are only counted."""


def last_words_to_post(event: SessionBegun) -> str:
    """Return the loader's message after Python's end: JSON, a message and its target origin, or null."""
    words = last_words(event)
    return json.dumps(words and [words, ANY if event.origin == OPAQUE else event.origin])


class RefusalLog:
    """Logs only the rejected messages of a connection."""

    def __init__(self) -> None:
        self._refused = 0

    def __call__(self, event: Event) -> None:
        if isinstance(event, Refused):
            self._refused += 1
            if self._refused <= _REPORTED_REFUSALS:
                log.warning("Refused a message from %s: %s", event.origin or "this page", event.error)


class Reporter(RefusalLog):
    """Reports the events of a connection to the page and the log."""

    def __init__(self, loader: Loader) -> None:
        super().__init__()
        self._loader = loader

    def __call__(self, event: Event) -> None:
        super().__call__(event)
        if isinstance(event, SessionBegun):
            state = "connected" if isinstance(event, Opened) else "setting up"
            self._loader.ready(json.dumps({"state": state, "origin": event.origin}))
            self._loader.at_end(last_words_to_post(event))
        elif isinstance(event, Withdrawn):
            if event.error and not isinstance(event.error, HandshakeTimeout):  # a timeout without a host is normal
                self._loader.problem(str(event.error), "")
        elif isinstance(event, Closed) and event.error:
            self._loader.at_end("null")  # the host is gone, or has been notified
