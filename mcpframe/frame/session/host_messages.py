"""A dialect's own messages between a page and its host, beside those between an MCP client and server.

Both share a connection, and JSON-RPC. Answers to the page's own requests, and the methods that the dialect's host API
handles, are handled here; all others go to the server. A host uses the same for its side, with other errors
(`hosting.mcp_apps.view`).
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from mcpframe.frame.compat import sdk
from mcpframe.frame.core import jsonrpc
from mcpframe.frame.core.errors import AppError, HostError, HostLacks, HostTimeout, StateError
from mcpframe.frame.core.events import SessionBegun
from mcpframe.frame.waiting.answers import Answers
from mcpframe.frame.waiting.peer import Overdue, Peer

if TYPE_CHECKING:
    from mcpframe.frame.session.interfaces import Handler, Sends

log = logging.getLogger(__name__)

TIMEOUT = 60.0
"""Seconds that a host may take to answer, unless the caller says otherwise."""

_MOST_EARLY = 100
"""The most messages that are queued before the session is open."""

T = TypeVar("T")
Json = Mapping[str, Any]
Progress = Callable[[float, float | None, str | None], None]
"""Called with the progress so far, the total if it is known, and a text if there is one."""


@dataclass(frozen=True, slots=True)
class Errors:
    """The error classes of requests, by cause: each takes a message, the method, a JSON-RPC code and data."""

    peer: str = "host"
    failed: type[HostError | AppError] = HostError
    lacks: type[HostError | AppError] = HostLacks
    timeout: type[HostError | AppError] = HostTimeout


class HostMessages:
    """One side of these messages in one session (`session.Intercept`): by default the page's.

    Attributes:
        handler: the host API of the session's dialect; None before the session, and in a dialect without one.
        prefix: the prefix of the ids of the page's requests; it starts with `"mcpframe/"`.
    """

    def __init__(self, find: Callable[[SessionBegun, HostMessages], Handler | None], errors: Errors = Errors()) -> None:
        """Wait for the session.

        Args:
            find: returns the host API of a session that has begun, which sends through this object; None for none.
            errors: the error classes of requests.
        """
        self._errors = errors
        self.handler: Handler | None = None
        self.prefix = "mcpframe/"
        self._find = find
        self._session: Sends | None = None
        self._early: list[Json] = []
        self._peer: Peer[str, Json] = Peer(f"{self.prefix}{number}" for number in itertools.count(1))
        self._answers = Answers(self._post)

    def begun(self, session: Sends, event: SessionBegun) -> None:
        """Handle the queued messages of the host, and later ones."""
        self._session = session
        self.handler = self._find(event, self)
        early, self._early = self._early, []
        for message in early:
            self.take(message)

    def take(self, message: Json) -> bool:
        """Handle a message of the host. Returns False for one that is for the server."""
        if self.handler is None:
            if self._session is not None:
                return False  # the dialect has no others
            if len(self._early) < _MOST_EARLY:
                self._early.append(message)
            return True
        if "method" not in message:
            id_ = message.get("id")  # with this prefix it is one of ours, which may have ended
            return self._peer.answered(id_, message) or str(id_).startswith("mcpframe/")
        method, params = message["method"], message.get("params") or {}
        if "id" not in message:
            cancelled = jsonrpc.cancelled_id(message)
            if cancelled is not None and self._answers.cancel(cancelled):
                return True
            return self._take_progress(method, params) or self.handler.notified(method, params)
        answer = self.handler.asked(method, params)
        if answer is None:
            return False
        self._answers.begin(message["id"], method, answer)
        return True

    def notify(self, method: str, params: Json) -> None:
        """Send the host a notification; does nothing once the session is over."""
        with suppress(StateError):
            self._post({"jsonrpc": "2.0", "method": method, "params": present(params)})

    async def request(
        self, method: str, params: Json, *, within: float | None = TIMEOUT, on_progress: Progress | None = None
    ) -> Json:
        """Send the host a request, and wait for its answer.

        Args:
            method: the method.
            params: its parameters; those that are None are left out.
            within: seconds to wait; None for no deadline.
            on_progress: called with the progress that the host reports.

        Returns:
            The result.

        Raises:
            HostLacks: if the host does not know the method.
            HostTimeout: if it did not answer in time.
            HostError: if it answered with an error, or the session ended before.
        """
        sent = present(params)

        def send(id_: str) -> None:
            if on_progress is not None:
                sent["_meta"] = {**sent.get("_meta", {}), "progressToken": id_}
            self._post({"jsonrpc": "2.0", "id": id_, "method": method, "params": sent})

        try:
            answer = await self._peer.ask(send, within=within, cancel=self._cancel, on_progress=on_progress)
        except StateError:
            raise self._errors.failed(f"{method} was not sent: the session is over.", method) from None
        except Overdue:
            text = f"The {self._errors.peer} did not answer {method} within {within:g} seconds."
            raise self._errors.timeout(text, method) from None
        if "error" in answer:
            raise self._error_of(method, answer["error"])
        result: Json = answer["result"]
        return result

    async def request_model(
        self,
        kind: str,
        method: str,
        params: Json,
        *,
        within: float | None = TIMEOUT,
        on_progress: Progress | None = None,
    ) -> Any:
        """Like `request`, but return the result as the SDK's model of the name `kind`."""
        result = await self.request(method, params, within=within, on_progress=on_progress)
        model = sdk.model(kind)
        try:
            return model.model_validate(result)
        except ValueError as error:
            reason = str(error).partition("\n")[0]
            text = f"The {self._errors.peer}'s answer to {method} is not what MCP specifies: {reason}"
            raise self._errors.failed(text, method) from error

    def close(self) -> None:
        """Cancel the host's requests that are being answered, and end the handler."""
        self._answers.close()
        if self.handler is not None:
            self.handler.ended()

    def _post(self, message: Json) -> None:
        if self._session is None:
            raise StateError("There is no session with a host yet.")
        self._session.post(message)

    def _cancel(self, id_: str, reason: str) -> None:
        self.notify("notifications/cancelled", {"requestId": id_, "reason": reason})

    def _take_progress(self, method: str, params: Json) -> bool:
        if method != "notifications/progress":
            return False
        token = params.get("progressToken")
        call = self._peer.progressed(token)
        progress, total, text = params.get("progress"), params.get("total"), params.get("message")
        if call is None or not _is_number(progress):
            return isinstance(token, str) and token.startswith("mcpframe/")
        assert isinstance(progress, int | float)
        try:
            call(progress, total if _is_number(total) else None, text if isinstance(text, str) else None)
        except Exception:
            log.exception("A progress callback failed")
        return True

    def _error_of(self, method: str, error: Json) -> HostError | AppError:
        peer = self._errors.peer
        if error["code"] == jsonrpc.METHOD_NOT_FOUND:
            text = f"This {peer} does not offer {method}: {error['message']}"
            return self._errors.lacks(text, method, error["code"], error.get("data"))
        text = f"The {peer} answered {method} with an error: {error['message']}"
        return self._errors.failed(text, method, error["code"], error.get("data"))


def present(params: Json) -> dict[str, Any]:
    """Return parameters without those that are None: hosts reject null for an optional one."""
    return {name: value for name, value in params.items() if value is not None}


def plain(value: Any) -> Any:
    """Return JSON values in place of models of the SDK, without members that are None."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def content_blocks(content: Any) -> list[Any]:
    """Return one or several content blocks, each of which may be a text, as a list of JSON values."""
    several = content if isinstance(content, list | tuple) else [content]
    return [{"type": "text", "text": block} if isinstance(block, str) else plain(block) for block in several]


def call_all(functions: Iterable[Callable[[T], None]], value: T) -> None:
    """Call an author's functions with a value of the host. One that fails does not stop the others."""
    for function in tuple(functions):
        try:
            function(value)
        except Exception:
            log.exception("A function that is called with what the host sends has failed")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
