"""The official SDK alone: one of its servers, called with JSON text in memory, in a page as in CPython."""

import asyncio
import json
import math
import time

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.shared.message import SessionMessage

_REVISION = "2025-11-25"


async def _echo(ctx, params: types.CallToolRequestParams) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=params.arguments["text"])])


async def sdk_alone(count: int, length: int) -> float:
    """Call a tool that returns its text so many times, one after another.

    Args:
        count: How often.
        length: The length of the text.

    Returns:
        How long each call took, in milliseconds.
    """
    server = Server("alone", on_call_tool=_echo)
    requests, read = anyio.create_memory_object_stream(math.inf)
    write, answers = anyio.create_memory_object_stream(math.inf)

    async def request(id_: int, method: str, params: dict) -> str:
        text = json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})
        requests.send_nowait(SessionMessage(types.jsonrpc_message_adapter.validate_json(text)))
        answer = await answers.receive()
        return answer.message.model_dump_json(by_alias=True, exclude_unset=True)

    serving = asyncio.ensure_future(server.run(read, write, server.create_initialization_options()))
    client = {"protocolVersion": _REVISION, "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}
    await request(0, "initialize", client)
    start = time.perf_counter()
    for number in range(count):
        text = f"{number}".rjust(length, "x")
        answer = await request(number + 1, "tools/call", {"name": "echo", "arguments": {"text": text}})
        assert text in answer, answer
    took = (time.perf_counter() - start) * 1000 / count
    requests.close()
    await serving
    answers.close()
    return took
