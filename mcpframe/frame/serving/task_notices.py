"""The states of tasks, sent to clients that listen: `notifications/tasks`, on the stream of `subscriptions/listen`.

The SDK's handler answers that request and acknowledges what it knows. Here the acknowledgement gets the tasks as well,
and their states follow it: each once at first, then after changes.

Source: SEP-2663, extension `io.modelcontextprotocol/tasks`, "Task Status Notifications".
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp.shared.exceptions import MCPError

from mcpframe.frame.serving.asking_session import AskingSession
from mcpframe.frame.serving.running_task import RunningTask

LISTEN: Final = "subscriptions/listen"
_FILTER: Final = "taskIds"
_PAUSE_SECONDS: Final = 0.25
"""The least time between two states of tasks: a tool may report its progress at any rate."""


class TaskNotification(types.Notification[dict[str, Any], Literal["notifications/tasks"]]):
    """The state of a task, as `tasks/get` returns it."""

    method: Literal["notifications/tasks"] = "notifications/tasks"
    params: dict[str, Any]


def listened_tasks(params: Mapping[str, Any] | None) -> list[str] | None:
    """Return the ids of tasks in the parameters of `subscriptions/listen`; None if there is no list of them.

    Raises:
        MCPError: The list is of another form.
    """
    notifications = (params or {}).get("notifications")
    ids = notifications.get(_FILTER) if isinstance(notifications, Mapping) else None
    if ids is None:
        return None
    if not isinstance(ids, list) or not all(isinstance(each, str) for each in ids):
        raise MCPError(code=types.INVALID_PARAMS, message=f"{_FILTER} is a list of the ids of tasks.")
    return ids


async def telling(
    ctx: ServerRequestContext[Any, Any], call_next: CallNext, tasks: Sequence[RunningTask]
) -> HandlerResult:
    """Answer `subscriptions/listen`, and send the states of tasks meanwhile.

    Raises:
        Exception: As the SDK's handler raises.
    """
    session = _Listening(ctx.session, [task.id for task in tasks])
    sending = asyncio.ensure_future(_send(ctx, session, tasks))
    try:
        return await call_next(replace(ctx, session=session))
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)  # one is that of a stream whose client has left


async def _send(ctx: ServerRequestContext[Any, Any], session: _Listening, tasks: Sequence[RunningTask]) -> None:
    await session.acknowledged.wait()
    changed = asyncio.Event()
    pending = {task.id: task for task in tasks}

    def hears(task: RunningTask) -> Callable[[], None]:
        def hear() -> None:
            pending[task.id] = task
            changed.set()

        return hear

    ends = [task.changes.add(hears(task)) for task in tasks]
    try:
        while True:
            for task in [pending.pop(id_) for id_ in tuple(pending)]:
                meta = {SUBSCRIPTION_ID_META_KEY: ctx.request_id}
                notification = TaskNotification(params={**task.state(), "_meta": meta})
                await session.send_notification(notification, ctx.request_id)  # type: ignore[arg-type]
            await asyncio.sleep(_PAUSE_SECONDS)
            await changed.wait()
            changed.clear()
    finally:
        for end in ends:
            end()


class _Listening(AskingSession):
    """The session of `subscriptions/listen`, whose acknowledgement also names tasks.

    Attributes:
        acknowledged: Set once that was sent; it has to be the first message of its stream.
    """

    def __init__(self, session: ServerSession, ids: Sequence[str]) -> None:
        super().__init__(session)
        self.acknowledged = asyncio.Event()
        self._ids = ids

    async def send_notification(
        self, notification: types.ServerNotification, related_request_id: types.RequestId | None = None
    ) -> None:
        """Send a notification; see `ServerSession`."""
        if not isinstance(notification, types.SubscriptionsAcknowledgedNotification):
            await super().send_notification(notification, related_request_id)
            return
        honored = notification.params.notifications.model_copy(update={_FILTER: list(self._ids)})
        params = notification.params.model_copy(update={"notifications": honored})
        await super().send_notification(notification.model_copy(update={"params": params}), related_request_id)
        self.acknowledged.set()
