"""A server in a worker that is ended again and again: its globals tell which calls this worker has run."""

import asyncio
import gc
import json
from typing import NoReturn

import js
import mcp_types as types
import pyodide_js
from mcp.server.mcpserver import Context

from mcpframe import FrameServer

NOTE = "text://note"

server = FrameServer("soaked")
runs: list[str] = []
cancelled: list[str] = []


@server.resource(NOTE)
def note() -> str:
    """Return a text whose subscribers hear of changes."""
    return "a note"


@server.tool(structured_output=False)
async def change() -> str:
    """Notify the subscribers of the note."""
    await server.resource_updated(NOTE)
    return "changed"


@server.tool(structured_output=False)
def echo(text: str) -> str:
    """Return the text back."""
    return text


@server.tool(structured_output=False)
def fail(text: str) -> types.CallToolResult:
    """Fail without an exception: a traceback would fetch Python's sources, for which a loop stands still."""
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


@server.tool(structured_output=False)
async def count(to: int, ctx: Context) -> str:
    """Report progress."""
    for step in range(1, to + 1):
        await ctx.report_progress(step, to)
    return f"counted to {to}"


@server.tool(structured_output=False)
def keep(mark: str) -> str:
    """Keep a mark in a global variable."""
    runs.append(mark)
    return mark


@server.tool(structured_output=False)
async def hang(mark: str, ctx: Context) -> str:
    """Wait for ever, and keep the mark once that is cancelled."""
    await ctx.report_progress(0)
    try:
        await asyncio.Event().wait()
    finally:
        cancelled.append(mark)
    return "never"


@server.tool(structured_output=False)
async def spin(ctx: Context) -> str:
    """Compute for ever."""
    await ctx.report_progress(0)
    while True:
        pass


@server.tool(structured_output=False)
async def block(ctx: Context) -> str:
    """Block for ever without computing."""
    await _block(ctx)


@server.tool(structured_output=False)
async def limited(ctx: Context) -> str:
    """Block for ever, with a time limit in pyproject.toml."""
    await _block(ctx)


async def _block(ctx: Context) -> NoReturn:
    await ctx.report_progress(0)
    options = js.Object.fromEntries([["shared", True], ["initial", 1], ["maximum", 1]])
    while True:
        js.Atomics.wait(js.Int32Array.new(js.WebAssembly.Memory.new(options).buffer), 0, 0)


@server.tool(structured_output=False)
def state() -> str:
    """Return the globals of this worker, when it began, and its memory in bytes, as JSON."""
    gc.collect()
    memory = {"wasm": pyodide_js._module.HEAP8.length, "references": pyodide_js._module._hiwire_num_refs()}
    return json.dumps({"began": js.performance.timeOrigin, "runs": runs, "cancelled": cancelled, "memory": memory})
