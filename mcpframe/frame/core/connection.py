"""One connection to one peer window, without I/O: inbound messages and time go in, sends and events come out.

A page does not know its host in advance, so a connection starts with one or more candidates: each a `Role`, the table
of one dialect, with its allowed origins. Each candidate has a `Machine` that follows its table; the connection itself
knows no dialect. It implements the parts that all of them share:

- The gate, written once and in this order: source window → origin → shape → state. A message that fails the first two
  is dropped unread; the origin is checked against the union of the candidates' lists first, then against the list of
  the candidate whose codec claims the message. A message that no codec claims is noise of other libraries, and is
  ignored silently. Any other rejected message becomes a `Refused` event, and leaves the state unchanged.
- Adoption: the first message that takes a candidate past its opening adopts it permanently. The others are discarded,
  and their traffic is noise. A candidate that ends earlier, by a version mismatch or its deadline, is `Withdrawn`; the
  end of the last one closes the connection with the most informative of their errors. A lone candidate is adopted from
  the start.
- Pinning: the same message fixes the peer's exact origin (`Machine.pin`, which the roles' actions call). From then on
  every message is posted to it, and none of another origin is accepted.
- Ports: a peer may hand over one with a message that no codec claims, where a role has a rule for it; an outer side
  takes none, but may hand over its own. That adopts nothing; a first message over the port does, and then the port is
  pinned with the origin.
- Other origins: they are reported, and where `names_refusal` is set, the first is told so, once: see `refusal.py`.
- Limits and deadlines, as data: `Connection.deadline` is the time at which to call `tick`.

Sources: the SEP "postMessage Transport", "Security Implementation"; `events.py` has the vocabulary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from mcpframe.frame.core import payload, refusal
from mcpframe.frame.core.allowed_origins import ANY, OPAQUE, AllowedOrigins, parse_allowed_origins
from mcpframe.frame.core.errors import HandshakeTimeout, MessageError, SessionError, StateError
from mcpframe.frame.core.events import (
    Attend,
    Closed,
    Departure,
    Inbound,
    Large,
    Output,
    Port,
    Refused,
    Send,
    Unreadable,
    Wire,
    Withdrawn,
)
from mcpframe.frame.core.machine import Candidate, Machine, claimant
from mcpframe.frame.core.roles import Local, Options, Role, State

__all__ = ["AllowedOrigins", "Candidate", "Connection", "Options", "State", "parse_allowed_origins"]

_OTHER_WINDOW = "Sent by a window other than the peer."
_OTHER_ORIGIN = "Not from an allowed origin."
_NOISE = "Not a message of this protocol."
_NOT_JSON = "It has no form in JSON."

_MOST_PORTS = 8
"""Of the ports handed over before a peer is pinned, the last ones are attended: who retries creates new ones."""


class Connection:
    """The state of one connection, and the only way to change it.

    Every method that acts takes the time, in seconds of any monotonic clock, and returns its outputs in order: `Send`
    for the window, events for the session.

    Attributes:
        options: its deadlines and limits.
        dropped: the number of messages dropped or ignored, by reason.
        watched: whether a `Wire` precedes the outputs of every received message, rejected ones included. Outbound
            messages are visible as `Send`.
    """

    def __init__(
        self, candidates: Sequence[Candidate], *, options: Options | None = None, names_refusal: bool = False
    ) -> None:
        """Create a connection that receives nothing until `start`.

        Args:
            candidates: the roles that it may adopt, in order of preference; at most one per dialect.
            options: deadlines and limits of each of them.
            names_refusal: whether the peer's window is told, once, that its origin is not allowed.

        Raises:
            StateError: if a role requires an offer.
            ValueError: if there is no candidate.
        """
        if not candidates:
            raise ValueError("A connection needs a candidate.")
        self.options = options or Options()
        self.dropped: Counter[str] = Counter()
        self.watched = False
        self._machines = [Machine(candidate, self.options, self.dropped) for candidate in candidates]
        self._adopted: Machine | None = self._machines[0] if len(self._machines) == 1 else None
        self._errors: list[SessionError | None] = []
        self._strangers = refusal.StrangeOrigins(tells=names_refusal)
        self._ports: list[Port] = []

    @property
    def role(self) -> Role:
        """The adopted role; before adoption, that of the first remaining candidate."""
        return self._first.role

    @property
    def state(self) -> State:
        """The state of the adopted role; before adoption, that of the first remaining candidate."""
        return self._first.state

    @property
    def adopted(self) -> Role | None:
        """The adopted role; None before adoption."""
        return self._adopted.role if self._adopted else None

    @property
    def origin(self) -> str | None:
        """The peer's origin; None until it is pinned."""
        return self._adopted.origin if self._adopted else None

    @property
    def port(self) -> Port | None:
        """The port that was pinned with the peer; None for its window."""
        return self._adopted.port if self._adopted else None

    @property
    def session_id(self) -> str | None:
        """The id of the session; None before the handshake, and in dialects without ids."""
        return self._adopted.session_id if self._adopted else None

    # Operations

    def start(self, now: float, *, called: bool = False, refused: bool = False) -> list[Output]:
        """Start: an inner frame posts its handshakes, an outer frame listens.

        Args:
            called: whether the openings were posted before this connection was created. Then they are repeated only at
                the next `tick`, unless a queued message has answered one of them by then.
            refused: whether the peer was told before that its origin is not allowed.

        Raises:
            StateError: if it was started before.
        """
        outputs: list[Output] = []
        self._strangers.tells = self._strangers.tells and not refused  # `&=` on a bool is in Python's second file
        for machine in self._machines:
            opened = machine.act(Local.START, now=now)
            if called and opened:
                opened = [output for output in opened if not isinstance(output, Send)]
                machine.repeat_at(now)
            outputs += opened
        return outputs

    def receive(self, inbound: Inbound, now: float) -> list[Output]:
        """Take one message event through the gate. Never raises for anything that a page can post."""
        if (state := self._first.state) is State.IDLE or state is State.CLOSED:
            return self._drop(state)
        origin, port, adopted = inbound.origin, inbound.port, self._adopted
        is_other = adopted is not None and port is not adopted.port and adopted.past_opening
        if not inbound.from_peer or is_other or (port and port not in self._ports):
            return self._seen(self._drop("source"), None, origin, _OTHER_WINDOW)
        if not (adopted.hears(origin) if adopted else any(machine.hears(origin) for machine in self._machines)):
            return self._seen(self._refuse_origin(origin), None, origin, _OTHER_ORIGIN)
        try:
            text = self._read(inbound)
        except Unreadable as unread:  # cyclic, or with a BigInt, or endless: the sender may still wait for an answer
            return self._refuse(unread.error, unread.outline, None, inbound, now)
        except (Large, ValueError) as unread:
            return self._noise(inbound, None, now, _NOISE if isinstance(unread, Large) else _NOT_JSON)
        return self._take(text, inbound, now)

    def handed_over(self, port: Port, target_origin: str, now: float) -> list[Output]:
        """Attend this side's end of a channel, as its other end was posted to the peer.

        Args:
            port: this side's end.
            target_origin: the origin that it was posted to: only a page of this origin can have the other end.
        """
        return self._attend(port, OPAQUE if target_origin == ANY else target_origin, self._machines, now)

    def send(self, text: str | MessageError, message: Mapping[str, Any], now: float) -> list[Output]:
        """Send one MCP message.

        One that cannot be sent fails at once: a request is answered with an error, a response becomes an error response
        to the peer, a notification becomes a `Refused` event.

        Args:
            text: the message as JSON text; or the error if it has none.
            message: the same message as a JSON-RPC object; only its envelope is read.

        Raises:
            StateError: if the connection is not open.
        """
        outputs = self.act(Local.SEND, (text, message), now=now)
        self._first.exchange.expect(now)
        if outputs and isinstance(outputs[0], Wire) and not self.watched:
            del outputs[0]
        return outputs

    def act(self, act: str, body: Any = None, *, now: float) -> list[Output]:
        """Perform an act of this dialect alone, in a state that allows it.

        Args:
            act: the trigger, as the dialect's rules name it.
            body: the argument of the act.

        Raises:
            StateError: if no candidate is adopted, or its state does not allow the act.
        """
        if self._adopted is None:
            raise StateError(f"Cannot {act} now: nobody has answered yet.")
        return self._adopted.act(act, body, now=now)

    def stop_calls(self, reason: str, now: float) -> list[Output]:
        """Cancel the calls of tools that the peer has not answered: each fails at once, with -32000.

        Args:
            reason: a sentence for both sides.
        """
        if self._adopted is None or self._adopted.state is not State.OPEN:
            return []
        outputs = self._adopted.exchange.stop_calls(reason)
        self._adopted.exchange.expect(now)
        return outputs

    def peer_gone(self, departure: Departure, now: float) -> list[Output]:
        """Handle the replacement of the peer's document, or the removal of its window."""
        local = Local.PEER_REPLACED if departure is Departure.REPLACED else Local.PEER_REMOVED
        return self._all(local, now)

    def close(self, now: float) -> list[Output]:
        """End the connection. Pending requests fail; closing again does nothing."""
        self._errors.clear()  # this side ends it: the errors of earlier candidates are not the reason
        return self._all(Local.CLOSE, now)

    @property
    def deadline(self) -> float | None:
        """The time to call `tick` next, in seconds of the same clock; None for never."""
        times = [time for machine in self._machines if (time := machine.deadline) is not None]
        return min(times, default=None)

    def tick(self, now: float) -> list[Output]:
        """Act on passed deadlines. May be called early, late or repeatedly."""
        return self._each(lambda machine: machine.tick(now))

    # The gate

    def _read(self, inbound: Inbound) -> str:
        """Return the text of a message; a large one is read only if a candidate claims it by its head."""
        try:
            return inbound.read()
        except Large as large:
            codecs = [machine.role.codec for machine in self._machines]
            if all(codec.kind(codec.sketch(large.head)) is None for codec in codecs):
                raise
            return large.read()

    def _take(self, text: str, inbound: Inbound, now: float) -> list[Output]:
        """Take a message of an allowed peer through the rest of the gate: shape, then state."""
        origin = inbound.origin
        try:
            data = payload.parse(text, **self._first.exchange.limits)
        except MessageError as error:
            return self._refuse(error, text, text, inbound, now)
        if refusal.is_refusal(data):
            body = refusal.refused_origin(data)
            outputs = self._each(lambda machine: machine.origin_refused(body, now))
            return self._seen(outputs or self._drop("noise"), text, origin, None if outputs else _NOISE)
        is_text = isinstance(data, str)
        if is_text and any(machine.role.codec.reads_text for machine in self._machines):
            try:
                text, data = data, payload.parse(data, **self._first.exchange.limits)
            except MessageError:  # a text of another library
                return self._noise(inbound, text, now)
        machine, kind = claimant(self._hearing(inbound), data, origin, is_text=is_text)
        if machine is None or kind is None:
            return self._noise(inbound, text, now)
        if not machine.hears(origin):
            return self._seen(self._refuse_origin(origin, machine), text, origin, _OTHER_ORIGIN)
        machine.port = inbound.port
        outputs = machine.hear(kind, data, text, origin, now)
        if not machine.past_opening:
            machine.port = None
        elif self._ports:
            outputs += self._leave([port for port in self._ports if port is not machine.port])
        if self._adopted is None:
            if machine.past_opening:
                self._adopted, self._machines = machine, [machine]
            outputs = self._settle(machine, outputs)
        return self._seen(outputs, text, origin) if self.watched else outputs

    def _hearing(self, inbound: Inbound) -> Sequence[Machine]:
        """Return the candidates for a message: for one over a port those that have it, or may take one."""
        ported = (each for each in self._machines if each.port is inbound.port or each.takes(Local.PORT))
        return [*ported] if inbound.port else self._machines

    def _noise(self, inbound: Inbound, text: str | None, now: float, reason: str = _NOISE) -> list[Output]:
        """Ignore a message that no codec claims, but attend its port, if a candidate may take one."""
        outputs = self._drop("noise")
        inner = (each for each in self._machines if each.role.side == "inner")
        takers = [each for each in inner if each.takes(Local.PORT) and each.hears(inbound.origin)]
        if takers and not inbound.port and len(ports := inbound.ports()) == 1:
            outputs += self._attend(ports[0], inbound.origin, takers, now)
        return self._seen(outputs, text, inbound.origin, reason)

    def _attend(self, port: Port, origin: str, takers: Sequence[Machine], now: float) -> list[Output]:
        outputs = [*self._leave(self._ports[: 1 - _MOST_PORTS]), Attend(port, origin)]
        self._ports.append(port)
        for machine in takers:
            machine.port = port
            outputs += machine.happen(Local.PORT, now=now)
            machine.port = None
        return outputs

    def _refuse(self, error: MessageError, head: str, text: str | None, inbound: Inbound, now: float) -> list[Output]:
        """Reject a message that cannot be parsed, if a candidate claims it by the few members that were read."""
        origin = inbound.origin
        claimed: Machine | None = None
        for machine in self._hearing(inbound):
            data = machine.role.codec.sketch(head)
            kind = machine.role.codec.kind(data)
            if kind is None:
                continue
            claimed = claimed or machine
            if machine.hears(origin):
                outputs = machine.refuse(error, kind, machine.role.codec.ids(data), origin, now)
                return self._seen(self._settle(machine, outputs), text, origin)
        if claimed:
            return self._seen(self._refuse_origin(origin, claimed), text, origin, _OTHER_ORIGIN)
        return self._noise(inbound, text, now)

    # The candidates

    @property
    def _first(self) -> Machine:
        return self._adopted or self._machines[0]

    def _each(self, happen: Callable[[Machine], Iterable[Output]]) -> list[Output]:
        """Call a function for every remaining candidate, and return the outputs."""
        outputs: list[Output] = []
        for machine in tuple(self._machines):
            outputs += self._settle(machine, happen(machine))
        if self._ports and self.state is State.CLOSED:
            outputs[-1:-1] = self._leave(self._ports)  # before the `Closed`
        return outputs

    def _all(self, local: Local, now: float) -> list[Output]:
        """Let happen to every candidate what ends it: only one `Closed` is returned."""
        outputs = self._each(lambda machine: machine.happen(local, now=now))
        return [output for output in outputs if not isinstance(output, Withdrawn)]

    def _settle(self, machine: Machine, outputs: Iterable[Output]) -> list[Output]:
        """Return the outputs of a machine; one that has ended is only withdrawn while others remain."""
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
                telling = (error for error in self._errors if error and not isinstance(error, HandshakeTimeout))
                settled.append(Closed(next(telling, self._errors[-1])))
        return settled

    # Counting and reporting

    def _seen(self, outputs: list[Output], text: str | None, origin: str, refused: str | None = None) -> list[Output]:
        """Put the `Wire` of a received message before its outputs, if `watched`."""
        if not self.watched:
            return outputs
        if refused is None:
            errors = (output.error for output in outputs if isinstance(output, Refused))
            refused = next(map(str, errors), None)
        return [Wire("received", text, origin, refused), *outputs]

    def _leave(self, ports: Sequence[Port]) -> list[Output]:
        """Stop to listen to ports; only this side's own, and the peer's, are closed: others are another library's."""
        self._ports = [port for port in self._ports if port not in ports]
        own = self._first.role.side == "outer"
        return [Attend(port, None, close=own or port is self.port) for port in ports]

    def _drop(self, reason: str) -> list[Output]:
        self.dropped[reason] += 1
        return []

    def _refuse_origin(self, origin: str, claimed: Machine | None = None) -> list[Output]:
        """Drop a message of an origin that is not allowed: to the candidate that claims it, or to all."""
        self.dropped["origin"] += 1
        machines = self._machines if claimed is None else [claimed]
        lists = [machine.allowed if self.origin is None else [self.origin] for machine in machines]
        is_pinned = any(machine.origin is not None for machine in self._machines)
        return self._strangers.refuse(origin, (entry for each in lists for entry in each), is_pinned=is_pinned)
