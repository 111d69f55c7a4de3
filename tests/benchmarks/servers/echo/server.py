"""What the benchmark calls: an echo, and the figures of this Python's memory."""

import gc
import json

import pyodide_js

from mcpframe import FrameServer

server = FrameServer("echo", version="0.1.0")

_module = pyodide_js._module
_mallinfo = _module._malloc(40)  # ten 32-bit numbers
_USED = 7  # `uordblks`: bytes in use


@server.tool(structured_output=False)
def echo(text: str) -> str:
    """Return the text back."""
    return text


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
