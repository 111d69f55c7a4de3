"""Everything that MCP does crosses the bridge: one body for both transports and both eras."""

from __future__ import annotations

import anyio
import mcp_types as types
import pytest
from mcp.client.subscriptions import ToolsListChanged
from mcp.shared.exceptions import MCPDeprecationWarning

from tests.bridge.clients import BridgedClient
from tests.bridge.programs import PATIENCE


async def test_calls_and_results_are_those_of_the_server(client: BridgedClient) -> None:
    if client.era == "legacy":
        info = client.client.server_info
        assert info is not None
        assert (info.name, info.version) == ("everything", "1.2.3")
    text = 'é🐍 "quoted"\n\u2028 \\ 0'
    assert await client.text("echo", text=text) == text
    weather = await client.client.call_tool("weather", {"city": "Oslo"})
    assert weather.structured_content == {"city": "Oslo", "degrees": -3.5, "sunny": True}
    failed = await client.client.call_tool("fail", {"message": "no such thing"})
    assert failed.is_error
    assert isinstance(failed.content[0], types.TextContent)
    assert failed.content[0].text == "Error executing tool fail: no such thing"


async def test_a_large_message_crosses_in_pieces(client: BridgedClient) -> None:
    large = not client.over_http and client.era == "modern"  # once; over HTTP the client takes no event over 1 MiB
    text = "äöü" * (3_000_000 if large else 50_000)
    assert await client.text("echo", text=text) == text


async def test_resources_prompts_and_completion(client: BridgedClient) -> None:
    mcp = client.client
    with anyio.fail_after(PATIENCE):
        [motto] = (await mcp.read_resource("text://motto")).contents
        assert isinstance(motto, types.TextResourceContents)
        assert motto.text == "Ünïcödé ✓ 🐍"
        prompt = await mcp.get_prompt("trip", {"city": "Oslo"})
        assert prompt.messages[0].content == types.TextContent(type="text", text="Plan 2 days in Oslo.")
        completed = await mcp.complete(types.PromptReference(name="trip"), {"name": "city", "value": "o"})
    assert completed.completion.values == ["Oslo", "Osaka"]


async def test_progress(client: BridgedClient) -> None:
    assert await client.text("count", to=3) == "counted to 3"
    assert [await client.next("progress") for _ in range(3)] == [1, 2, 3]


async def test_cancellation(client: BridgedClient) -> None:
    name = f"at the bridge, {id(client)}"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: client.text("wait", name=name))
        await client.next("progress")
        tasks.cancel_scope.cancel()
    with anyio.fail_after(PATIENCE):
        while name not in str((await client.client.call_tool("cancelled_waits")).content):
            await anyio.lowlevel.checkpoint()


async def test_the_server_asks_the_client(client: BridgedClient) -> None:
    assert await client.text("book", train="the night train") == "2 seats on the night train, window True"
    assert await client.next("asked") == "How many seats on the night train?"
    assert await client.text("sample", question="What is the answer?") == "deep: 42"
    assert await client.text("roots") == "file:///home"


async def test_what_is_printed_is_logged(client: BridgedClient) -> None:
    if client.era == "legacy":
        with pytest.warns(MCPDeprecationWarning):
            await client.client.set_logging_level("info")
        await client.text("shout", text="hello")
    else:
        await client.client.call_tool("shout", {"text": "hello"}, meta={types.LOG_LEVEL_META_KEY: "info"})
    assert await client.next("log") == "printed hello"


async def test_lists_change(client: BridgedClient) -> None:
    name = f"grown_{id(client)}"
    if client.era == "legacy":
        await client.text("grow", name=name)
        assert await client.next("changed") == "tools"
        return
    async with client.client.listen(tools_list_changed=True) as events:
        await client.text("grow", name=name)
        with anyio.fail_after(PATIENCE):
            assert isinstance(await anext(aiter(events)), ToolsListChanged)


async def test_calls_at_the_same_time(client: BridgedClient) -> None:
    texts: list[str] = []

    async def call(number: int) -> None:
        texts.append(await client.text("echo", text=f"number {number}"))

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(call, number)
    assert sorted(texts) == sorted(f"number {number}" for number in range(20))
