"""The two official clients around a framed server, behind one small interface: one test body per feature for both.

`PythonClient` is `mcp.Client` in CPython over a `PlaywrightWindow`; `TypeScriptClient` is npm's
`@modelcontextprotocol/client` in a host page over `static/host/host.js`. Results are what crosses the wire, as JSON.
"""

from __future__ import annotations

import asyncio
import uuid
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any, Literal
from unittest import mock
from urllib.parse import urlsplit

import anyio
import anyio.abc
import mcp_types as types
from mcp import Client
from mcp.client.context import ClientRequestContext
from mcp.client.subscriptions import PromptsListChanged, ResourcesListChanged, ToolsListChanged
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import LoggingLevel
from mcp_types.version import LATEST_HANDSHAKE_VERSION
from playwright.async_api import Page
from pydantic import BaseModel

from mcpframe.frame.core.allowed_origins import parse_allowed_origins
from mcpframe.frame.core.connection import Candidate, Connection
from mcpframe.frame.core.places import Framing
from mcpframe.frame.dialects.sep.offers import HostOffer
from mcpframe.frame.dialects.sep.roles import OUTER_TRANSPORT
from mcpframe.frame.session.session import transport
from mcpframe.kit.browser.playwright_window import PlaywrightWindow
from tests.browser.outers import PATIENCE

Era = Literal["legacy", "modern", "auto"]
"""The handshake, a revision without one, or whichever the server has."""
JSON = dict[str, Any]

BOOT_PATIENCE = 90.0
"""How long a page may take from its first byte to the end of the handshake, in seconds, on a busy machine."""


class McpClient(ABC):
    """An MCP client outside, connected to a server in a frame of this page."""

    def __init__(self, page: Page, era: Era) -> None:
        """Be a client of this protocol era in this page of the host's origin."""
        self.page = page
        self.era = era
        self.version = ""

    @abstractmethod
    async def open(self, url: str, revision: str = LATEST_HANDSHAKE_VERSION) -> None:
        """Frame the page at `url` and connect to the server in it.

        Args:
            url: The page.
            revision: What the client asks for in a handshake.
        """

    @abstractmethod
    async def close(self) -> None:
        """End the session; the client may be opened again."""

    @abstractmethod
    async def capabilities(self) -> JSON:
        """Return the server's capabilities."""

    @abstractmethod
    async def request(self, method: str, params: Mapping[str, Any] | None = None) -> JSON:
        """Make a request other than `tools/call`, and give its result."""

    @abstractmethod
    async def call(self, tool: str, **arguments: Any) -> JSON:
        """Call a tool with progress asked for, and give its result."""

    @abstractmethod
    async def call_and_cancel(self, tool: str, **arguments: Any) -> None:
        """Call a tool, and cancel the call when its first progress arrives."""

    @abstractmethod
    async def set_log_level(self, level: LoggingLevel) -> None:
        """Ask for logs the way the era has it."""

    @abstractmethod
    async def answer(self, method: str, result: JSON) -> None:
        """Set what the client answers when the server asks it."""

    @abstractmethod
    async def next(self, kind: str) -> Any:
        """Wait for the next "progress", "log", "asked" or "changed", and forget it."""

    @abstractmethod
    async def forget(self) -> None:
        """Forget what was noted so far."""


class TypeScriptClient(McpClient):
    """The client of `@modelcontextprotocol/client`, in the host page."""

    async def open(self, url: str, revision: str = LATEST_HANDSHAKE_VERSION) -> None:
        await self.page.wait_for_function("() => window.mcp")
        with anyio.fail_after(BOOT_PATIENCE):
            self.version = await self.page.evaluate("given => mcp.connect(...given)", [url, self.era, revision])

    async def close(self) -> None:
        await self._evaluate("mcp.client.close()")

    async def capabilities(self) -> JSON:
        result: JSON = await self._evaluate("mcp.client.getServerCapabilities()")
        return result

    async def _evaluate(self, script: str, argument: Any = None) -> Any:
        with anyio.fail_after(PATIENCE):
            return await self.page.evaluate(script, argument)

    async def request(self, method: str, params: Mapping[str, Any] | None = None) -> JSON:
        verbs = {
            "tools/list": "listTools",
            "resources/list": "listResources",
            "resources/templates/list": "listResourceTemplates",
            "resources/read": "readResource",
            "prompts/list": "listPrompts",
            "prompts/get": "getPrompt",
            "completion/complete": "complete",
        }
        result: JSON = await self._evaluate(
            "([verb, params]) => mcp.client[verb](...(params ? [params] : []))", [verbs[method], params]
        )
        return result

    async def call(self, tool: str, **arguments: Any) -> JSON:
        result: JSON = await self._evaluate("([tool, args]) => mcp.call(tool, args)", [tool, arguments])
        return result

    async def call_and_cancel(self, tool: str, **arguments: Any) -> None:
        failure = await self._evaluate(
            """async ([tool, args]) => {
                const failure = mcp.failure(mcp.call(tool, args));
                await mcp.next("progress");
                mcp.abort.abort("enough");
                return failure;
            }""",
            [tool, arguments],
        )
        assert failure is not None

    async def set_log_level(self, level: LoggingLevel) -> None:
        await self._evaluate("level => mcp.setLogLevel(level)", level)

    async def answer(self, method: str, result: JSON) -> None:
        await self._evaluate("([method, result]) => mcp.answer(method, result)", [method, result])

    async def next(self, kind: str) -> Any:
        return await self._evaluate("kind => mcp.next(kind)", kind)

    async def forget(self) -> None:
        await self._evaluate("mcp.forget()")


