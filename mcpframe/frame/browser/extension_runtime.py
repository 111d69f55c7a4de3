"""The extension's API in the hub's document: `runtime.ExtensionApi` over `static/extension/ports.js`.

Only numbers and JSON text cross between Python and JavaScript.
"""

from __future__ import annotations

from collections.abc import Callable

import js
from pyodide.ffi import JsException, create_proxy

from mcpframe.frame.browser.window import fetch_bytes


class ExtensionRuntime:
    def listen(self, deliver: Callable[[str, int, str], None]) -> None:
        js.mcpframePorts.take(create_proxy(deliver))  # for the lifetime of the document

    def post(self, number: int, text: str) -> None:
        try:
            js.mcpframePorts.post(number, text)
        except JsException as error:
            raise OSError(str(error)) from None

    def close(self, number: int) -> None:
        js.mcpframePorts.close(number)

    async def ask(self, text: str) -> str:
        try:
            return str(await js.mcpframePorts.ask(text))
        except JsException as error:
            raise OSError(str(error)) from None

    async def file(self, name: str) -> bytes:
        return await fetch_bytes(f"../{name}")
