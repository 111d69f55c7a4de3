"""One connection to one peer window, without I/O: inbound messages and time go in, sends and events come out.

A page does not know who is around it. So a connection starts with one or several candidates: each is a `Role`, which is
a table of one dialect, with the origins allowed to it. Every candidate has a `Machine` of its own that follows its
table; the connection itself knows nothing of any dialect. It keeps what is the same in all of them:

- The gate, written once and in this order: source window → origin → shape → state. What fails the first two is
  dropped before it is read; the origin is checked against the union of the candidates' lists first, then against the
  list of the candidate whose codec claims the message. What no codec claims is noise of other libraries, and silent.
  Whatever else is refused becomes a `Refused` event, and leaves the state as it was.
- Adoption: the first message that takes a candidate past its opening adopts it, for good. The others are gone, and
  what their peers post is noise. A candidate that ends before, by a version mismatch or its deadline, is `Withdrawn`;
  the end of the last one closes the connection, with the most telling error of all. A lone candidate is adopted from
  the beginning.
- Pinning: the same message fixes the peer's exact origin. From then on it is the target of every message, and no other
  origin is heard.
- Limits and deadlines, as data: `Connection.deadline` says when `tick` wants to be called.

Sources: the SEP "postMessage Transport", "Security Implementation"; `events.py` has the vocabulary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from mcpframe.frame.core import payload
from mcpframe.frame.core.errors import HandshakeTimeout, MessageError, SessionError, StateError, UnexpectedOrigin
from mcpframe.frame.core.events import (
    Closed,
    Departure,
    Inbound,
    Output,
    Refused,
    Send,
    Unreadable,
    Wire,
    Withdrawn,
)
from mcpframe.frame.core.machine import Candidate, Machine
from mcpframe.frame.core.origins import AllowedOrigins, parse_allowed_origins
from mcpframe.frame.core.roles import Local, Options, Role, State

__all__ = ["AllowedOrigins", "Candidate", "Connection", "Options", "State", "parse_allowed_origins"]


_OTHER_WINDOW = "It came from another window than the one that is talked to."
_OTHER_ORIGIN = "Pages of this origin are not heard."
_NOISE = "It is no message of this protocol."
_NOT_JSON = "It has no form in JSON."

_REPORTED_ORIGINS = 8
"""How many origins that are not allowed are reported at most; a page could be loaded from any number of them."""


class Connection:
    """The state of one connection, and the only way to change it.

    Every method that acts returns its outputs in order: `Send` for the window, events for the session.

    Attributes:
        options: its deadlines and limits.
        dropped: how many messages were dropped or ignored, by reason.
        watched: whether there is a `Wire` before the outputs of every message that is received, and for every one that
            is refused. Outbound messages are visible as `Send`.
    """

    def __init__(self, candidates: Sequence[Candidate], *, options: Options | None = None) -> None:
        """Make a connection, deaf until `start`.

        Args:
            candidates: the roles that it may come to play, in order of preference. No two are of one dialect.
            options: deadlines and limits, which hold for each of them.

        Raises:
            StateError: where a role needs an offer.
            ValueError: where there is no candidate.
        """
        if not candidates:
            raise ValueError("A connection needs a candidate.")
        self.options = options or Options()
        self.dropped: Counter[str] = Counter()
        self.watched = False
        self._machines = [Machine(candidate, self.options, self.dropped) for candidate in candidates]
        self._adopted: Machine | None = self._machines[0] if len(self._machines) == 1 else None
        self._errors: list[SessionError | None] = []
        self._refused_origins: set[str] = set()

    @property
    def role(self) -> Role:
        """The adopted role; before, that of the first candidate that is left."""
        return self._first.role

    @property
    def state(self) -> State:
        """Where the adopted role stands; before, where the first candidate stands that is left."""
        return self._first.state

    @property
    def adopted(self) -> Role | None:
        """The adopted role; None before."""
        return self._adopted.role if self._adopted else None

    @property
    def origin(self) -> str | None:
        """The pinned origin of the peer; None before."""
        return self._adopted.origin if self._adopted else None

    @property
    def session_id(self) -> str | None:
        """The id of the session; None before, and where the dialect has none."""
        return self._adopted.session_id if self._adopted else None

    # What the outside may ask for

    def start(self, now: float, *, called: bool = False) -> list[Output]:
        """Begin: an inner frame calls for its host, an outer one listens.

        Args:
            now: the time in seconds, of any monotonic clock.
            called: whether the openings were posted already, before this connection was made. They are not posted again
                here, but repeated with the next `tick`, unless a message that was waiting has answered one of them.

        Returns:
            The outputs.

        Raises:
            StateError: where it was started before.
        """
        outputs: list[Output] = []
        for machine in self._machines:
            opened = machine.act(Local.START, now=now)
            if called and opened:
                opened = [output for output in opened if not isinstance(output, Send)]
                machine.repeat_at(now)
            outputs += opened
        return outputs

    def receive(self, inbound: Inbound, now: float) -> list[Output]:
        """Take one message event through the gate.

        Args:
            inbound: the event.
            now: the time in seconds.

        Returns:
            The outputs; empty for whatever is dropped. Never raises for anything a page can post.
        """
        state = self._first.state
        if state is State.IDLE or state is State.CLOSED:
            return self._drop(state)
        origin = inbound.origin
        if not inbound.from_peer:
            return self._seen(self._drop("source"), None, origin, _OTHER_WINDOW)
        adopted = self._adopted
        if not (adopted.hears(origin) if adopted else any(machine.hears(origin) for machine in self._machines)):
            return self._seen(self._refuse_origin(origin), None, origin, _OTHER_ORIGIN)
        try:
            text = inbound.read()
        except Unreadable as unread:  # cyclic, a BigInt in it, endless: the sender may wait for it all the same
            return self._refuse(unread.error, unread.outline, None, origin, now)
        except ValueError:
            return self._seen(self._drop("noise"), None, origin, _NOT_JSON)
        return self._take(text, origin, now)

    def send(self, text: str | MessageError, message: Mapping[str, Any], now: float) -> list[Output]:
        """Send one MCP message.

        One that cannot be sent fails for whoever waits for it: a request is answered with an error here and now, a
        response becomes an error response to the peer, a notification is a `Refused` event.

        Args:
            text: the message as JSON text, as it will cross; or why it has none.
            message: the same message as a JSON-RPC object, of which only the envelope is looked at.
            now: the time in seconds.

        Returns:
            The outputs.

        Raises:
            StateError: where the connection is not open.
        """
        outputs = self.act(Local.SEND, (text, message), now=now)
        self._first.exchange.expect(now)
        if outputs and isinstance(outputs[0], Wire) and not self.watched:
            del outputs[0]
        return outputs

    def act(self, act: str, body: Any = None, *, now: float) -> list[Output]:
        """Do something that only this dialect has, in a state that allows it.

        Args:
            act: the trigger, as the dialect's own rules name it.
            body: what it is done with.
            now: the time in seconds.

        Returns:
            The outputs.

        Raises:
            StateError: where no candidate is adopted, or its state does not allow it.
        """
        if self._adopted is None:
            raise StateError(f"Cannot {act} now: nobody has answered yet.")
        return self._adopted.act(act, body, now=now)

    def peer_gone(self, departure: Departure, now: float) -> list[Output]:
        """Take note that the peer's document was replaced or its window removed."""
        local = Local.PEER_REPLACED if departure is Departure.REPLACED else Local.PEER_REMOVED
        return self._all(lambda machine: machine.happen(local, now=now))

    def close(self, now: float) -> list[Output]:
        """End the connection. What is pending fails; closing again does nothing."""
        self._errors.clear()  # it is we who end it: that some candidates were out before is no reason
        return self._all(lambda machine: machine.happen(Local.CLOSE, now=now))

    @property
    def deadline(self) -> float | None:
        """When to call `tick` next, in seconds of the same clock; None for never."""
        times = [time for machine in self._machines if (time := machine.deadline) is not None]
        return min(times, default=None)

    def tick(self, now: float) -> list[Output]:
        """Let time pass. Calling it early, late or often does no harm."""
        return self._each(lambda machine: machine.tick(now))

    # The gate

    def _take(self, text: str, origin: str, now: float) -> list[Output]:
        """Take what an allowed peer posted through the rest of the gate: shape, then state."""
        try:
            data = payload.parse(text, **self._first.exchange.limits)
        except MessageError as error:
            return self._refuse(error, text, text, origin, now)
        is_text = isinstance(data, str)
        if is_text and any(machine.role.codec.reads_text for machine in self._machines):
            try:
                text, data = data, payload.parse(data, **self._first.exchange.limits)
            except MessageError:  # a text of another library
                return self._seen(self._drop("noise"), text, origin, _NOISE)
        machine, kind = self._claimant(data, origin, is_text)
        if kind is None:
            return self._seen(self._drop("noise"), text, origin, _NOISE)
        if not machine.hears(origin):
            return self._seen(self._refuse_origin(origin, machine), text, origin, _OTHER_ORIGIN)
        outputs = machine.hear(kind, data, text, origin, now)
        if self._adopted is None:
            if machine.past_opening:
                self._adopted = machine
                self._machines = [machine]
            outputs = self._settle(machine, outputs)
        return self._seen(outputs, text, origin) if self.watched else outputs

    def _claimant(self, data: Any, origin: str, is_text: bool) -> tuple[Machine, str | None]:
        """Return whose message it is, and its kind there; None for noise.

        Where several codecs claim it, the candidate is preferred that hears this origin, and whose state takes it.

        Args:
            data: the message.
            origin: its origin.
            is_text: whether it was posted as its JSON text.
        """

        def kind_in(machine: Machine) -> str | None:
            codec = machine.role.codec
            return codec.kind(data) if codec.reads_text or not is_text else None

        if self._adopted:
            return self._adopted, kind_in(self._adopted)
        kinds = [(machine, kind_in(machine)) for machine in self._machines]
        claims = [claim for claim in kinds if claim[1] is not None]
        heard = [claim for claim in claims if claim[0].hears(origin)]
        taken = [claim for claim in heard if claim[0].takes(claim[1])]
        return (taken or heard or claims or kinds)[0]

    def _refuse(self, error: MessageError, members: str, text: str | None, origin: str, now: float) -> list[Output]:
        """Refuse a message that cannot be parsed, where a candidate claims it: only some of its members are read."""
        claimed: Machine | None = None
        for machine in self._machines:
            data = machine.role.codec.sketch(members)
            kind = machine.role.codec.kind(data)
            if kind is None:
                continue
            claimed = claimed or machine
            if machine.hears(origin):
                outputs = machine.refuse(error, kind, machine.role.codec.ids(data), origin, now)
                return self._seen(self._settle(machine, outputs), text, origin)
        if claimed:
            return self._seen(self._refuse_origin(origin, claimed), text, origin, _OTHER_ORIGIN)
        return self._seen(self._drop("noise"), text, origin, _NOISE)

    # The candidates

    @property
    def _first(self) -> Machine:
        return self._adopted or self._machines[0]

    def _each(self, happen: Callable[[Machine], Iterable[Output]]) -> list[Output]:
        """Let something happen to every candidate that is left."""
        outputs: list[Output] = []
        for machine in tuple(self._machines):
            outputs += self._settle(machine, happen(machine))
        return outputs

    def _all(self, happen: Callable[[Machine], Iterable[Output]]) -> list[Output]:
        """As `_each`, where the same happens to all of them: that it is over is said once."""
        return [output for output in self._each(happen) if not isinstance(output, Withdrawn)]

    def _settle(self, machine: Machine, outputs: Iterable[Output]) -> list[Output]:
        """Return the outputs of a machine; where that is over and others are left, it is only withdrawn."""
        if self._adopted is not None:
            return list(outputs)
        settled: list[Output] = []
        for output in outputs:
            if not isinstance(output, Closed):
                settled.append(output)
                continue
            self._errors.append(output.error)
            if len(self._machines) > 1:
                self._machines.remove(machine)
                settled.append(Withdrawn(machine.role.dialect, output.error))
            else:
                settled.append(Closed(_most_telling(self._errors)))
        return settled

    # Counting and reporting

    def _seen(self, outputs: list[Output], text: str | None, origin: str, refused: str | None = None) -> list[Output]:
        """Put the `Wire` of what was received before its outputs, where anybody watches."""
        if not self.watched:
            return outputs
        if refused is None:
            errors = (output.error for output in outputs if isinstance(output, Refused))
            refused = next(map(str, errors), None)
        return [Wire("received", text, origin, refused), *outputs]

    def _drop(self, reason: str) -> list[Output]:
        self.dropped[reason] += 1
        return []

    def _refuse_origin(self, origin: str, claimed: Machine | None = None) -> list[Output]:
        """Drop it; and call the error hook once per origin, as a missing entry in the allow-list is a usual mistake."""
        self.dropped["origin"] += 1
        if origin in self._refused_origins or len(self._refused_origins) >= _REPORTED_ORIGINS:
            return []
        self._refused_origins.add(origin)
        machines = self._machines if claimed is None else [claimed]
        entries = [
            entry for machine in machines for entry in (machine.allowed if self.origin is None else [self.origin])
        ]
        allowed = ", ".join(dict.fromkeys(entries))
        return [Refused(UnexpectedOrigin(f"A page of {origin} is not heard; allowed: {allowed}."), origin)]


def _most_telling(errors: Sequence[SessionError | None]) -> SessionError | None:
    """Return the error that ends a connection without a candidate: that nobody answered says less than any other."""
    return next((error for error in errors if error and not isinstance(error, HandshakeTimeout)), errors[-1])
