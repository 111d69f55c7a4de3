"""What the benchmark calls: an echo, the parts of a call's time, and the figures of this Python's memory."""

import gc
import json
import time

import pyodide_js
from alone import sdk_alone
from tracing import Trace

from mcpframe import FrameServer
from mcpframe.frame.browser.window import own_origin, own_window

server = FrameServer("echo", version="0.1.0")

_module = pyodide_js._module
_mallinfo = _module._malloc(40)  # ten 32-bit numbers
_USED = 7  # `uordblks`: bytes in use


@server.tool(structured_output=False)
def echo(text: str) -> str:
    """Return the text back."""
    return text


@server.tool(structured_output=False)
async def parts(count: int, length: int) -> str:
    """Return what a call takes of which nothing is mcpframe's, in milliseconds, as JSON.

    `sdk` is a call of the official SDK's own server in memory; `post` is one `postMessage` to the page's own window.
    """
    window, origin = own_window(), own_origin()
    text = json.dumps({"type": "benchmark", "text": "x" * length})  # of no protocol
    start = time.perf_counter()
    for _ in range(count):
        window.post(text, origin)
    post = (time.perf_counter() - start) * 1000 / count
    return json.dumps({"sdk": await sdk_alone(count, length), "post": post})


_traces = []


@server.tool(structured_output=False)
def trace() -> str:
    """Begin to trace the calls of `echo`."""
    _traces.append(Trace(server._tool_manager.get_tool("echo")))
    return "ok"


@server.tool(structured_output=False)
def traced() -> str:
    """End the trace, and return the parts of a call, in milliseconds, as JSON."""
    return json.dumps(_traces.pop().end())


@server.tool(structured_output=False)
def memory() -> str:
    """Return the memory in use, after collecting garbage, as JSON.

    `heap` is the size of the WebAssembly memory and `used` what is allocated of it, in bytes; `objects` is how many
    Python objects the collector tracks; `references` is how many JavaScript objects Python holds; `proxies` is how many
    proxies were made and not destroyed since `trace_proxies`.
    """
    gc.collect()
    _module._mallinfo(_mallinfo)
    return json.dumps(
        {
            "heap": _module.HEAP8.length,
            "used": _module.HEAP32[_mallinfo // 4 + _USED],
            "objects": len(gc.get_objects()),
            "references": _module._hiwire_num_refs(),
            "proxies": _module.pyproxy_alloc_map.size,
        }
    )


@server.tool(structured_output=False)
def trace_proxies() -> str:
    """Begin to count proxies. Those that are counted are kept from being collected, so this comes last."""
    _module.enable_pyproxy_allocation_tracing()
    return "ok"
