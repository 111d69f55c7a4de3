"""Requests to clients of MCP 2026-07-28, which take none in the middle of a call.

The call is answered with the request, and its handler stays suspended: the client's next request has the answer, and
gets what the handler returns, or its next request.

Source: MCP specification 2026-07-28, basic/patterns/mrtr (SEP-2322).
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import anyio
import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.methods import INPUT_REQUIRED_METHODS, serialize_server_result
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from mcpframe.frame.core.raised import noting, with_place
from mcpframe.frame.serving.asking_session import AskingSession, cannot_ask
from mcpframe.frame.serving.user_input import asking_by, check_can_ask

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

ANSWER_SECONDS: Final = 600.0
"""How long a handler stays suspended for its client's answer."""
MOST: Final = 16
"""Suspended handlers of a server; with one more, the oldest is cancelled."""
_STATE: Final = "mcpframe-input/"
"""The beginning of the `requestState` of a round, before a random text that only its client knows."""
_KEY: Final = "input"
"""The name of the request within its `inputRequests`."""
_OF_A_ROUND = frozenset({"requestState", "inputResponses", "_meta"})
"""The parameters in which a request differs from that of the round before."""


def hold_calls(target: Server[Any]) -> None:
    """Let the handlers of a server ask its clients, in every revision. Does nothing more when repeated.

    It has to be the outermost middleware: what surrounds a handler is then suspended with it.

    Args:
        target: A lowlevel server of mcp 2.x.
    """
    others = [each for each in target.middleware if not isinstance(each, HeldCalls)]
    held = next((each for each in target.middleware if isinstance(each, HeldCalls)), None)
    target.middleware[:] = [held or HeldCalls(target), *others]


class HeldCalls:
    """The middleware that lets handlers ask, and holds those that wait for an answer."""

    def __init__(self, server: Server[Any]) -> None:
        self._server = server
        self._held: dict[str, _Held] = {}

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Handle a request, or go on with the handler that waits for its answer.

        Raises:
            MCPError: no handler waits for this answer, or one of another request.
            Exception: as the handler raises.
        """
        if ctx.request_id is None or ctx.method == "initialize":
            return await call_next(ctx)
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS or ctx.method not in INPUT_REQUIRED_METHODS:
            return await handled(replace(ctx, session=AskingSession(ctx.session)), call_next)
        params = ctx.params or {}
        state = params.get("requestState")
        if isinstance(state, str) and state.startswith(_STATE):
            call, question = self._take(state, ctx)
            call.session.follow(ctx.session)
            question.give(params.get("inputResponses"))
        elif _can_answer(ctx.session.client_capabilities):
            call = _Call(ctx, call_next)
        else:
            return await handled(replace(ctx, session=AskingSession(ctx.session)), call_next)
        asked = await call.question_or_end()
        return call.task.result() if asked is None else self._hold(call, asked)

    def _take(self, state: str, ctx: ServerRequestContext[Any, Any]) -> tuple[_Call, _Question]:
        held = self._held.get(state)
        if held is None or held.call.request != _request(ctx):
            text = "No call waits for this answer, or no longer: make the call again."
            raise MCPError(code=types.INVALID_PARAMS, message=text)
        del self._held[state]
        held.timer.cancel()
        return held.call, held.question

    def _hold(self, call: _Call, question: _Question) -> dict[str, Any]:
        if len(self._held) >= MOST:
            self._let_go(next(iter(self._held)))
        state = _STATE + secrets.token_urlsafe(16)
        timer = asyncio.get_running_loop().call_later(ANSWER_SECONDS, self._let_go, state)
        self._held[state] = _Held(call, question, timer)
        stamp = {types.SERVER_INFO_META_KEY: self._server.server_info_stamp}
        return {**question.result, "requestState": state, "_meta": stamp}

    def _let_go(self, state: str) -> None:
        if held := self._held.pop(state, None):
            held.timer.cancel()
            held.call.cancel()


class _Question(NamedTuple):
    """A request to the client.

    Attributes:
        method: Its method.
        result: The result with which its call is answered.
        answer: What the client answers.
    """

    method: str
    result: dict[str, Any]
    answer: asyncio.Future[object]

    def give(self, responses: object) -> None:
        """Resume the handler with what the client's next request has as the answer, if anything."""
        if not self.answer.done():  # the handler may have stopped waiting
            self.answer.set_result(responses.get(_KEY) if isinstance(responses, Mapping) else None)


