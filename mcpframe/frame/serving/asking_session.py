"""The session of a request's handler: what it asks of its client reaches clients of every revision.

`ctx.elicit`, `ctx.session.create_message`, `ctx.session.list_roots` and `input()` all end in `send_request`. Up to
2025-11-25 that is a request of the server. A client of 2026-07-28 accepts none: the handler's call is answered with it
(`held_calls`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

import anyio
import mcp_types as types
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ValidationError

ResultT = TypeVar("ResultT", bound=BaseModel)
Ask = Callable[[Mapping[str, Any]], Awaitable[object]]
"""Answers the handler's call with a request, and returns what the client's next request has as its answer."""

_INSTEAD: Final = {
    "elicitation/create": "its user cannot be asked: make the answer an argument of the tool",
    "sampling/createMessage": "its model cannot be asked: return what the model needs, and let it go on from there",
    "roots/list": "its folders are not known: make the folder an argument of the tool",
}
"""The requests to a client, and the advice for one that cannot be asked."""


class AskingSession(ServerSession):
    """The session of the request that is being answered: after an answer of the client, that of its next request.

    Args:
        session: The session of the first request.
        ask: See `Ask`; None if the request cannot be answered with another.
    """

    def __init__(self, session: ServerSession, ask: Ask | None = None) -> None:
        self.follow(session)
        self._ask = ask

    def follow(self, session: ServerSession) -> None:
        """Send what follows (progress, logs) on the channel of this session's request."""
        vars(self).update(vars(session))

    @property
    def can_send_request(self) -> bool:
        """Whether the client can be asked."""
        return self._ask is not None or super().can_send_request

    async def send_request(
        self,
        request: types.ServerRequest,
        result_type: type[ResultT],
        request_read_timeout_seconds: float | None = None,
        *args: Any,
        **options: Any,
    ) -> ResultT:
        """Ask the client; see `ServerSession`.

        Raises:
            MCPError: The client has refused, or has not declared the capability; or the request that is being answered
                is none in which a client of 2026-07-28 can be asked.
            TypeError: The revision has no request of this form.
        """
        method = request.method
        if method not in _INSTEAD or self.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            try:
                return await super().send_request(request, result_type, request_read_timeout_seconds, *args, **options)
            except MCPError as error:
                missing = self._missing(request)
                if missing is None or self.client_capabilities is None:  # of a client without a handshake
                    raise
                raise missing from error
        if missing := self._missing(request):
            raise missing
        if self._ask is None:
            raise cannot_ask(method)
        try:
            with anyio.fail_after(request_read_timeout_seconds):
                answer = await self._ask(request.model_dump(by_alias=True, mode="json", exclude_none=True))
        except TimeoutError:
            text = f"The client has not answered {method} within {request_read_timeout_seconds} s."
            raise MCPError(code=types.REQUEST_TIMEOUT, message=text) from None
        try:
            return result_type.model_validate(answer, by_name=False)
        except ValidationError as error:
            if isinstance(request, types.ElicitRequest):
                return result_type.model_validate({"action": "cancel"})
            text = f"The client goes on without a valid answer to {method}."
            raise MCPError(code=types.INVALID_PARAMS, message=text) from error

    def _missing(self, request: types.ServerRequest) -> MCPError | None:
        """Return the error for a capability that the client does not have."""
        required, name = _required(request)
        if required is None or (self.check_client_capability(required) and self._takes_mode(request)):
            return None
        data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=required)
        return MCPError(
            code=types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            message=f"The client has not declared the capability {name}, so {_INSTEAD[request.method]}. "
            "A tool sees in ctx.client_capabilities what its client can do.",
            data=data.model_dump(by_alias=True, mode="json", exclude_none=True),
        )

    def _takes_mode(self, request: types.ServerRequest) -> bool:
        """Return whether the client takes this form of elicitation. `elicitation: {}` is that of forms alone."""
        if not isinstance(request, types.ElicitRequest):
            return True
        declared = self.client_capabilities.elicitation if self.client_capabilities else None
        if declared is None:
            return False
        return declared.url is not None if _is_address(request) else declared.form is not None or declared.url is None


def cannot_ask(method: str) -> MCPError:
    """Return the error of a request to the client where there is no call to answer with it."""
    return MCPError(
        code=types.INVALID_REQUEST,
        message=f"{method} cannot be sent here: a client of MCP 2026-07-28 is asked by a tool, a prompt or a resource, "
        "before it returns.",
    )


def _required(request: types.ServerRequest) -> tuple[types.ClientCapabilities | None, str]:
    if isinstance(request, types.ElicitRequest):
        elicitation = types.ElicitationCapability()
        if _is_address(request):
            elicitation.url = types.UrlElicitationCapability()
        name = "elicitation.url" if _is_address(request) else "elicitation"
        return types.ClientCapabilities(elicitation=elicitation), name
    if isinstance(request, types.CreateMessageRequest):
        return types.ClientCapabilities(sampling=types.SamplingCapability()), "sampling"
    if isinstance(request, types.ListRootsRequest):
        return types.ClientCapabilities(roots=types.RootsCapability()), "roots"
    return None, ""


def _is_address(request: types.ElicitRequest) -> bool:
    return isinstance(request.params, types.ElicitRequestURLParams)
