"""The requests of a view: checked, and passed to its server or to the host's functions (`Hooks`)."""

from __future__ import annotations

import base64
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from mcpframe.frame.core import jsonrpc
from mcpframe.frame.hosting.policy import parse_link
from mcpframe.frame.hosting.view_server import ViewServer
from mcpframe.frame.session.host_messages import plain
from mcpframe.frame.waiting.answers import AnswerRefused

log = logging.getLogger(__name__)

Json = Mapping[str, Any]
LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_KINDS = {"text": "text", "image": "data", "audio": "data", "resource": "resource", "resource_link": "uri"}
"""The content blocks of MCP, each with its required member."""
Consent = bool | None | Awaitable[bool | None]
"""False declines. True and None mean that it was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """The functions of one host, called before a view's request has any effect outside of it; see `AppHost`.

    None for a function that the host does not offer. Each may be async.
    """

    on_link: Callable[[str], Consent] | None = None
    on_message: Callable[[Sequence[Json]], Consent] | None = None
    on_download: Callable[[Sequence[Json]], Consent] | None = None
    on_model_context: Callable[[Sequence[Json], Json | None], Consent] | None = None
    on_display_mode: Callable[[str], str | Awaitable[str | None] | None] | None = None
    on_sampling: Callable[[Json], Any] | None = None
    on_log: Callable[[str, Any, str | None], None] | None = None
    on_tools_changed: Callable[[], None] | None = None
    on_teardown_request: Callable[[], None] | None = None

    @property
    def capabilities(self) -> dict[str, Json]:
        """The part of `hostCapabilities` that these functions offer."""
        blocks: Json = {kind: {} for kind in ("text", "image", "audio", "resource", "resourceLink")}
        offered: dict[str, tuple[object, Json]] = {
            "openLinks": (self.on_link, {}),
            "downloadFile": (self.on_download, {}),
            "message": (self.on_message, blocks),
            "updateModelContext": (self.on_model_context, {**blocks, "structuredContent": {}}),
            "sampling": (self.on_sampling, {}),
            "logging": (self.on_log, {}),
        }
        return {name: value for name, (hook, value) in offered.items() if hook is not None}


async def settled(value: Any) -> Any:
    """Return a hook's answer, awaited if the hook is async."""
    return await value if inspect.isawaitable(value) else value


class Frame(Protocol):
    """The view's frame, as its requests need it."""

    @property
    def display_modes(self) -> tuple[str, ...]:
        """The display modes that host and view have in common."""

    @property
    def display_mode(self) -> str:
        """The display mode."""

    def change_context(self, changes: Json) -> None:
        """Change members of the host's context."""

    def notify(self, method: str, params: Json) -> None:
        """Send the view a notification."""

    def resized(self, size: Json) -> None:
        """Apply the size that the view reports."""


