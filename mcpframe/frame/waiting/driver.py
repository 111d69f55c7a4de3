"""A connection driven over a window: events go in, outputs are carried out in order, and time passes.

Without I/O: the owner of a window and a clock calls the driver, and is called back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mcpframe.frame.core.connection import Connection
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.core.events import Attend, Departure, Event, Inbound, Output, Port, Send, Wire
from mcpframe.frame.waiting.clock import Alarm, Timers


class Driver:
    """Feeds a connection, posts its messages, and calls its `tick` when the deadline comes."""

    def __init__(
        self,
        connection: Connection,
        clock: Timers,
        post: Callable[[Send], None],
        take: Callable[[Event | Wire], None],
    ) -> None:
        """Drive a connection, from `start` on.

        Args:
            connection: a connection in its first state.
            clock: the clock of its deadlines.
            post: posts a message to the window or the port of the peer.
            take: called with every other output.
        """
        self.connection = connection
        self._clock = clock
        self._post = post
        self._take = take
        self._alarm = Alarm(clock, self._tick)

    def start(self, *, called: bool = False, refused: bool = False) -> None:
        """Begin the handshake; see `Connection.start`."""
        self._carry_out(self.connection.start(self._clock.now(), called=called, refused=refused))

    def receive(self, inbound: Inbound) -> None:
        """Pass a message event to the connection."""
        self._carry_out(self.connection.receive(inbound, self._clock.now()))

    def gone(self, departure: Departure) -> None:
        """Pass the loss of the peer's document or window to the connection."""
        self._carry_out(self.connection.peer_gone(departure, self._clock.now()))

    def handed_over(self, port: Port, target_origin: str) -> None:
        """Pass this side's end of a channel to the connection; see `Connection.handed_over`."""
        self._carry_out(self.connection.handed_over(port, target_origin, self._clock.now()))

    def send(self, text: str | MessageError, message: Mapping[str, Any]) -> None:
        """Send a message; see `Connection.send`. Raises `StateError` if the session is not open."""
        self._carry_out(self.connection.send(text, message, self._clock.now()))

    def act(self, act: str, body: Any = None) -> None:
        """Perform an act of this dialect alone. Raises `StateError` if it is not possible now."""
        self._carry_out(self.connection.act(act, body, now=self._clock.now()))

    def stop_calls(self, reason: str) -> None:
        """Cancel the unanswered calls of tools; see `Connection.stop_calls`."""
        self._carry_out(self.connection.stop_calls(reason, self._clock.now()))

    def close(self) -> None:
        """End the connection. Closing again does nothing."""
        self._carry_out(self.connection.close(self._clock.now()))

    def _tick(self) -> None:
        self._carry_out(self.connection.tick(self._clock.now()))

    def _carry_out(self, outputs: Iterable[Output]) -> None:
        for output in outputs:
            if isinstance(output, Send):
                self._post(output)
            elif isinstance(output, Attend):
                self._attend(output)
            else:
                self._take(output)
        self._alarm.set(self.connection.deadline)

    def _attend(self, output: Attend) -> None:
        port, origin = output.port, output.origin
        if origin is None:
            port.leave(close=output.close)
        else:
            port.listen(lambda read: self.receive(Inbound(origin, True, read, port)))
