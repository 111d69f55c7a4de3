"""Serve a small server as boot does, to hosts of both protocol eras: memory then has what no page has to make again.

It is run between `prepare` and `load` of prepare_snapshot.py, whose `clean` removes it.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any


async def rehearse() -> None:
    """Serve it. The SDK's servers set logging up, which is left to the author's code and server."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        await _serve_all()
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


async def _serve_all() -> None:
    from mcpframe.frame.compat import sdk

    if sdk.major() == 1:
        await _serve(_server_of_mcp_1(), HANDSHAKE_ERA)
        return
    from mcpframe.frame.serving.server import FrameServer

    server = FrameServer("probe", allowed_origins=[HOST])

    @server.tool()
    def double(number: int) -> int:
        """Doubles a number."""
        return number * 2

    @server.tool()
    async def measure(text: str) -> str:
        """Measures a text."""
        return f"{len(text)} {server.session.id}"

    for script in (HANDSHAKE_ERA, STATELESS_ERA):
        await _serve(server, script)


def _server_of_mcp_1() -> Any:
    from mcp.server.fastmcp import FastMCP  # type: ignore[attr-defined]

    server = FastMCP("probe")

    @server.tool()  # type: ignore[untyped-decorator]
    def double(number: int) -> int:
        """Doubles a number."""
        return number * 2

    @server.tool()  # type: ignore[untyped-decorator]
    async def measure(text: str) -> str:
        """Measures a text."""
        return str(len(text))

    return server


HOST = "https://host.example"
PAGE = "https://page.example"
_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("tools/list", {}),
    ("tools/call", {"name": "double", "arguments": {"number": 2}}),
    ("tools/call", {"name": "double", "arguments": {"number": "two"}}),
    ("tools/call", {"name": "measure", "arguments": {"text": "two"}}),
)
_CLIENT = {"name": "probe", "version": "1"}
HANDSHAKE_ERA: tuple[tuple[str, dict[str, Any]], ...] = (
    ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": _CLIENT}),
    ("notifications/initialized", {}),
    *_CALLS,
)
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
STATELESS_ERA = tuple((method, {**params, "_meta": _META}) for method, params in (("server/discover", {}), *_CALLS))


class _Host:
    """A host's window: does the handshake, then sends its script, each message after the answer to the previous one."""

    def __init__(self, script: tuple[tuple[str, dict[str, Any]], ...]) -> None:
        from mcpframe.frame.core.connection import Candidate, Connection, parse_allowed_origins
        from mcpframe.frame.core.dialect import TRANSPORT
        from mcpframe.frame.dialects.available import dialect

        self._script = list(enumerate(script))
        self._deliver: Any = None
        self.over = asyncio.Event()
        offer = dialect().host_offer(session_id="probe")
        role = Candidate(dialect().outer[TRANSPORT], parse_allowed_origins([PAGE]), offer)
        self._connection = Connection([role])

    def listen(self, deliver: Any, gone: Any) -> Any:
        self._deliver = deliver
        self._carry_out(self._connection.start(0.0))
        return lambda: None

    def take_inbox(self) -> Any:
        from mcpframe.frame.core.events import Inbox

        return Inbox()

    def post(self, text: str, target_origin: str) -> None:
        from mcpframe.frame.core.events import Inbound

        # Other dialects are called, too: ignore them.
        self._carry_out(self._connection.receive(Inbound(PAGE, True, lambda: text), 0.0))

    def _carry_out(self, outputs: Any) -> None:
        from mcpframe.frame.core.events import Inbound, Opened, Received, Send

        for output in outputs:
            if isinstance(output, Send):
                event = Inbound(HOST, True, lambda text=output.text: text)  # type: ignore[misc]
                asyncio.get_running_loop().call_soon(self._deliver, event)
            elif isinstance(output, Opened | Received):
                self._go_on()

    def _go_on(self) -> None:
        if not self._script:
            self.over.set()
            return
        number, (method, params) = self._script.pop(0)
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        notified = method.startswith("notifications/")
        sent = message if notified else {**message, "id": number}
        self._carry_out(self._connection.send(json.dumps(sent), sent, 0.0))
        if notified:
            self._go_on()


class _Nobody:
    """The loader's callbacks; they do nothing."""

    def timing(self) -> str:
        return "{}"

    def __getattr__(self, name: str) -> Any:
        return lambda *texts: None


async def _serve(server: Any, script: tuple[tuple[str, dict[str, Any]], ...]) -> None:
    from mcpframe.frame.boot.config import BootConfig
    from mcpframe.frame.boot.reporter import Reporter
    from mcpframe.frame.boot.serving import serve_host
    from mcpframe.frame.core.dialect import TRANSPORT
    from mcpframe.frame.dialects.available import inner_candidates

    config = BootConfig("probe:server", "probe", "probe", [HOST])
    host, page = _Host(script), _Nobody()
    candidates = inner_candidates(TRANSPORT, config.origins(server, PAGE))
    serving = asyncio.create_task(serve_host(server, candidates, host, config, page, on_event=Reporter(page)))
    waiting = asyncio.create_task(host.over.wait())
    await asyncio.wait([serving, waiting], return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        serving.result()  # raises the exception that ended it
    waiting.cancel()
    serving.cancel()
    await asyncio.wait([serving, waiting])
