"""When a call reaches the borders of the page's Python: functions at these borders note the time while it is traced."""

import time
from functools import wraps
from statistics import fmean

from mcpframe.frame.browser import window
from mcpframe.frame.compat.sdk import SdkMessages
from mcpframe.frame.core import payload
from mcpframe.frame.session.read_ahead import ReadAhead

_BORDERS = (  # of a call, in order: what ends where the function begins, and where it returns
    (window, "_map", "page: event into Python", None),
    (window, "text_of", "page: gate, source and origin", "page: copy, as text"),
    (payload, "parse", None, "page: parse"),
    (ReadAhead, "take", "page: gate, shape and state", None),
    (SdkMessages, "read", "page: turn, until no message waits", "page: SDK, validation"),
    ("tool", "fn", "page: SDK, to the tool", "page: tool"),
    (SdkMessages, "text", "page: SDK, from the tool", "page: encode"),
    (window.PeerWindow, "post", "page: gate, outbound", "page: post"),
)


class Trace:
    """The times at which calls of a tool reach each border, one call after another.

    Args:
        tool: The tool of the SDK.
    """

    def __init__(self, tool) -> None:
        self._calls = []
        self._undo = []
        for place, name, begins, ends in _BORDERS:
            self._note(tool if place == "tool" else place, name, begins, ends)

    def _note(self, place, name, begins, ends) -> None:
        function = getattr(place, name)
        calls, now, is_first = self._calls, time.perf_counter, name == "_map"

        @wraps(function)
        def noting(*args, **options):
            if is_first:
                calls.append([(args[2], None)])
            if calls and begins:
                calls[-1].append((begins, now()))
            result = function(*args, **options)
            if calls and ends:
                calls[-1].append((ends, now()))
            return result

        setattr(place, name, noting)
        self._undo.append((place, name, function))

    def end(self) -> dict[str, float]:
        """Stop, and return what each part of a call took on average, in milliseconds, from its event on."""
        for place, name, function in self._undo:
            setattr(place, name, function)
        parts = {}
        for (event, _), *marks in self._calls:
            before = event.timeStamp
            if marks[-1][0] != "page: post":
                continue  # the call that ends the trace
            for part, at in marks:
                parts.setdefault(part, []).append(at * 1000 - before)
                before = at * 1000
        return {part: fmean(times) for part, times in parts.items()}
