"""Certain facts about a server from its file, before anything is run."""

from __future__ import annotations

import pytest

from mcpframe.kit.bundle.code.entry_object import allows_nobody, missing_object


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("", "server.py has no 'server'; and no server under another name"),
        ("print(1)", "has no 'server'"),
        ("from mcpframe import FrameServer\nmcp = FrameServer('x')", "its servers are: mcp"),
        ("print(server)\nserver.x = 1", "has no 'server'"),
        ("server = 1", ""),
        ("if True:\n    server: object = 1", ""),
        ("(a, *server) = 1, 2", ""),
        ("def server(): pass", ""),
        ("class server: pass", ""),
        ("import server", ""),
        ("import server.a", ""),
        ("from a import b as server", ""),
        ("from a import *", ""),
        ("def set():\n    global server\n    server = 1\nset()", ""),
        ("if server := 1: pass", ""),
        ("for server in []: pass", ""),
        ("with a as server: pass", ""),
        ("match a:\n    case {**server}: pass", ""),
        ("match a:\n    case [x] as server: pass", ""),
        ("globals()['server'] = 1", ""),
        ("exec('server = 1')", ""),
        ("import sys\nsys.modules[__name__].__dict__['server'] = 1", ""),
        ("setattr(a, 'server', 1)", ""),
        ("def __getattr__(name): pass", ""),
        ("not valid(", ""),
    ],
)
def test_an_object_that_cannot_be_there(source: str, why: str) -> None:
    found = missing_object("server:server", {"server.py": source.encode(), "other.py": b""})
    assert why in found
    assert bool(found) == bool(why)


@pytest.mark.parametrize("entry", ["elsewhere:server", "server", "package.server:other.name", "server:server()"])
def test_entries_of_other_kinds(entry: str) -> None:
    files = {"server.py": b"def server(): pass", "package/server/__init__.py": b"other = 1"}
    assert missing_object(entry, files) == ""


FRAME = "from mcpframe import FrameServer\n"


@pytest.mark.parametrize(
    ("source", "nobody"),
    [
        (f"{FRAME}server = FrameServer('x')", True),
        (f"{FRAME}server: FrameServer = FrameServer('x', version='1')", True),
        ("import mcpframe as m\nserver = m.FrameServer('x')", True),
        ("from mcp.server.fastmcp import FastMCP\nserver = FastMCP('x')", True),
        ("from fastmcp import FastMCP\nserver = FastMCP('x')", True),
        ("from mcp.server import MCPServer\nfrom mcpframe import wrap\nserver = wrap(MCPServer('x'))", True),
        (f"{FRAME}server = FrameServer('x', allowed_origins=['*'])", False),
        (f"{FRAME}server = FrameServer('x', **settings)", False),
        (f"{FRAME}server = FrameServer('x')\nserver.allowed_origins = ()", False),
        (f"{FRAME}server = FrameServer('x')\nserver = other(server)", False),
        (f"{FRAME}server = make(FrameServer('x'))", False),
        ("from ours import FrameServer\nserver = FrameServer('x')", False),
        ("from .mcpframe import FrameServer\nserver = FrameServer('x')", False),
        ("class FrameServer: pass\nserver = FrameServer()", False),
        ("from ours import server", False),
        ("not valid(", False),
    ],
)
def test_a_server_without_origins(source: str, nobody: bool) -> None:
    assert allows_nobody("server:server", {"server.py": source.encode()}) is nobody
    assert not allows_nobody("server:server", {"server.py": source.encode(), "b.py": b"x = dict(allowed_origins=1)"})
    assert not allows_nobody("server:server()", {"server.py": source.encode()})
