"""A client of the extension for tasks (SEP-2663), which the SDK's has not: handles are taken, polled and answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal

import mcp_types as types
from mcp import Client
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from pydantic import ConfigDict

from mcpframe import Tasks
from mcpframe.frame.core.callers import CALLER_KEY

JSON = dict[str, Any]


def status(name: str) -> Callable[[JSON], bool]:
    return lambda state: state["status"] == name


completed, failed, cancelled, asks = map(status, ("completed", "failed", "cancelled", "input_required"))


class Handle(types.Result):
    """A call's answer in place of its result."""

    model_config = ConfigDict(extra="allow")
    result_type: Literal["task"] = "task"
    task_id: str


class Asked(types.Request[dict[str, Any], str]):
    """A request of the extension."""


class Answer(types.Result):
    model_config = ConfigDict(extra="allow")


class TakesTasks(ClientExtension):
    """A client's half of the extension."""

    identifier = Tasks.identifier

    def claims(self) -> list[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=Handle, resolve=self._polled)]

    async def _polled(self, handle: Handle, ctx: ClaimContext) -> types.CallToolResult:
        raise AssertionError("the tests take handles")


class TaskClient:
    """The requests of a client with `TakesTasks`."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def begin(self, tool: str, *, of: str = "", **arguments: Any) -> JSON:
        """Make a call that becomes a task; `of` names its user, as a bridge does."""
        found = await self.client.session.call_tool(tool, arguments, allow_claimed=True, meta=_named(of))
        assert isinstance(found, Handle), found
        return found.model_dump(by_alias=True, mode="json")

    async def ask(self, method: str, task: str, *, of: str = "", **more: Any) -> JSON:
        request = Asked(method=method, params={"taskId": task, **more, "_meta": _named(of)})
        answer = await self.client.session.send_request(request, Answer)  # type: ignore[arg-type]
        return answer.model_dump(by_alias=True, mode="json")

    async def until(self, task: str, condition: Callable[[JSON], object], *, of: str = "") -> JSON:
        """Poll until a condition holds; the test's own deadline ends it."""
        while not condition(state := await self.ask("tasks/get", task, of=of)):  # noqa: ASYNC110  it is a client
            await asyncio.sleep(0)
        return state


def _named(user: str) -> Any:
    return {CALLER_KEY: {"user": user}} if user else {}
