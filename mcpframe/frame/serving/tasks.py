"""Calls that take long, as tasks: the client gets a handle, and polls for the result.

A call that has not ended after some seconds is answered with a task, if its client takes tasks, and goes on. It is a
server's extension: `FrameServer("…", extensions=[Tasks()])`. A task ends with the page, or the process, that began it;
then its id is unknown.

Source: SEP-2663, extension `io.modelcontextprotocol/tasks`; MCP 2026-07-28.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from math import inf
from typing import Any, Final

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.extension import Extension, MethodBinding
from mcp.server.mcpserver import require_client_extension
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp_types.jsonrpc import HEADER_MISMATCH
from mcp_types.methods import serialize_server_result
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, Field

from mcpframe.frame.core.callers import Named, named_caller
from mcpframe.frame.serving import kept_tasks
from mcpframe.frame.serving.running_task import RunningTask
from mcpframe.frame.serving.task_notices import LISTEN, listened_tasks, telling

AFTER_SECONDS: Final = 5.0
"""A call that ends earlier is answered with its result: a handle would cost the client further requests."""
KEPT_SECONDS: Final = 3600.0


class _OfTask(types.RequestParams):
    task_id: str = Field(alias="taskId")


class _Update(_OfTask):
    input_responses: dict[str, Any] = Field(alias="inputResponses")


class Tasks(Extension):
    """The extension that answers long calls with tasks.

    Args:
        after: Seconds after which a call becomes a task. They stand still while the client is asked something.
        kept: Seconds from its creation after which a task is cancelled if it has not ended, and forgotten.
        required: The tools that always take long: a client that takes no tasks gets an error in place of a long wait.

    Raises:
        ValueError: A time is negative or without an end.

    Attributes:
        seconds: `kept`.
    """

    identifier = "io.modelcontextprotocol/tasks"

    def __init__(
        self, *, after: float = AFTER_SECONDS, kept: float = KEPT_SECONDS, required: Collection[str] = ()
    ) -> None:
        if not (0 <= after < inf and 0 < kept < inf):
            raise ValueError("The seconds `after` and `kept` of Tasks are numbers from 0 on, and not infinite.")
        self._after = after
        self.seconds = kept
        self._required = frozenset(required)
        self._kept = kept_tasks.KeptTasks(kept)

    def methods(self) -> Sequence[MethodBinding]:
        """Return the methods by which clients poll, answer and cancel."""
        modern = frozenset(MODERN_PROTOCOL_VERSIONS)
        return [
            MethodBinding("tasks/get", _OfTask, self._get, modern),
            MethodBinding("tasks/update", _Update, self._update, modern),
            MethodBinding("tasks/cancel", _OfTask, self._cancel, modern),
        ]

    async def intercept_tool_call(
        self, params: types.CallToolRequestParams, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Return the result of a call, or a task.

        Raises:
            MCPError: There are as many tasks as may be, or the tool needs a client that takes tasks.
            Exception: As the tool's handler raises before it is a task.
        """
        if params.name in self._required:
            require_client_extension(ctx, self.identifier)
        if not self.is_taken_by(ctx):
            return await call_next(ctx)
        task = RunningTask(
            ctx, call_next, self.caller_of(ctx), self.completed, self.seconds, kept_tasks.MOST_BYTES_OF_USER
        )
        try:
            has_ended = await task.ends_within(self._after)
        except asyncio.CancelledError:
            await task.end()
            raise
        if has_ended:
            return task.result()
        try:
            self._kept.add(task)
        except MCPError:
            await task.end()
            raise
        return {**task.state(), "resultType": "task"}

    async def intercept_listen(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Answer `subscriptions/listen`, and send the states of the tasks that it names; a middleware of `FrameServer`.

        Raises:
            MCPError: The client takes no tasks, or names them in another form.
        """
        if ctx.method != LISTEN or (ids := listened_tasks(ctx.params)) is None:
            return await call_next(ctx)
        require_client_extension(ctx, self.identifier)
        user = self.caller_of(ctx).user
        tasks = {id_: task for id_ in ids if (task := self._kept.find(id_, user)) is not None}
        return await telling(ctx, call_next, list(tasks.values()))

    def caller_of(self, ctx: ServerRequestContext[Any, Any]) -> Named:
        """Return the user of a request: a task answers its own one only."""
        return named_caller(ctx.params)

    def completed(self, result: HandlerResult, version: str) -> dict[str, Any]:
        """Return a tool's result as the answer of `tools/call` would have it.

        Raises:
            MCPError: It is none for a task.
        """
        data = (
            result.model_dump(by_alias=True, mode="json", exclude_none=True)
            if isinstance(result, BaseModel)
            else result
        )
        if not isinstance(data, Mapping) or data.get("resultType") not in (None, "complete"):
            text = "The tool asks by its result, which a task cannot: use ctx.elicit in it."
            raise MCPError(code=types.INTERNAL_ERROR, message=text)
        try:
            return serialize_server_result("tools/call", version, data)
        except ValueError:
            raise MCPError(code=types.INTERNAL_ERROR, message="Handler returned an invalid result") from None

    def is_taken_by(self, ctx: ServerRequestContext[Any, Any]) -> bool:
        """Return whether the client of a request takes tasks."""
        capabilities = ctx.session.client_capabilities
        declared = (capabilities and capabilities.extensions) or {}
        return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS and self.identifier in declared

    def _find(self, ctx: ServerRequestContext[Any, Any], params: _OfTask) -> RunningTask:
        require_client_extension(ctx, self.identifier)
        _check_name(ctx, params.task_id)
        task = self._kept.find(params.task_id, self.caller_of(ctx).user)
        if task is None:
            text = (
                "There is no such task: it was forgotten, after its time or for newer ones, or its page or process has "
                "ended. Make the call again."
            )
            raise MCPError(code=types.INVALID_PARAMS, message=text)
        return task

    async def _get(self, ctx: ServerRequestContext[Any, Any], params: _OfTask) -> HandlerResult:
        return self._find(ctx, params).state()

    async def _update(self, ctx: ServerRequestContext[Any, Any], params: _Update) -> HandlerResult:
        self._find(ctx, params).give(params.input_responses)
        return {}

    async def _cancel(self, ctx: ServerRequestContext[Any, Any], params: _OfTask) -> HandlerResult:
        self._find(ctx, params).cancel()
        return {}


def _check_name(ctx: ServerRequestContext[Any, Any], id_: str) -> None:
    """Check the header by which balancers find a task's process. A frame has no headers: its bridge checks them.

    Raises:
        MCPError: It names another task.
    """
    given = getattr(ctx.request, "headers", {}).get(MCP_NAME_HEADER)
    if given is not None and decode_header_value(given) != id_:
        raise MCPError(code=HEADER_MISMATCH, message="The header Mcp-Name names another task than taskId.")
