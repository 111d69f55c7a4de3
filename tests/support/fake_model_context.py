"""A `modelContext` in this process: where tools are registered, and where they are called as a browser calls them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from mcpframe.frame.dialects.webmcp.tools import Rejected

Json = Mapping[str, Any]


class FakeModelContext:
    """Where tools are registered.

    Attributes:
        tools: the definitions, by name.
        exposed: to whom each is exposed.
        rejects: names that are rejected.
        makes_tools_of_forms: whether it has the declarative API, too.
    """

    def __init__(self, around: str = "") -> None:
        self.around = around
        self.makes_tools_of_forms = True
        self.tools: dict[str, Json] = {}
        self.exposed: dict[str, list[str]] = {}
        self.rejects: set[str] = set()
        self._execute: dict[str, Callable[[str], Coroutine[Any, Any, str]]] = {}
        self._changed = asyncio.Event()

    def embedder(self) -> str:
        return self.around

    def takes_forms(self) -> bool:
        return self.makes_tools_of_forms

    async def register(
        self, tool: Json, execute: Callable[[str], Coroutine[Any, Any, str]], exposed_to: Sequence[str]
    ) -> Callable[[], None]:
        name = tool["name"]
        if name in self.rejects or name in self.tools:
            raise Rejected("InvalidStateError", "Duplicate tool name")
        self.tools[name], self._execute[name], self.exposed[name] = tool, execute, list(exposed_to)
        self._changed.set()

        def unregister() -> None:
            del self.tools[name], self._execute[name], self.exposed[name]
            self._changed.set()

        return unregister

    async def until(self, *names: str) -> None:
        """Wait until these are the tools that are registered."""
        while set(self.tools) != set(names):
            self._changed.clear()
            await self._changed.wait()

    async def registered(self, name: str) -> None:
        """Wait until a tool is registered."""
        while name not in self.tools:
            self._changed.clear()
            await self._changed.wait()

    async def call(self, name: str, arguments: Any = None) -> Any:
        """Call a tool; text is passed as it is, other values as JSON."""
        text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
        return json.loads(await self._execute[name](text))
