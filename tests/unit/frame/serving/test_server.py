"""FrameServer and the entry: what an author writes and names."""

from __future__ import annotations

import sys

import pytest
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer, RequestStateSecurity

from mcpframe import FrameServer
from mcpframe.frame.compat.request_state import HandleCodec
from mcpframe.frame.core.errors import EntryError, OriginError
from mcpframe.frame.serving.server import equip, load_entry, lowlevel, open_entry


def test_a_frame_server_takes_all_options_of_an_mcp_server():
    server = FrameServer("s", title="T", version="9", instructions="I", log_level="ERROR", debug=True)
    assert (server.name, server.title, server.version, server.instructions) == ("s", "T", "9", "I")
    with pytest.raises(TypeError, match="nonsense"):
        FrameServer("s", nonsense=1)


def test_allowed_origins_are_checked_where_they_are_written():
    assert FrameServer("s").allowed_origins is None
    assert FrameServer("s", allowed_origins=["https://b.example", "https://a.example"]).allowed_origins == (
        "https://a.example",
        "https://b.example",
    )
    with pytest.raises(OriginError, match=r"https://chat\.example"):
        FrameServer("s", allowed_origins=["https://chat.example/"])
    with pytest.raises(OriginError):
        FrameServer("s", allowed_origins=[])


def test_the_request_state_stays_in_the_frame_unless_the_author_says_otherwise():
    def codec(server: MCPServer) -> object:
        return next(m._security.codec for m in server.middleware if hasattr(m, "_security"))

    own = RequestStateSecurity(codec=HandleCodec())
    assert isinstance(codec(FrameServer("s")), HandleCodec)
    assert codec(FrameServer("s", request_state_security=own)) is own.codec


def test_lowlevel_finds_the_server_in_every_kind_of_server_object():
    inner = Server("s")
    assert lowlevel(inner) is inner
    for server in (FrameServer("s"), MCPServer("s")):
        assert isinstance(lowlevel(server), Server)
    for wrong in (None, "server", FrameServer, object()):
        with pytest.raises(EntryError, match=rf"type {type(wrong).__name__} is not an MCP server: pass a FrameServer"):
            lowlevel(wrong)
        with pytest.raises(TypeError):
            lowlevel(wrong)


def test_a_server_object_is_equipped_once():
    server = MCPServer("s")
    target = equip(server)
    middleware, call_tool = list(target.middleware), server.call_tool
    assert equip(server) is target
    assert target.middleware == middleware
    assert server.call_tool is call_tool


# --- load_entry


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A function that writes the module `author` and makes it importable."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(source: str) -> None:
        (tmp_path / "author.py").write_text(source)

    yield write
    sys.modules.pop("author", None)


@pytest.mark.parametrize("path", ["server", "plain", "low", "box.server"])
def test_an_entry_names_any_kind_of_server(module, path):
    module(
        "from mcpframe import FrameServer\nfrom mcp.server.mcpserver import MCPServer\n"
        "from mcp.server.lowlevel import Server\n"
        "server = FrameServer('a')\nplain = MCPServer('a')\nlow = Server('a')\n"
        "class box:\n    server = server\n"
    )
    assert lowlevel(load_entry(f"author:{path}")).name == "a"


@pytest.mark.parametrize(
    ("entry", "source", "message"),
    [
        ("author", "", "has to be 'module:object'"),
        ("author:", "", "has to be 'module:object'"),
        ("author.py:server", "", "there is no module named 'author.py'"),
        ("nowhere:server", "", "there is no module named 'nowhere'"),
        ("author.sub:server", "", "there is no module named 'author.sub'"),
        ("author:server", "import no_such_library", "importing 'author' needs 'no_such_library'"),
        ("author:server", "", "has no 'server'; and no server under another name"),
        (
            "author:server",
            "from mcp.server.mcpserver import MCPServer\napp = MCPServer('a')",
            "has no 'server'; its servers are: app",
        ),
        ("author:server", "server = 3", "is of type int; it has to be a FrameServer"),
        ("author:server", "def server(): ...", "is of type function; it has to be a FrameServer"),
    ],
)
def test_a_wrong_entry_says_what_is_wrong(module, entry, source, message):
    module(source)
    with pytest.raises(EntryError, match=message):
        load_entry(entry)


@pytest.mark.parametrize("kind", ["def", "async def"])
async def test_a_factory_is_called_without_arguments(module, kind):
    module(f"from mcp.server.mcpserver import MCPServer\n{kind} make(name='made', *rest): return MCPServer(name)")
    assert lowlevel(await open_entry("author:make()")).name == "made"


@pytest.mark.parametrize(
    ("entry", "source", "message"),
    [
        ("author:make()", "", "has no 'make'"),
        ("author:make()", "make = 3", "calls an object of type int; .* write 'author:make'"),
        ("author:make()", "def make(host, port=1, *, path): ...", "but needs host, path: name a function without"),
        ("author:make()", "def make(): ...", "is of type NoneType; it has to be a FrameServer"),
        ("author:make(1)", "", r"has to be 'module:object', .* or 'module:factory\(\)'"),
        ("author:server", "server = 3", "is of type int; it has to be a FrameServer"),
    ],
)
async def test_a_wrong_factory_says_what_is_wrong(module, entry, source, message):
    module(source)
    with pytest.raises(EntryError, match=message):
        await open_entry(entry)


def test_what_the_module_raises_is_passed_on(module):
    module("raise RuntimeError('in the author\\'s module')")
    with pytest.raises(RuntimeError, match="in the author's module"):
        load_entry("author:server")


def test_it_may_have_a_list_of_origins_for_each_dialect() -> None:
    server = FrameServer("s", allowed_origins={"sep": ["https://chat.example"], "mcp_apps": ["*"]})
    assert server.allowed_origins == ("https://chat.example",)
    assert server.dialect_origins["mcp_apps"] == ("*",)
    with pytest.raises(OriginError, match="telex"):
        FrameServer("s", allowed_origins={"telex": ["*"]})
