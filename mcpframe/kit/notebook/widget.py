"""`hosts.playground(server)`: the widget, an anywidget, for Jupyter, JupyterLite, marimo, Colab and VS Code."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from mcpframe.frame.core.errors import SdkError
from mcpframe.frame.serving.framed import unwrapped
from mcpframe.kit.base.bundled_scripts import NOTEBOOK_SCRIPT, bundled_script
from mcpframe.kit.notebook.comm_sessions import CommSessions


def playground(server: object, *, title: str = "") -> Any:
    """Return a widget with a server's tools as forms, and their results: the last line of a notebook's cell shows it.

    The server runs in the notebook's kernel, on its thread and in its event loop: a tool sees the notebook's variables,
    and waits while a cell runs. Each place that shows the widget is a client of its own. It needs the package
    anywidget (`pip install "mcpframe[notebook]"`).

    Args:
        server: A `FrameServer`, or a server object of an official SDK or of FastMCP.
        title: The name until the server says its own; by default the server's name.

    Raises:
        SdkError: anywidget is missing.
        EntryError: `server` is not a server object.
    """
    kind = _kind()
    return kind(server, title or str(getattr(unwrapped(server), "name", "") or "MCP server"))


@cache
def _kind() -> Any:
    """Return the widget's class. anywidget is imported with the first widget."""
    try:
        anywidget, traitlets = import_module("anywidget"), import_module("traitlets")
    except ModuleNotFoundError as error:
        if error.name not in ("anywidget", "traitlets"):
            raise
        raise SdkError(
            "mcpframe.hosts.playground needs the package anywidget, in the notebook's Python: "
            'pip install "mcpframe[notebook]", or "%pip install anywidget" in a cell.'
        ) from None

    class ServerWidget(anywidget.AnyWidget):  # type: ignore[misc, name-defined]
        """A server's tools. `close` ends its sessions."""

        _esm = bundled_script(NOTEBOOK_SCRIPT)
        label = traitlets.Unicode().tag(sync=True)

        def __init__(self, server: object, label: str) -> None:
            self._mcp_sessions = CommSessions(server, self.send)
            self._cell_loop = _running_loop()
            super().__init__(label=label)
            self.on_msg(self._received)

        def _received(self, _: object, content: Mapping[str, Any], buffers: object) -> None:
            running = _running_loop()
            loop = self._cell_loop or running
            if loop is None:
                self.send({"session": content.get("session"), "close": True, "reason": _NO_LOOP})
            elif loop is running:
                self._mcp_sessions.receive(content)
            else:  # JupyterLab's widgets have a thread of their own in the kernel
                loop.call_soon_threadsafe(self._mcp_sessions.receive, content)

        def close(self) -> None:
            """Close the widget, and the sessions of its views."""
            self._mcp_sessions.close()
            super().close()

    return ServerWidget


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


_NO_LOOP = "This notebook's kernel runs no event loop, which the server needs."
