"""The JSON-RPC traffic of one open connection: the pending requests of both directions, and how they fail.

Every pending request is answered: if a request cannot be sent, or its answer is rejected, the session gets an error
response; if an answer cannot be sent, or a request is rejected, the peer gets one. Nothing more is sent about a request
that the peer has cancelled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.codec import Codec
from mcpframe.frame.core.errors import MalformedMessage, MessageError, TooManyPending, UnexpectedMessage
from mcpframe.frame.core.events import Output, Received, Refused, Send, Unresponsive, Wire
from mcpframe.frame.core.liveness import Alive
from mcpframe.frame.core.outline import Outline
from mcpframe.frame.core.roles import Options


class Exchange:
    """The pending requests of both directions, in the codec of one role.

    Attributes:
        limits: the limits of one message, as `payload` takes them.
    """

    def __init__(
        self, codec: Codec, options: Options, post: Callable[[str], Send], *, asks: bool, shared: bool = False
    ) -> None:
        """Start without pending requests.

        Args:
            codec: the wire format.
            options: limits and deadlines.
            post: turns a text into a `Send` to the pinned peer.
            asks: whether a peer that is silent while requests are pending gets a `ping`.
            shared: whether several clients may be behind the peer's window.
        """
        self.limits = {"max_bytes": options.max_message_bytes, "max_nesting": options.max_nesting}
        self._codec = codec
        self._options = options
        self._post = post
        self._asked_by_peer = jsonrpc.Pending(options.max_pending, shared=shared)
        self._asked_by_us = jsonrpc.Pending(options.max_pending)
        self._alive = Alive(options.unresponsive_after if asks else None)
        self._cancels = False  # a request of ours, since the last `expect`

    @property
    def deadline(self) -> float | None:
        """The time to call `tick` next, in seconds; None for never."""
        return self._alive.deadline

    def tick(self, now: float) -> list[Output]:
        """Send the peer a `ping`, or report that it is unresponsive, once that is due."""
        due = self._alive.tick(now, waits=self._asked_by_us.due)
        if isinstance(due, Unresponsive):
            return [due]
        return [] if due is None else self._say(due)

    def heard(self, now: float) -> list[Unresponsive]:
        """Note that the peer has sent something; return the event if it responds again."""
        return self._alive.heard(now)

    def expect(self, now: float) -> None:
        """Note the time at which messages passed: from now on the peer should answer pending requests."""
        if self._cancels:
            self._cancels = False
            self._alive.doubt(now)
        if self._asked_by_us.due:
            self._alive.expect(now)

    def stop(self) -> None:
        """Stop sending pings."""
        self._alive.stop()

    def owes(self, request: Mapping[str, Any]) -> bool:
        """Return whether the peer waits for the answer to a request of the same id and method."""
        return bool(self._asked_by_peer.method_of(request["id"]) == request["method"])

    def deliver(self, message: Mapping[str, Any], origin: str | None) -> list[Output]:
        """Hand a well-formed message of the peer to the session."""
        if self._alive.takes(message):
            return []
        try:
            self._asked_by_peer.asked(message)
        except (UnexpectedMessage, TooManyPending) as error:
            code = jsonrpc.INVALID_REQUEST if isinstance(error, UnexpectedMessage) else jsonrpc.INTERNAL_ERROR
            return [Refused(error, origin), *self._answer(message["id"], code, error)]
        if "method" not in message and not self._asked_by_us.wants(message):
            return []  # cancelled: "the sender SHOULD ignore any response that arrives afterward"
        self._asked_by_us.answered(message)
        return [Received(message)]

    def transmit(self, text: str | MessageError, message: Mapping[str, Any], origin: str | None) -> list[Output]:
        """Send a message, or fail it for the side that waits for it, preceded by a `Wire`.

        Args:
            text: the message as JSON text; or the error if it has none.
            message: the same message parsed; only its envelope is read.
            origin: the pinned origin.
        """
        if self._codec.unspoken and "id" not in message and message.get("method", "").startswith(self._codec.unspoken):
            self._asked_by_us.asked(message)
            return []
        wrapped: str | None = None
        try:
            if isinstance(text, MessageError):
                raise text
            wrapped = self._codec.encode(text, message)
            payload.check_text(wrapped, **self.limits)
            payload.check_content(text)
            if jsonrpc.is_request(message):
                jsonrpc.check_method(message["method"])
                if jsonrpc.usable_id(message["id"]) is None:
                    raise MalformedMessage(
                        f"The id {message['id']!r} is outside JavaScript's exact integers: choose a smaller one."
                    )
            self._cancels = self._cancels or jsonrpc.cancelled_id(message) in self._asked_by_us
            self._asked_by_us.asked(message)
        except MessageError as error:
            return [Wire("sent", wrapped, origin or "", str(error)), *self._not_sent(message, error)]
        if not self._asked_by_peer.wants(message):
            return []
        self._asked_by_peer.answered(message)
        return [self._post(wrapped)]

    def fail_refused(self, found: Outline, error: MessageError) -> list[Output]:
        """Answer a rejected request with an error; fail our own request if its answer was rejected."""
        if found.kind == "request":
            return self._answer(jsonrpc.answerable_id(found.id), jsonrpc.INVALID_REQUEST, error)
        id_ = jsonrpc.usable_id(found.id)
        if found.kind != "response" or id_ is None or id_ not in self._asked_by_us:
            return []
        failed = jsonrpc.error_response(id_, jsonrpc.INTERNAL_ERROR, f"The answer was refused: {error}")
        self._asked_by_us.answered(failed)
        return [Received(failed)]

    def stop_calls(self, reason: str) -> list[Output]:
        """Cancel each of our unanswered calls of tools, and fail it at once."""
        outputs: list[Output] = []
        for id_ in self._asked_by_us.calls:
            cancelled = jsonrpc.cancellation(id_, reason)
            self._asked_by_us.asked(cancelled)
            self._cancels = True
            failed = jsonrpc.error_response(id_, jsonrpc.CONNECTION_CLOSED, reason, {"reason": "stopped"})
            outputs += [*self._say(cancelled), Received(failed)]
        return outputs

    def end(self, reason: str) -> list[Output]:
        """Fail each of our pending requests."""
        failed: list[Output] = [
            Received(jsonrpc.error_response(id_, jsonrpc.CONNECTION_CLOSED, reason)) for id_ in self._asked_by_us
        ]
        self._asked_by_us = jsonrpc.Pending(self._options.max_pending)
        return failed

    def _not_sent(self, message: Mapping[str, Any], error: MessageError) -> list[Output]:
        if jsonrpc.is_request(message):
            return [Received(jsonrpc.error_response(message["id"], jsonrpc.INTERNAL_ERROR, str(error)))]
        if "method" in message or message.get("id") is None:
            return [Refused(error, None)]
        id_ = jsonrpc.usable_id(message["id"])
        if id_ is None or id_ not in self._asked_by_peer:
            return [Refused(error, None)]  # the peer does not wait, or no longer waits
        self._asked_by_peer.answered(message)
        return [Refused(error, None), *self._answer(message["id"], jsonrpc.INTERNAL_ERROR, error)]

    def _answer(self, id_: str | int | float | None, code: int, error: MessageError) -> list[Output]:
        return self._say(jsonrpc.error_response(id_, code, str(error)))

    def _say(self, message: Mapping[str, Any]) -> list[Output]:
        try:
            return [self._post(self._codec.encode(payload.encode(message), message))]
        except MessageError:  # the dialect has no form for it, so the peer does not wait
            return []
