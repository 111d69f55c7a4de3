"""Resources under both spellings of their URIs, in the official SDK; in mcp 1.x: tests/support/result_contract.py."""

from __future__ import annotations

import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError

from mcpframe.frame.compat.resource_addresses import accept_spellings, encoded

accept_spellings()


def served() -> MCPServer:
    server = MCPServer("test")

    @server.resource("docs://my files/list")
    def listed() -> str:
        return "listed"

    @server.resource("docs://my files/{name}")
    def file(name: str) -> str:
        return name

    @server.resource("caf\u00e9://{+path}{?q}")
    def menu(path: str, q: str = "") -> str:
        return f"{path} {q}"

    return server


@pytest.mark.parametrize(
    ("uri", "text"),
    [
        ("docs://my files/list", "listed"),
        ("docs://my%20files/list", "listed"),
        ("docs://my files/a b", "a b"),
        ("docs://my%20files/a%20b", "a b"),
        ("docs://my%20files/100%25", "100%"),
        ("caf\u00e9://a/\u00e9?q=\u00fc", "a/\u00e9 \u00fc"),
        ("caf%c3%a9://a/%C3%A9?q=%c3%bc", "a/\u00e9 \u00fc"),
    ],
)
async def test_a_resource_is_found_under_both_spellings(uri: str, text: str) -> None:
    async with Client(served()) as client:
        (content,) = (await client.read_resource(uri)).contents
    assert getattr(content, "text", None) == text


@pytest.mark.parametrize("uri", ["docs://my+files/list", "docs://myfiles/a", "docs://my%2520files/a", "other://x"])
async def test_another_address_is_another_resource(uri: str) -> None:
    async with Client(served()) as client:
        with pytest.raises(MCPError, match="Unknown resource"):
            await client.read_resource(uri)


def test_what_is_encoded_stays_as_it_is() -> None:
    assert encoded("docs://caf\u00e9/a b?x=%c3%a9#[1]{name}") == "docs://caf%C3%A9/a%20b?x=%C3%A9#[1]{name}"
    assert encoded(encoded("\u00e9 %")) == encoded("\u00e9 %") == "%C3%A9%20%"