class PythonClient(McpClient):
    """`mcp.Client` in CPython."""

    def __init__(self, page: Page, era: Era, stack: AsyncExitStack) -> None:
        super().__init__(page, era)
        self._stack = stack
        self._notes: list[tuple[str, Any]] = []
        self._changed = anyio.Event()
        self._answers: dict[str, JSON] = {}
        self._log_meta: Any = None

    async def open(self, url: str, revision: str = LATEST_HANDSHAKE_VERSION) -> None:
        self._session = await self._stack.enter_async_context(AsyncExitStack())
        parts = urlsplit(url)
        allowed = parse_allowed_origins([f"{parts.scheme}://{parts.netloc}"])
        connection = Connection([Candidate(OUTER_TRANSPORT, allowed, HostOffer(session_id=str(uuid.uuid4())))])
        window = await self._session.enter_async_context(PlaywrightWindow(self.page, Framing(url, visible=True)))
        self.client = Client(
            transport(connection, window),
            elicitation_callback=self._on_elicitation,
            list_roots_callback=self._on_roots,
            sampling_callback=self._on_sampling,
            logging_callback=self._on_log,
            message_handler=self._on_message,
            mode="2026-07-28" if self.era == "modern" else self.era,
        )
        async with asyncio.timeout(BOOT_PATIENCE):  # anyio's scopes would have to end before the client does
            with mock.patch("mcp.client.session.LATEST_HANDSHAKE_VERSION", revision):
                await self._session.enter_async_context(self.client)
        self.version = self.client.protocol_version
        if self.era == "modern":
            tasks = await self._session.enter_async_context(anyio.create_task_group())
            await tasks.start(self._listen)
            self._session.callback(tasks.cancel_scope.cancel)

    async def close(self) -> None:
        await self._session.aclose()

    async def capabilities(self) -> JSON:
        return _json(self.client.server_capabilities)

    def _note(self, kind: str, value: Any) -> None:
        self._notes.append((kind, value))
        self._changed.set()

    async def _listen(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        lists = {ToolsListChanged: "tools", PromptsListChanged: "prompts", ResourcesListChanged: "resources"}
        async with self.client.listen(
            tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
        ) as events:
            task_status.started()
            async for event in events:
                self._note("changed", lists[type(event)])

    async def _on_elicitation(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        self._note("asked", {"method": "elicitation/create", "params": _json(params)})
        return types.ElicitResult.model_validate(self._answers["elicitation/create"])

    async def _on_roots(self, context: ClientRequestContext) -> types.ListRootsResult:
        self._note("asked", {"method": "roots/list"})
        return types.ListRootsResult.model_validate(self._answers["roots/list"])

    async def _on_sampling(
        self, context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult:
        self._note("asked", {"method": "sampling/createMessage", "params": _json(params)})
        return types.CreateMessageResult.model_validate(self._answers["sampling/createMessage"])

    async def _on_log(self, params: types.LoggingMessageNotificationParams) -> None:
        self._note("log", _json(params))

    async def _on_message(self, message: Any) -> None:
        method = getattr(message, "method", "")
        if self.era == "legacy" and method.endswith("/list_changed"):
            self._note("changed", method.split("/")[1])

    async def _on_progress(self, progress: float, total: float | None, message: str | None) -> None:
        self._note("progress", {"progress": progress, "total": total, "message": message})

    async def request(self, method: str, params: Mapping[str, Any] | None = None) -> JSON:
        client, p = self.client, params or {}
        with anyio.fail_after(PATIENCE):
            match method:
                case "tools/list":
                    return _json(await client.list_tools())
                case "resources/list":
                    return _json(await client.list_resources())
                case "resources/templates/list":
                    return _json(await client.list_resource_templates())
                case "resources/read":
                    return _json(await client.read_resource(p["uri"]))
                case "prompts/list":
                    return _json(await client.list_prompts())
                case "prompts/get":
                    return _json(await client.get_prompt(p["name"], p["arguments"]))
                case "completion/complete":
                    is_prompt = p["ref"]["type"] == "ref/prompt"
                    kind = types.PromptReference if is_prompt else types.ResourceTemplateReference
                    return _json(await client.complete(kind.model_validate(p["ref"]), p["argument"]))
        raise AssertionError(f"{method} is not used by these tests")

    async def call(self, tool: str, **arguments: Any) -> JSON:
        with anyio.fail_after(PATIENCE):
            return await self._call(tool, arguments)

    async def _call(self, tool: str, arguments: JSON) -> JSON:
        return _json(
            await self.client.call_tool(tool, arguments, progress_callback=self._on_progress, meta=self._log_meta)
        )

    async def call_and_cancel(self, tool: str, **arguments: Any) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._call, tool, arguments)
            await self.next("progress")
            tasks.cancel_scope.cancel()

    async def set_log_level(self, level: LoggingLevel) -> None:
        if self.era == "modern":
            self._log_meta = {types.LOG_LEVEL_META_KEY: level}
        else:
            with warnings.catch_warnings(action="ignore", category=MCPDeprecationWarning):
                await self.client.set_logging_level(level)

    async def answer(self, method: str, result: JSON) -> None:
        self._answers[method] = result

    async def next(self, kind: str) -> Any:
        with anyio.fail_after(PATIENCE):
            while True:
                for entry in self._notes:
                    if entry[0] == kind:
                        self._notes.remove(entry)
                        return entry[1]
                self._changed = anyio.Event()
                await self._changed.wait()

    async def forget(self) -> None:
        self._notes.clear()


def _json(value: BaseModel) -> JSON:
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)
