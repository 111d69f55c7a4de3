"""Tools of other SDKs' servers at a document's `modelContext`. With mcp 1.x and each major version of fastmcp."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import anyio

from mcpframe.frame.compat import sdk
from mcpframe.frame.webmcp.offering import Offering
from tests.support.fake_model_context import FakeModelContext

FASTMCP = sdk.has_fastmcp() if find_spec("fastmcp") else False


def server() -> Any:
    if FASTMCP:
        from fastmcp import FastMCP

        made = FastMCP("tools")
    else:
        from mcp.server.fastmcp import FastMCP as Sdk  # type: ignore[attr-defined]

        made = Sdk("tools")

    @made.tool()
    def add(a: int, b: int) -> int:
        return a + b

    @made.tool()
    def fail() -> str:
        raise ValueError("no luck")

    @made.tool()
    async def hang() -> str:
        await anyio.sleep_forever()
        return ""

    return made


async def test_tools_of_another_sdk() -> None:
    from mcpframe.frame.serving import other_server

    place, target = FakeModelContext(), server()
    other = other_server
    offer = Offering(place, other.messages(), lambda read, write: other.serve(target, read, write))
    async with offer:
        await place.until("add", "fail", "hang")
        assert place.tools["add"]["inputSchema"]["required"] == ["a", "b"]
        assert (await place.call("add", {"a": 2, "b": 3}))["content"][0]["text"] == "5"
        failed = await place.call("fail")
        assert failed["isError"]
        assert "no luck" in failed["content"][0]["text"]
        for bad in ({"a": 2}, {"a": 2, "b": "three"}):
            result = await place.call("add", bad)
            assert result["isError"]
            assert "b" in result["content"][0]["text"]
        with anyio.move_on_after(0.05):
            await place.call("hang")
        assert (await place.call("add", {"a": 1, "b": 1}))["content"][0]["text"] == "2"
    assert place.tools == {}
