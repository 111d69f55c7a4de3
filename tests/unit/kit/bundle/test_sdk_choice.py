"""Which SDK a server's code is written for, and what files import."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest

from mcpframe.kit.bundle.code.imports import imports_named, imports_of
from mcpframe.kit.bundle.code.sdk_choice import asks_for_later, fails_as_earlier, written_for_earlier

ROOT = Path(__file__).resolve().parents[4]


def test_the_sdk_of_this_installation_is_the_later_one() -> None:
    assert version("mcp").startswith("2.")


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from mcp.server.fastmcp import FastMCP", "line 1, imports mcp.server.fastmcp.FastMCP"),
        ("import mcp.server.fastmcp as fast", "imports mcp.server.fastmcp,"),
        ("from mcp.server import fastmcp", "imports mcp.server.fastmcp,"),
        ("\nfrom mcp.shared.exceptions import McpError", "line 2, imports mcp.shared.exceptions.McpError"),
        (
            "from mcp.server import Server\ns = Server('a')\n@s.list_tools()\nasync def f(): ...",
            "line 3, .* list_tools",
        ),
        ("import mcp\ndef f(s):\n    @s.call_tool()\n    async def g(): ...", "line 3, .* call_tool"),
        (
            "from mcp import types\nfrom mcp.server import Server\ns = Server('a')\ns.request_handlers[types.A] = f",
            r"line 4, uses request_handlers\[types.A\]",
        ),
    ],
)
def test_what_shows_that_code_is_written_for_mcp_1(source: str, found: str) -> None:
    shown = written_for_earlier({"author/server.py": source.encode()})
    assert shown is not None
    assert shown.startswith("author/server.py, ")
    assert re.search(found, shown)


@pytest.mark.parametrize(
    "source",
    [
        "from mcp.server.mcpserver import MCPServer, Context",
        "from mcp.server.lowlevel import Server\nfrom mcp.types import Tool, TextContent\nfrom mcp import types",
        "import mcp.types as types\nfrom mcp.server.stdio import stdio_server",
        "try:\n    from mcp.server.fastmcp import FastMCP\nexcept ImportError:\n    from mcp.server import MCPServer",
        "def f():\n    from mcp.server.fastmcp import FastMCP",
        "from .mcp import anything",
        "from mcpframe import FrameServer",
        "from mcp.server import MCPServer\ns = MCPServer('a')\n@s.completion()\nasync def f(): ...",
        "import mcp\ns.request_handlers['tools/list'] = f",
        "mcp = (",
    ],
)
def test_code_for_mcp_2_or_for_both_shows_nothing(source: str) -> None:
    assert written_for_earlier({"author/server.py": source.encode(), "author/data.txt": b"mcp.server.fastmcp"}) is None


def test_the_templates_are_written_for_mcp_2() -> None:
    others = ROOT / "templates" / "unmodified"
    files = {str(path): path.read_bytes() for path in (ROOT / "templates").rglob("*.py")}
    ours = {path: data for path, data in files.items() if not path.startswith(str(others))}
    assert ours
    assert written_for_earlier(ours) is None
    assert written_for_earlier(files) is not None


@pytest.mark.parametrize(
    ("requirements", "later"),
    [(("mcp>=2",), True), (("mcp==2.3.0",), True), (("mcp>=1.9",), False), (("mcp<2", "attrs"), False), ((), False)],
)
def test_requirements_that_exclude_mcp_1(requirements: tuple[str, ...], later: bool) -> None:
    assert asks_for_later(requirements) is later


IMPORTS = b"""
import a, b.c
from . import d
from ..e import f
if TYPE_CHECKING:
    import g
try:
    import h
except (ValueError, ImportError):
    import i
else:
    import j
class K:
    import k
    def method(self):
        import l
"""


def test_where_something_is_imported_and_whether_a_file_needs_it() -> None:
    found = {(item.module, item.name): item for item in imports_of({"p/q/r.py": IMPORTS})}
    assert [(*key, item.line) for key, item in found.items()][:4] == [
        ("a", "", 2),
        ("b.c", "", 2),
        ("p.q", "d", 3),
        ("p.e", "f", 4),
    ]
    assert {module for (module, _), item in found.items() if item.optional} == {"g", "h", "i", "l"}


def test_the_imports_of_one_module() -> None:
    files = {"a.py": b"import b.c", "d.py": b"from b import c", "e.py": b"import bc", "f.py": b"from b.c import g"}
    assert [item.file for item in imports_named("b.c", files)] == ["a.py", "d.py", "f.py"]


def test_an_error_shows_that_code_uses_the_tables_of_mcp_1() -> None:
    error = "AttributeError: 'Server' object has no attribute 'request_handlers'"
    assert fails_as_earlier(error) == "'Server' object has no attribute 'request_handlers'"
