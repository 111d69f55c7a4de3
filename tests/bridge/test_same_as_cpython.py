"""One file of tools, in plain CPython and in a page: every difference is promised by a line of platform.md.

Both are programs that speak MCP over stdio with the same client; the page is behind the bridge.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from mcpframe.kit.base.data import checkout_dir
from tests.bridge.conftest import SERVERS, command_for
from tests.bridge.programs import PATIENCE, environment

FOLDER = SERVERS / "compared"
PLATFORM = checkout_dir() / "docs" / "reference" / "platform.md"
ARGUMENTS: Mapping[str, dict[str, Any]] = {
    "place": {"at": {"name": "x", "at": [1, 2.5], "color": "green"}},
    "pair": {"left": 3},
    "choice": {"which": "b", "many": [1, 2], "more": {"a": True}},
    "body": {"given": '{"blocks":[1]}'},
}
REFUSED: Mapping[str, dict[str, Any]] = {
    "place": {"at": {"name": 1}},
    "pair": {"left": "x"},
    "choice": {"which": "c", "many": []},
    "annotated": {"first": 9},
    "text": {"value": 5},
}
"""Arguments that a tool's schema does not allow."""

MESSAGE = "An exception's message is in the error result"
NUMBER = "`inf` and `nan` where the tool declares a number are an error"
NO_PROCESSES = "| `subprocess`, `os.fork`, `multiprocessing` |"
PROMISED: Mapping[str, str] = {
    **dict.fromkeys(("raises", "raises_a_group", "various", "mixed"), MESSAGE),
    **dict.fromkeys(("runs_a_program", "runs_a_command", "forks", "processes"), NO_PROCESSES),
    **dict.fromkeys(("not_a_number", "infinite"), NUMBER),
    "infinite_without_a_type": "In a result without a schema they are null",
    "large_integer": "Beyond ±1.8·10³⁰⁸ they are an error",
    "body": "A string stays what was sent",
    "blob": "`bytes` as a result are a file",
    "scrypt": "| `hashlib.scrypt`, hashes of OpenSSL",
    "missing_file": "| a file that is not in the bundle |",
    "keeps_values": "`dbm` (and with it shelve)",
    "which_platform": "`sys.platform` is `emscripten`",
    "listens": "| sockets:",
    "alarm": "| `signal.alarm` |",
}
"""By tool, what a line of platform.md says about the difference."""


@pytest.fixture(scope="module")
async def both() -> AsyncIterator[tuple[Client, Client]]:
    """A client of the server in CPython, and one of the same server in a page."""
    async with AsyncExitStack() as stack:
        clients = []
        for command in ([sys.executable, str(FOLDER / "server.py")], command_for(str(FOLDER))):
            program = StdioServerParameters(command=command[0], args=command[1:], env=environment())
            clients.append(await stack.enter_async_context(Client(stdio_client(program))))
        yield clients[0], clients[1]


async def seen(client: Client, tool: str, arguments: dict[str, Any]) -> Any:
    """Return all that a client sees of a call."""
    progress: list[Any] = []

    async def note(*reported: Any) -> None:
        progress.append(reported)

    try:
        with anyio.fail_after(PATIENCE):
            result = await client.call_tool(tool, arguments, progress_callback=note)
    except MCPError as error:
        return {"error": [error.error.code, error.error.message]}
    except RuntimeError as error:  # of the client, which checks a result by its schema
        return {"invalid": str(error)}
    dumped = result.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"meta"})
    return {"result": dumped, "progress": progress}


async def test_the_lists_are_the_same(both: tuple[Client, Client]) -> None:
    for name in ("list_tools", "list_resources", "list_resource_templates", "list_prompts"):
        plain, page = [(await getattr(client, name)()).model_dump(mode="json", by_alias=True) for client in both]
        for tool in plain.get("tools", ()):
            if tool["name"] == "blob":
                assert tool.pop("outputSchema")
                tool["outputSchema"] = None  # as PROMISED says
        assert page == plain


async def test_resources_and_prompts_are_the_same(both: tuple[Client, Client]) -> None:
    for uri in ("text://motto", "data://pixel", "data://numbers", "places://a%20b/at/3"):
        plain, page = [(await client.read_resource(uri)).model_dump(mode="json", by_alias=True) for client in both]
        assert page == plain
    plain, page = [(await client.get_prompt("trip", {"city": "Graz"})).model_dump(mode="json") for client in both]
    assert page == plain


async def test_refused_arguments_are_refused_alike(both: tuple[Client, Client]) -> None:
    for tool, arguments in REFUSED.items():
        plain, page = [await seen(client, tool, arguments) for client in both]
        assert page == plain
        assert plain["result"]["isError"]


async def test_every_difference_is_promised(both: tuple[Client, Client]) -> None:
    differences = {}
    for tool in (await both[0].list_tools()).tools:
        plain, page = [await seen(client, tool.name, ARGUMENTS.get(tool.name, {})) for client in both]
        if plain != page:
            differences[tool.name] = (plain, page)
    unpromised = {tool: each for tool, each in differences.items() if tool not in PROMISED}
    assert not unpromised, "\n".join(f"{tool}:\n  {plain}\n  {page}" for tool, (plain, page) in unpromised.items())
    assert PROMISED.keys() <= differences.keys(), "they are the same by now"
    promises = PLATFORM.read_text("utf-8")
    assert [text for text in PROMISED.values() if text not in promises] == []