class _Call:
    """A handler in a task of its own, which outlives the request that began it."""

    def __init__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> None:
        self.request = _request(ctx)
        self.session = AskingSession(ctx.session, self._ask)
        self._version = ctx.protocol_version
        self._scope = anyio.CancelScope()
        self._asking = asyncio.Lock()
        self._asked: asyncio.Future[_Question] = asyncio.Future()
        self._last: _Question | None = None
        self.task = asyncio.create_task(self._run(replace(ctx, session=self.session), call_next))
        self.task.add_done_callback(self._end)

    async def _run(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        with self._scope:
            return await handled(ctx, call_next)
        raise asyncio.CancelledError

    async def question_or_end(self) -> _Question | None:
        """Wait until the handler asks or ends; return what it asks. A cancelled request cancels the handler."""
        while True:
            first: list[asyncio.Future[Any]] = [self.task, self._asked]
            try:
                await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            except asyncio.CancelledError:
                self.cancel()
                with anyio.CancelScope(shield=True):
                    await asyncio.wait([self.task])
                raise
            if self.task.done():
                return None
            question, self._asked = self._asked.result(), asyncio.Future()
            if not question.answer.done():
                return question

    def cancel(self) -> None:
        """Cancel the handler: nobody waits for its result any more."""
        self._scope.cancel()

    async def _ask(self, request: Mapping[str, Any]) -> object:
        """Ask in place of a result, one after the other; return the answer of a later request."""
        method = str(request["method"])
        result = {"resultType": "input_required", "inputRequests": {_KEY: request}, "requestState": _STATE}
        try:
            result = serialize_server_result(self.request[0], self._version, result)
        except ValidationError as error:
            reason = error.errors()[0]
            where = ".".join(map(str, reason["loc"]))
            raise TypeError(f"MCP has no {method} of this form: {reason['msg']} ({where}).") from None
        async with self._asking:
            if self.task.done():
                raise cannot_ask(method)
            self._last = _Question(method, result, asyncio.Future())
            if self._asked.done():  # nobody waits any more for the answer to that one
                self._asked = asyncio.Future()
            self._asked.set_result(self._last)
            return await self._last.answer

    def _end(self, task: asyncio.Task[Any]) -> None:
        """Retrieve the handler's exception; those who contain it log it. Refuse what its own tasks ask after it."""
        if not task.cancelled():
            task.exception()
        if self._last and not self._last.answer.done():
            self._last.answer.set_exception(cannot_ask(self._last.method))


class _Held(NamedTuple):
    """A suspended handler.

    Attributes:
        call: The handler.
        question: What it waits for.
        timer: Cancels it.
    """

    call: _Call
    question: _Question
    timer: asyncio.TimerHandle


async def handled(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Handle a request whose `input()` asks the client's user, and whose error result names its place."""

    async def elicit(message: str, schema: Mapping[str, Any]) -> types.ElicitResult:
        check_can_ask(types, ctx.session)
        return await ctx.session.elicit_form(message, dict(schema), ctx.request_id)

    with asking_by(elicit), noting() as errors:
        result: HandlerResult = with_place(await call_next(ctx), errors)
        return result


def _can_answer(capabilities: types.ClientCapabilities | None) -> bool:
    """Return whether a client answers any request."""
    able = capabilities or types.ClientCapabilities()
    return any(each is not None for each in (able.elicitation, able.sampling, able.roots))


def _request(ctx: ServerRequestContext[Any, Any]) -> tuple[str, dict[str, Any]]:
    """Return the part of a request that is the same in each round."""
    return ctx.method, {name: value for name, value in (ctx.params or {}).items() if name not in _OF_A_ROUND}
