"""The displayed page of a UI resource: its actions, size and render data."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mcpframe.frame.core import jsonrpc
from mcpframe.frame.core.errors import StateError, UiError
from mcpframe.frame.core.events import SessionBegun
from mcpframe.frame.dialects.mcp_ui.further_roles import EmbedderAct
from mcpframe.frame.dialects.mcp_ui.messages import PROGRESS, SIZE_CHANGE
from mcpframe.frame.hosting.policy import is_model_only, parse_link
from mcpframe.frame.hosting.shown_frame import ShownFrame
from mcpframe.frame.hosting.view_server import ViewServer
from mcpframe.frame.session.host_messages import plain
from mcpframe.frame.waiting.answers import AnswerRefused, Answers

if TYPE_CHECKING:
    from mcp import Client

    from mcpframe.frame.session.session import Session

Json = Mapping[str, Any]
Handler = Callable[..., Any]

MOST = 100
"""The most actions of one page that are handled at once."""


class NotHandled(AnswerRefused):
    """An action that this host does not handle."""

    def __init__(self, reason: str) -> None:
        super().__init__(jsonrpc.METHOD_NOT_FOUND, reason)


@dataclass(frozen=True, slots=True)
class UiAction:
    """An action of a page.

    Attributes:
        kind: `"tool"`, `"intent"`, `"prompt"`, `"link"`, `"notify"` or `"ui-request-data"`.
        payload: its payload as posted; the `url` of a link is normalized as browsers do.
        id: its id; None if the page waits for no answer.
    """

    kind: str
    payload: Json
    id: jsonrpc.RequestId | None = None


@dataclass(frozen=True, kw_only=True)
class Actions:
    """The functions that handle actions; None for actions that are not. See `UiHost`."""

    client: Client | None = None
    on_tool: Handler | None = None
    on_intent: Handler | None = None
    on_prompt: Handler | None = None
    on_link: Handler | None = None
    on_notify: Handler | None = None
    on_data: Handler | None = None
    on_action: Handler | None = None

    @property
    def handles(self) -> bool:
        """Whether any action is handled."""
        functions = (self.on_tool, self.on_intent, self.on_prompt, self.on_link, self.on_notify, self.on_data)
        return self.client is not None or any(function is not None for function in (*functions, self.on_action))

    async def handle(self, asked: UiAction) -> Any:
        """Return the answer to an action.

        Raises:
            NotHandled: if no function handles it.
        """
        action, content = asked.kind, asked.payload
        params = content.get("params") or {}
        if action == "tool" and self.on_tool is None and self.client is not None:
            return await self._call_tool(self.client, content["toolName"], dict(params))
        if action == "link":
            try:
                content = {**content, "url": parse_link(content["url"])}
            except ValueError as error:
                raise NotHandled(str(error)) from None
            asked = replace(asked, payload=content)
        known: dict[str, tuple[Handler | None, tuple[Any, ...]]] = {
            "tool": (self.on_tool, (content.get("toolName"), params)),
            "intent": (self.on_intent, (content.get("intent"), params)),
            "prompt": (self.on_prompt, (content.get("prompt"),)),
            "link": (self.on_link, (content.get("url"),)),
            "notify": (self.on_notify, (content.get("message"),)),
            "ui-request-data": (self.on_data, (content.get("requestType"), params)),
        }
        function, arguments = known[action]
        if function is None:
            function, arguments = self.on_action, (asked,)
        if function is None:
            raise NotHandled(f"This host does not handle {action!r}.")
        answer = function(*arguments)
        return await answer if inspect.isawaitable(answer) else answer

    @cached_property
    def _server(self) -> ViewServer:
        """The client's server, whose tools are listed once: at the first call, as the client may connect later."""
        assert self.client is not None
        return ViewServer(self.client)

    async def _call_tool(self, client: Client, name: str, arguments: dict[str, Any]) -> Any:
        definition = await self._server.tool(name)
        if definition is not None and is_model_only(definition):
            raise NotHandled(f"The tool {name[:200]} is for models only, not for pages.")
        return await client.call_tool(name, arguments)


class ShownUi:
    """A displayed page.

    Attributes:
        closed: set when its window is gone, when a document at an opaque origin was replaced, or when the host has
            removed it.
        frame: its frame.
    """

    def __init__(self, actions: Actions, axes: Sequence[str]) -> None:
        """Created by `UiHost.show`."""
        self.closed = asyncio.Event()
        self.frame = ShownFrame()
        self._actions = actions
        self._axes = axes
        self._answers = Answers(self._post, MOST)

    @property
    def size(self) -> tuple[float | None, float | None]:
        """The width and height that the page reported last; None if it has not."""
        return self.frame.size

    @property
    def session(self) -> Session:
        """The session with it."""
        return self.frame.session

    def render(self, data: Json) -> None:
        """Replace the render data, and send it to the page now and at each request.

        Raises:
            StateError: once the page is not shown any more.
        """
        self.session.act(EmbedderAct.RENDER, plain(data))

    def loaded(self) -> None:
        """Send the render data once the page has loaded."""
        with suppress(StateError):
            self.session.act(EmbedderAct.LOADED)

    def close(self) -> None:
        """Cancel the actions in progress."""
        self.closed.set()
        self.frame.stop_resizing()
        self._answers.close()

    # session.Intercept

    def begun(self, session: Session, event: SessionBegun) -> None:
        """Do nothing at the page's first message."""

    def take(self, message: Json) -> bool:
        """Handle an action of the page, or its size."""
        action, content, id_ = message["method"], message.get("params") or {}, message.get("id")
        if action == SIZE_CHANGE:
            self.frame.follow(content, axes=self._axes)
            return True
        if not self._actions.handles:
            return True
        if self._answers.begin(id_, action, self._handle(UiAction(action, content, id_))):
            token = {} if id_ is None else {"progressToken": id_, "progress": 0}
            self._post({"jsonrpc": "2.0", "method": PROGRESS, "params": token})
        return True

    async def _handle(self, action: UiAction) -> Json:
        try:
            return {"response": plain(await self._actions.handle(action))}
        except UiError as error:  # raised by the host's code for the page
            raise AnswerRefused(jsonrpc.INTERNAL_ERROR, str(error)) from error

    def _post(self, message: Json) -> None:
        with suppress(StateError):
            self.session.post(message)
