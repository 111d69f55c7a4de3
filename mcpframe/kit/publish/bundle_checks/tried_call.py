"""The call of a check: a tool with sample arguments, while neither a user nor a model is there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp import Client, InputRequiredRoundsExceededError
from mcp.shared.exceptions import MCPError

from mcpframe.frame.core.errors import McpFrameError
from mcpframe.kit.publish.bundle_checks.findings import Finding, error, warning
from mcpframe.kit.publish.view_checks.samples import NoSample, sample


class Absent:
    """The answers of a client without a user and a model: each request is refused, and noted.

    Attributes:
        asked: What the tools of a call have asked for: `user` and `model`.
    """

    def __init__(self) -> None:
        self.asked: set[str] = set()

    async def elicit(self, context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        """Cancel a question; a callback of `mcp.Client`."""
        self.asked.add("user")
        return types.ElicitResult(action="cancel")

    async def sample(self, context: object, params: types.CreateMessageRequestParams) -> types.ErrorData:
        """Refuse to run a model; a callback of `mcp.Client`."""
        self.asked.add("model")
        return types.ErrorData(code=types.INVALID_REQUEST, message="A check has no model.")


@dataclass(frozen=True)
class TriedCall:
    """A call, and what it has shown.

    Attributes:
        tool: The tool that has answered; empty if none has.
        milliseconds: The time until its answer.
        asking: The tools that were left, as they ask a user or a model.
        findings: What keeps a tool from answering.
    """

    tool: str = ""
    milliseconds: float = 0.0
    asking: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


async def try_call(client: Client, tools: Sequence[Mapping[str, Any]], absent: Absent, patience: float) -> TriedCall:
    """Call the first tool that has sample arguments, and asks nobody.

    Args:
        client: A client with the callbacks of `absent`.
        tools: The tools, as `tools/list` returns them.
        absent: The client's answers.
        patience: Seconds for the answer of each tool. A slow tool is no error: samples may be the longest work it has.
    """
    asking: list[str] = []
    for tool in to_be_tried(tools):
        try:
            arguments = sample(tool["inputSchema"])
        except NoSample:
            continue
        name, began = tool["name"], time.monotonic()
        absent.asked.clear()
        reason = ""
        try:
            async with asyncio.timeout(patience):
                await client.call_tool(name, arguments)
        except TimeoutError:
            if not absent.asked:
                return TriedCall(asking=tuple(asking), findings=(_slow(name, patience),))
        except (McpFrameError, MCPError, InputRequiredRoundsExceededError) as problem:
            reason = str(problem).partition("\n")[0].rstrip(".")
        if absent.asked:
            asking.append(name)
        elif reason:
            remedy = "Call it with `mcpframe call`, which shows what the page logs."
            finding = error(f"tool {name}", f"A call fails ({reason}).", remedy)
            return TriedCall(asking=tuple(asking), findings=(finding,))
        else:
            return TriedCall(name, (time.monotonic() - began) * 1000, tuple(asking))
    return TriedCall(asking=tuple(asking))


def _slow(name: str, patience: float) -> Finding:
    return warning(
        f"tool {name}",
        f"A call with sample arguments has not answered within {patience:g} s, so no call was timed.",
        "Wait longer with --timeout. If its work takes that long, let it report progress: clients give up silent ones.",
    )


def to_be_tried(tools: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the tools that a check may call: those that change nothing first, and no destructive ones."""
    hints = [(tool, tool.get("annotations") or {}) for tool in tools]
    read_only = [tool for tool, hint in hints if hint.get("readOnlyHint")]
    others = [tool for tool, hint in hints if not hint.get("readOnlyHint") and not hint.get("destructiveHint")]
    return read_only + others
