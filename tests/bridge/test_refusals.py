"""Servers that cannot be bridged, and HTTP requests that are rejected."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from mcpframe.kit.web.serve import serve_folder
from tests.bridge.programs import INITIALIZE, PATIENCE, ROOT, environment, start
from tests.support.bundles import write_bundle


async def failure(where: str, profile: Path, seconds: float = PATIENCE) -> str:
    """The message of a bridge that cannot open its server; a client's request gets the same as an error."""
    async with start(where, "--timeout", str(seconds), profile=profile) as bridge:
        await bridge.request(1, "initialize", **INITIALIZE)
        answer = await bridge.next()
        status, told = await bridge.ended()
        assert status == 1
        assert "Traceback" not in told
        assert answer["id"] == 1
        return str(answer["error"]["message"])


async def test_an_address_that_is_no_server(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("<title>nothing</title>")
    (site / "data.json").write_text("{}")
    with serve_folder(site) as served:
        assert "no handshake within 3 s" in await failure(f"{served.origin}/", tmp_path / "1", 3)
        assert "status 404" in await failure(f"{served.origin}/not-there/", tmp_path / "2")
        assert "application/json" in await failure(f"{served.origin}/data.json", tmp_path / "3")


@pytest.mark.extended  # it waits for half a minute: why there is no handshake is looked for as long
async def test_an_address_that_never_answers(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        assert "within 3 s" in await failure(f"http://127.0.0.1:{port}/", tmp_path, 3)


async def test_an_address_where_nobody_is(tmp_path: Path) -> None:
    with socket.socket() as taken:  # so that nobody else listens there
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        assert "ERR_CONNECTION_REFUSED" in await failure(f"http://127.0.0.1:{port}/", tmp_path, 3)


async def test_a_folder_that_is_no_server(tmp_path: Path) -> None:
    assert "There is nothing at" in await failure(str(tmp_path / "nothing"), tmp_path / "1")
    (tmp_path / "empty").mkdir()
    assert "neither a pyproject.toml nor" in await failure(str(tmp_path / "empty"), tmp_path / "2")
    page = write_bundle(tmp_path / "dist", "page", kind="page")
    assert "is a page" in await failure(str(page), tmp_path / "3")


def command_fails(*arguments: str, without_screen: bool = False) -> str:
    variables = environment()
    if without_screen:
        variables = {name: value for name, value in variables.items() if "DISPLAY" not in name}
    done = subprocess.run(
        [sys.executable, "-m", "mcpframe", "bridge", *arguments],
        cwd=ROOT,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        told = command_fails("https://tools.example/", "--http", "--port", str(port), "--profile", str(tmp_path))
    assert f"Port {port}" in told
    assert "choose another port" in told


def test_a_setup_without_a_screen(tmp_path: Path) -> None:
    told = command_fails("https://tools.example/", "--setup", "--profile", str(tmp_path), without_screen=True)
    assert "no screen" in told


META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
HEAD = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/list",
}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}


@pytest.mark.parametrize(
    ("head", "message", "status"),
    [
        ({}, LIST, 200),
        ({"host": "evil.example"}, LIST, 421),
        ({"origin": "https://evil.example"}, LIST, 403),
        ({"content-type": "text/plain"}, LIST, 400),
        ({"accept": "application/json"}, LIST, 406),
        ({"mcp-method": "ping"}, LIST, 400),
        ({}, {**LIST, "params": {}}, 400),
        ({"mcp-method": "ping"}, {**LIST, "method": "ping"}, 404),
        ({"mcp-method": "initialize"}, {**LIST, "method": "initialize"}, 404),
        ({"mcp-method": "resources/subscribe"}, {**LIST, "method": "resources/subscribe"}, 404),
        ({"mcp-protocol-version": "2025-11-25"}, LIST, 400),
        ({"mcp-protocol-version": "2025-11-25", "mcp-session-id": "unknown"}, LIST, 404),
        ({"mcp-protocol-version": "2025-11-25", "host": "evil.example"}, LIST, 421),
    ],
)
def test_http_refuses(http_bridge: str, head: dict[str, str], message: object, status: int) -> None:
    address = urlsplit(http_bridge)
    connection = HTTPConnection(address.netloc, timeout=PATIENCE)
    headers = {"host": address.netloc, **HEAD, **head}
    connection.request("POST", address.path, json.dumps(message), headers)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    assert (response.status, b"Traceback" in body) == (status, False)


def test_a_session_that_was_ended_is_not_found(http_bridge: str) -> None:
    address = urlsplit(http_bridge)
    connection = HTTPConnection(address.netloc, timeout=PATIENCE)
    head = {"content-type": "application/json", "accept": "application/json, text/event-stream"}

    def ask(method: str, message: object = None) -> tuple[int, str | None, bytes]:
        connection.request(method, address.path, None if message is None else json.dumps(message), head)
        response = connection.getresponse()
        return response.status, response.getheader("mcp-session-id"), response.read()

    assert ask("GET")[0] == 400
    initialize = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
    status, session, body = ask("POST", initialize)
    assert (status, b'"name":"everything"' in body) == (200, True)
    assert session
    head["mcp-session-id"] = session
    assert ask("POST", {"jsonrpc": "2.0", "method": "notifications/initialized"})[0] == 202
    assert ask("DELETE")[0] == 200
    assert ask("POST", {"jsonrpc": "2.0", "id": 2, "method": "ping"})[0] == 404
    connection.close()


def test_the_first_requests_over_http_wait_for_no_file(http_bridge: str) -> None:
    """The deferred files of a page are loaded before the bridge prints its address."""
    address = urlsplit(http_bridge)
    connection = HTTPConnection(address.netloc, timeout=PATIENCE)
    params = {"name": "waited_for", "arguments": {"module": "statistics"}, "_meta": META}
    head = {**HEAD, "mcp-method": "tools/call", "mcp-name": "waited_for"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    connection.request("POST", address.path, json.dumps(message), head)
    answer = json.loads(connection.getresponse().read())
    connection.close()
    assert answer["result"]["structuredContent"] == {"result": []}


def test_a_client_over_http_that_dies_in_mid_call_cancels_it(http_bridge: str) -> None:
    address = urlsplit(http_bridge)

    def call(connection: HTTPConnection, tool: str, **arguments: str) -> HTTPResponse:
        params = {"name": tool, "arguments": arguments, "_meta": {**META, "progressToken": 1}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        head = {**HEAD, "mcp-method": "tools/call", "mcp-name": tool}
        connection.request("POST", address.path, json.dumps(message), head)
        return connection.getresponse()

    dying = HTTPConnection(address.netloc, timeout=PATIENCE)
    answer = call(dying, "wait", name="for a client that dies")
    assert b"event: message" in answer.readline()
    answer.close()
    dying.close()
    other = HTTPConnection(address.netloc, timeout=PATIENCE)
    deadline = time.monotonic() + PATIENCE
    while b"for a client that dies" not in call(other, "cancelled_waits").read():
        assert time.monotonic() < deadline
    other.close()
