"""The messages of a host to a view about its tool call, in the order that MCP Apps demands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mcpframe.frame.core.errors import StateError

Json = Mapping[str, Any]
Notify = Callable[[str, Json], None]

_INPUT_PARTIAL, _INPUT, _RESULT, _CANCELLED = (
    f"ui/notifications/tool-{what}" for what in ("input-partial", "input", "result", "cancelled")
)


class ShownCall:
    """One tool call: partial arguments, then the arguments at most once, then its result or its cancellation.

    Until the view is open, messages are queued; of partial arguments only the latest.
    """

    def __init__(self) -> None:
        """Start without arguments or a result."""
        self._notify: Notify | None = None
        self._waiting: dict[str, Json] = {}
        self._has_input = False
        self._over = False

    def open(self, notify: Notify) -> None:
        """Send the queued messages, and later ones immediately.

        Args:
            notify: sends a notification.
        """
        waiting, self._waiting = self._waiting, {}
        for method, params in waiting.items():
            notify(method, params)
        self._notify = notify

    def partial(self, arguments: Json) -> None:
        """Show partial arguments. Raises `StateError` once the arguments are complete."""
        self._check(not self._has_input, "the arguments are complete")
        self._say(_INPUT_PARTIAL, {"arguments": dict(arguments)})

    def input(self, arguments: Json) -> None:
        """Show the complete arguments. Raises `StateError` the second time."""
        self._check(not self._has_input, "the arguments are complete")
        self._has_input = True
        self._waiting.pop(_INPUT_PARTIAL, None)
        self._say(_INPUT, {"arguments": dict(arguments)})

    def result(self, result: Json) -> None:
        """Show the result. Raises `StateError` before the arguments, and after the end of the call."""
        self._check(self._has_input, "the arguments come first")
        self._over = True
        self._say(_RESULT, result)

    def cancelled(self, reason: str) -> None:
        """Show that there will be no result. Raises `StateError` after the end of the call."""
        self._check(True, "")
        self._over = True
        self._say(_CANCELLED, {"reason": reason} if reason else {})

    def _check(self, fits: bool, why: str) -> None:
        if self._over or not fits:
            raise StateError(f"A view shows one tool call, in order: {'it is over' if self._over else why}.")

    def _say(self, method: str, params: Json) -> None:
        if self._notify is None:
            self._waiting[method] = params
        else:
            self._notify(method, params)