class ViewRequests:
    """A view's requests and notifications: `host_messages.Handler`."""

    def __init__(self, server: ViewServer, hooks: Hooks, frame: Frame) -> None:
        self._server = server
        self._hooks = hooks
        self._frame = frame
        offered: dict[str, tuple[object, Callable[[Json], Awaitable[Json]]]] = {
            "ping": (True, self._ping),
            "ui/open-link": (hooks.on_link, self._open_link),
            "ui/message": (hooks.on_message, self._message),
            "ui/download-file": (hooks.on_download, self._download),
            "ui/update-model-context": (hooks.on_model_context, self._model_context),
            "ui/request-display-mode": (True, self._display_mode),
            "sampling/createMessage": (hooks.on_sampling, self._sampling),
        }
        self._own = {method: answer for method, (hook, answer) in offered.items() if hook is not None}

    def asked(self, method: str, params: Json) -> Awaitable[Json]:
        """Return an awaitable of the answer to a request of the view."""
        if self._server.answers(method):
            return self._server.answer(method, params, self._progress(params))
        answer = self._own.get(method)
        return _unknown(method) if answer is None else answer(params)

    def notified(self, method: str, params: Json) -> bool:
        """Handle a notification of the view."""
        hooks = self._hooks
        try:
            if method == "ui/notifications/size-changed":
                self._frame.resized(params)
            elif method == "ui/notifications/request-teardown" and hooks.on_teardown_request:
                hooks.on_teardown_request()
            elif method == "notifications/tools/list_changed" and hooks.on_tools_changed:
                hooks.on_tools_changed()
            elif method == "notifications/message" and hooks.on_log and params.get("level") in LOG_LEVELS:
                logger = params.get("logger")
                hooks.on_log(params["level"], params.get("data"), logger if isinstance(logger, str) else None)
        except Exception:
            log.exception("The host's function for %s has failed", method)
        return True

    def ended(self) -> None:
        """Do nothing at the end of the session."""

    def _progress(self, params: Json) -> Callable[[float, float | None, str | None], None] | None:
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, Mapping) else None
        if not isinstance(token, str | int) or isinstance(token, bool):
            return None

        def report(progress: float, total: float | None, message: str | None) -> None:
            content = {"progressToken": token, "progress": progress, "total": total, "message": message}
            self._frame.notify("notifications/progress", content)

        return report

    async def _ping(self, _: Json) -> Json:
        return {}

    async def _open_link(self, params: Json) -> Json:
        url = _link(params.get("url"))
        assert self._hooks.on_link
        return _consented(await settled(self._hooks.on_link(url)))

    async def _message(self, params: Json) -> Json:
        if params.get("role") != "user":
            _refuse("A view speaks for its user only: the role must be 'user'.")
        assert self._hooks.on_message
        return _consented(await settled(self._hooks.on_message(_blocks(params.get("content")))))

    async def _download(self, params: Json) -> Json:
        contents = _blocks(params.get("contents"))
        if not contents:
            _refuse("There is nothing to download.")
        contents = [_checked_file(block) for block in contents]
        assert self._hooks.on_download
        return _consented(await settled(self._hooks.on_download(contents)))

    async def _model_context(self, params: Json) -> Json:
        content, structured = params.get("content"), params.get("structuredContent")
        if not isinstance(structured, dict | None):
            _refuse("structuredContent must be an object.")
        assert self._hooks.on_model_context
        blocks = [] if content is None else _blocks(content)
        if await settled(self._hooks.on_model_context(blocks, structured)) is False:
            raise AnswerRefused(jsonrpc.INVALID_REQUEST, "The host declined to change the model's context.")
        return {}

    async def _display_mode(self, params: Json) -> Json:
        mode, hook = params.get("mode"), self._hooks.on_display_mode
        if not isinstance(mode, str):
            _refuse("The mode must be a text.")
        if hook is not None and mode in self._frame.display_modes and mode != self._frame.display_mode:
            chosen = await settled(hook(mode))
            if chosen in self._frame.display_modes:
                self._frame.change_context({"displayMode": chosen})
        return {"mode": self._frame.display_mode}

    async def _sampling(self, params: Json) -> Json:
        assert self._hooks.on_sampling
        answer: Json = plain(await settled(self._hooks.on_sampling(params)))
        return answer


async def _unknown(method: str) -> NoReturn:
    raise AnswerRefused(jsonrpc.METHOD_NOT_FOUND, f"This host does not offer {method[:200]}.")


def _refuse(why: str) -> NoReturn:
    raise AnswerRefused(jsonrpc.INVALID_PARAMS, why)


def _consented(answer: Any) -> Json:
    return {"isError": True} if answer is False else {}


def _blocks(content: Any) -> list[Json]:
    """Return the content blocks of a message; the seed's form has a single block in place of the list."""
    blocks = [content] if isinstance(content, dict) else content
    if not isinstance(blocks, list):
        _refuse("The content must be a list of content blocks.")
    for block in blocks:
        needed = _KINDS.get(str(block.get("type"))) if isinstance(block, dict) else None
        if needed is None or needed not in block:
            _refuse("The content must be a list of content blocks of MCP.")
    return blocks


def _checked_file(block: Json) -> Json:
    """Return a file to download: a resource with its content, or a link that a host may open. Rejects anything else."""
    if block["type"] == "resource_link":
        return {**block, "uri": _link(block["uri"])}
    resource = block.get("resource")
    if block["type"] != "resource" or not isinstance(resource, dict) or not isinstance(resource.get("uri"), str):
        _refuse("A file to download is a resource, or a link to one.")
    if isinstance(resource.get("text"), str):
        return block
    try:
        base64.b64decode(str(resource["blob"]), validate=True)
    except (KeyError, ValueError):
        _refuse("A file to download has a text, or a blob in base64.")
    return block


def _link(url: Any) -> str:
    try:
        return parse_link(url)
    except ValueError as error:
        _refuse(str(error))
