"""`input()` for clients of MCP 2026-07-28, whom a server cannot ask in the middle of a call.

The call is answered with the question, and its handler stays suspended: the client's next request has the user's
answer, and gets what the handler returns, or its next question.

Source: MCP specification 2026-07-28, basic/patterns/mrtr (SEP-2322).
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

import anyio
import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

ANSWER_SECONDS: Final = 600.0
"""How long a handler stays suspended for the user's answer."""
MOST: Final = 16
"""Suspended handlers of a server; with one more, the oldest is cancelled."""
_STATE: Final = "mcpframe-input/"
"""The beginning of the `requestState` of a question, before a random text that only its client knows."""
_KEY: Final = "input"
"""The name of the question within its `inputRequests`."""
_OF_A_ROUND = frozenset({"requestState", "inputResponses", "_meta"})
"""The parameters in which a request differs from that of the round before."""

_call: ContextVar[_Call | None] = ContextVar("mcpframe_held_call", default=None)


class HeldCalls:
    """The suspended handlers of a server."""

    def __init__(self, server: Server[Any]) -> None:
        self._server = server
        self._held: dict[str, _Call] = {}

    async def run(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Handle a request, or go on with the handler that waits for its answer.

        Args:
            ctx: the request.
            call_next: calls the request's handler.

        Returns:
            The handler's result, or its question.

        Raises:
            MCPError: no handler waits for this answer, or one of another request.
            Exception: as the handler raises.
        """
        params = ctx.params or {}
        state = params.get("requestState")
        if isinstance(state, str) and state.startswith(_STATE):
            call = self._held.get(state)
            if call is None or call.request != _request(ctx):
                text = "No call waits for this answer, or no longer: make the call again."
                raise MCPError(code=types.INVALID_PARAMS, message=text)
            del self._held[state]
            call.answer(params.get("inputResponses"))
        else:
            call = _Call(ctx, call_next)
        question = await call.question_or_end()
        return call.task.result() if question is None else self._hold(call, question)

    def _hold(self, call: _Call, question: Mapping[str, Any]) -> dict[str, Any]:
        if len(self._held) >= MOST:
            self._let_go(next(iter(self._held)))
        state = _STATE + secrets.token_urlsafe(16)
        self._held[state] = call
        timer = asyncio.get_running_loop().call_later(ANSWER_SECONDS, self._let_go, state)
        call.task.add_done_callback(lambda _: timer.cancel())
        return {
            "resultType": "input_required",
            "inputRequests": {_KEY: dict(question)},
            "requestState": state,
            "_meta": {types.SERVER_INFO_META_KEY: self._server.server_info_stamp},
        }

    def _let_go(self, state: str) -> None:
        if call := self._held.pop(state, None):
            call.cancel()


class _Call:
    """A handler in a task of its own, which outlives the request that began it."""

    def __init__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> None:
        self.request = _request(ctx)
        self._scope = anyio.CancelScope()
        self._asking = asyncio.Lock()
        self._question: asyncio.Future[Mapping[str, Any]] = asyncio.Future()
        self._answer: asyncio.Future[types.ElicitResult] = asyncio.Future()
        self.task = asyncio.create_task(self._run(ctx, call_next))
        self.task.add_done_callback(_retrieve)

    async def _run(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        _call.set(self)
        with self._scope:
            return await call_next(ctx)
        raise asyncio.CancelledError

    async def question_or_end(self) -> Mapping[str, Any] | None:
        """Wait until the handler asks or ends; return the question. A cancelled request cancels the handler."""
        first: list[asyncio.Future[Any]] = [self.task, self._question]
        try:
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait([self.task])
            raise
        return self._question.result() if self._question.done() and not self.task.done() else None

    def cancel(self) -> None:
        """Cancel the handler: nobody waits for its result any more."""
        self._scope.cancel()

    async def ask(self, question: Mapping[str, Any]) -> types.ElicitResult:
        """Ask in place of a result, and return the answer of a later request."""
        async with self._asking:
            self._answer = asyncio.Future()
            self._question.set_result(question)
            return await self._answer

    def answer(self, responses: object) -> None:
        """Resume the handler with the answer of its user; without a valid one, the user has cancelled the question."""
        self._question = asyncio.Future()
        try:
            given = responses[_KEY] if isinstance(responses, Mapping) else None
            answer = types.ElicitResult.model_validate(given)
        except (KeyError, ValidationError):
            answer = types.ElicitResult(action="cancel")
        if not self._answer.done():
            self._answer.set_result(answer)


async def ask(message: str, schema: Mapping[str, Any]) -> types.ElicitResult:
    """Ask the client's user from a handler of `HeldCalls`.

    Args:
        message: the question.
        schema: the JSON schema of the answer.

    Raises:
        LookupError: the handler is none of them.
    """
    call = _call.get()
    if call is None:
        raise LookupError("this request cannot be answered with a question")
    asked = {"mode": "form", "message": message, "requestedSchema": dict(schema)}
    return await call.ask({"method": "elicitation/create", "params": asked})


def _request(ctx: ServerRequestContext[Any, Any]) -> tuple[str, dict[str, Any]]:
    """Return the part of a request that is the same in each round."""
    return ctx.method, {name: value for name, value in (ctx.params or {}).items() if name not in _OF_A_ROUND}


def _retrieve(task: asyncio.Task[Any]) -> None:
    """Look at a task's exception: it is logged by those who contain it, and nobody may wait for this task any more."""
    if not task.cancelled():
        task.exception()
