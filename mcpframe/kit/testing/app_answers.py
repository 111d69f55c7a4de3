"""The requests of a view to its host in a test: kept in order, and answered as configured by the test."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from mcp import Client

Json = Mapping[str, Any]
Answer: TypeAlias = "Json | Exception | Any | Callable[[dict[str, Any]], Any | Awaitable[Any]]"
"""A result, as an object or a model of the SDK; an exception, whose text and code become a JSON-RPC error; or a
function of the request's parameters, async or not, that returns one of them."""

Request = Literal[
    "call_tool",
    "list_tools",
    "read_resource",
    "list_resources",
    "list_resource_templates",
    "list_prompts",
    "create_message",
    "send_message",
    "update_model_context",
    "open_link",
    "download",
    "request_display_mode",
]
"""The requests of a view to its host, by the method of `session.host`."""
Told = Literal["size", "log", "request_teardown", "tools_changed"]
"""The notifications of a view to its host."""

_REQUESTS: tuple[str, ...] = get_args(Request)
_KINDS = (*_REQUESTS, *get_args(Told))
_DONE = ("send_message", "update_model_context", "open_link", "download")


class AppAnswers:
    """The answers of a test's host, and every request and notification that it has received.

    Attributes:
        failures: Exceptions of the test's own functions.
    """

    def __init__(self, display_modes: Callable[[], tuple[str, list[str]]]) -> None:
        """Start with the answers of a friendly host without a server.

        Args:
            display_modes: Returns the current display mode, and the available ones.
        """
        self.failures: list[Exception] = []
        self._answers: dict[str, Answer] = {name: {} for name in _DONE}
        self._answers["request_display_mode"] = self._choose
        self._display_modes = display_modes
        self._received: dict[str, list[dict[str, Any]]] = {name: [] for name in _KINDS}
        self._taken = dict.fromkeys(_KINDS, 0)
        self._changed = asyncio.Event()

    def set(self, name: str, answer: Answer) -> None:
        if name not in _REQUESTS:
            raise ValueError(f"A view asks its host for no {name!r}; it asks for {', '.join(_REQUESTS)}.")
        self._answers[name] = answer

    def use(self, client: Client) -> None:
        """Answer requests about the server with this client."""

        def paged(method: Callable[..., Any]) -> Answer:
            return lambda params: method(cursor=params.get("cursor"))

        self._answers |= {
            "call_tool": lambda params: client.call_tool(params["name"], params.get("arguments") or {}),
            "list_tools": paged(client.list_tools),
            "read_resource": lambda params: client.read_resource(params["uri"]),
            "list_resources": paged(client.list_resources),
            "list_resource_templates": paged(client.list_resource_templates),
            "list_prompts": paged(client.list_prompts),
        }

    def receive(self, name: str, params: dict[str, Any]) -> None:
        self._received[name].append(params)
        self._changed.set()

    async def of(self, name: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request: a `result`, or the text of an `error`."""
        if name not in self._answers:
            return {"error": f"The test has no answer to {name}: give one with app_host.answer({name!r}, …)."}
        answer = self._answers[name]
        try:
            if callable(answer):
                answer = answer(params)
                answer = await answer if inspect.isawaitable(answer) else answer
        except Exception as error:  # noqa: BLE001  the view gets an answer for any exception of a test
            if not _is_of_server(error):
                self.failures.append(error)
            answer = error
        if isinstance(answer, Exception):
            return {"error": str(answer) or type(answer).__name__, "code": getattr(answer, "code", None)}
        return {"result": plain(answer)}

    def received(self, name: str) -> list[dict[str, Any]]:
        return list(self._received[_known(name)])

    async def take(self, name: str, where: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the parameters of the next request or notification not taken yet; wait for it."""
        received = self._received[_known(name)]
        while True:
            while self._taken[name] < len(received):
                params = received[self._taken[name]]
                self._taken[name] += 1
                if where(params):
                    return params
            self._changed.clear()
            await self._changed.wait()

    def _choose(self, params: dict[str, Any]) -> Json:
        current, available = self._display_modes()
        return {"mode": params["mode"] if params.get("mode") in available else current}


def plain(value: Any) -> Any:
    """Return JSON values in place of models of the SDK, without members that are None."""
    return value.model_dump(mode="json", by_alias=True, exclude_none=True) if hasattr(value, "model_dump") else value


def _known(name: str) -> str:
    if name not in _KINDS:
        raise ValueError(f"A view asks or tells its host nothing named {name!r}; there are {', '.join(_KINDS)}.")
    return name


def _is_of_server(error: Exception) -> bool:
    """Return whether a client raised this because its server answered with an error."""
    from mcp import MCPError

    return isinstance(error, MCPError)
