"""Servers of the package fastmcp in its versions, built as they are and called by an official client."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.web.serve import serve_folder
from tests.browser.clients import PythonClient
from tests.browser.conftest import Origins, Troubles
from tests.support.built import SERVERS, SNAPSHOTS, build_plain, opened_often
from tests.support.other_origin import other_origin
from tests.support.suites import extended

PROJECT = """
[project]
name = "features"
version = "1"
dependencies = ["fastmcp{version}"]

[project.scripts]
features = "server:main"
features-async = "server:main_async"

[tool.mcpframe]
entry = "{entry}"
script = "{script}"
"""
NEWEST = ">=4"
"""A version as a requirement, without the tests' limit on its day."""
SMALL = '''
from fastmcp import Context, FastMCP

mcp = FastMCP("small", instructions="Be kind.")


@mcp.tool()
async def talk(text: str, ctx: Context) -> str:
    """Talks."""
    await ctx.info(f"logged {text}")
    return text


@mcp.tool()
def fails() -> str:
    """Fails."""
    raise ValueError("no such thing")


@mcp.tool()
def dot() -> bytes:
    """Draws."""
    return b"\\x89PNG\\r\\n\\x1a\\n" + bytes(20)


@mcp.resource("notes://{name}")
def note(name: str) -> str:
    """A note."""
    return f"the note {name}"


def main() -> None:
    """Serve on standard input and output."""
    mcp.run()
'''
DESCRIBED = """
import httpx
from fastmcp import FastMCP

item = {"name": "item", "in": "query", "required": True, "schema": {"type": "string"}}
looking = {"operationId": "look", "parameters": [item], "responses": {"200": {"description": "what was asked for"}}}
described = {"openapi": "3.1.0", "info": {"title": "Echo", "version": "1"}, "paths": {"/echo": {"get": looking}}}
mcp = FastMCP.from_openapi(described, client=httpx.AsyncClient(base_url="BASE"), name="Echo")
"""


def write_project(folder: Path, version: str, entry: str, script: str = "") -> Path:
    folder.mkdir()
    text = PROJECT.format(version=version, entry=entry, script=script)
    (folder / "pyproject.toml").write_text(text.replace('script = ""\n', ""))
    return folder


@pytest.fixture
async def client(host_page: Page, troubles: Troubles) -> AsyncIterator[PythonClient]:
    async with AsyncExitStack() as stack:
        yield PythonClient(host_page, "legacy", stack)


@pytest.mark.parametrize(
    ("version", "entry", "script"),
    [
        extended("==2.14.7", "server:mcp", ""),
        extended("==3.4.10", "features", "features-async"),
        extended("==3.0.2", "server:make()", ""),
        extended("==4.1.2", "features", "features"),
        ("==4.2.3", "features", "features"),
        extended(NEWEST, "server:mcp", ""),
    ],
)
async def test_its_features(
    client: PythonClient,
    origins: Origins,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    pytestconfig: pytest.Config,
    version: str,
    entry: str,
    script: str,
) -> None:
    if version == NEWEST:
        monkeypatch.delenv("UV_EXCLUDE_NEWER")
    project = write_project(tmp_path / "project", version, entry, script)
    shutil.copy(SERVERS / "fastmcp" / "server.py", project)
    built = build(project, tmp_path / "out", allowed_origins=[origins.host], snapshot=opened_often(pytestconfig))
    assert built.tools is not None
    assert {"add", "inner_shout"} <= {tool["name"] for tool in built.tools}
    if opened_often(pytestconfig):
        assert built.manifest["start"] == "starts from a snapshot with the server imported"
    major = int(version.lstrip("=>")[0])
    with serve_folder(tmp_path / "out") as served:
        await client.open(f"http://bundle.localhost:{served.port}/{built.url_path}")
        assert (await client.call("point", x=1))["structuredContent"] == {"x": 1, "y": 2}
        assert text_of(await client.call("inner_shout", text="hey")) == "HEY"
        assert "no such thing" in text_of(await client.call("fails"))
        await client.set_log_level("info")
        assert text_of(await client.call("talk", text="this")) == "this"
        assert (await client.next("progress"))["message"] == "half"
        assert "logged this" in str((await client.next("log"))["data"])
        await client.answer("elicitation/create", {"action": "accept", "content": {"value": "Ada"}})
        assert text_of(await client.call("ask")) == "accept Ada"
        answer = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "hm"}}
        await client.answer("sampling/createMessage", answer)
        assert text_of(await client.call("think")) == "hm"
        assert [text_of(await client.call("remember")) for _ in range(2)] == (["1", "1"] if major == 2 else ["1", "2"])
        read = await client.request("resources/read", {"uri": "notes://one/text"})
        assert read["contents"][0]["text"] == "the note one"
        prompt = await client.request("prompts/get", {"name": "greet", "arguments": {"name": "Ada"}})
        assert prompt["messages"][0]["content"]["text"] == "Greet Ada."
        noted = (await client.call("noted"))["structuredContent"]["result"]
        assert [item for item in noted if item == "began"] == ["began"]
        assert "called point" in noted


@pytest.mark.extended
@pytest.mark.parametrize(
    ("version", "entry", "sdk"),
    [
        ("2.3.5", "server:mcp", "1.30"),
        ("2.8.1", "features", "1.30"),
        ("2.10.6", "server:mcp", "1.30"),
        ("2.12.5", "features", "1.16"),
    ],
)
async def test_earlier_versions(
    client: PythonClient, origins: Origins, tmp_path: Path, version: str, entry: str, sdk: str
) -> None:
    project = write_project(tmp_path / "project", f"=={version}", entry, "" if ":" in entry else "features")
    (project / "server.py").write_text(SMALL)
    built = build(project, tmp_path / "out", allowed_origins=[origins.host], snapshot=False)
    packages = built.manifest["versions"]["packages"]
    assert (packages["fastmcp"], ".".join(packages["mcp"].split(".")[:2])) == (version, sdk)
    with serve_folder(tmp_path / "out") as served:
        await client.open(f"http://bundle.localhost:{served.port}/{built.url_path}")
        assert text_of(await client.call("talk", text="this")) == "this"
        assert "logged this" in str((await client.next("log"))["data"])
        (drawn,) = (await client.call("dot"))["content"]
        assert (drawn["type"], drawn["mimeType"]) == ("image", "image/png")
        failed = await client.call("fails")
        assert failed["isError"]
        assert "'fails'" in text_of(failed)
        read = await client.request("resources/read", {"uri": "notes://one"})
        assert read["contents"][0]["text"] == "the note one"


@pytest.mark.extended
async def test_a_server_made_from_an_openapi_description(
    client: PythonClient, origins: Origins, tmp_path: Path
) -> None:
    project = write_project(tmp_path / "project", "==3.4.10", "server:mcp")
    file = project / "pyproject.toml"
    with other_origin() as world:
        needs = file.read_text().replace('"]', '", "pyyaml", "httpx"]', 1)
        file.write_text(f'{needs}csp = {{ connect_src = ["{world.origin}"] }}\n')
        (project / "server.py").write_text(DESCRIBED.replace("BASE", world.origin))
        built = build_plain(project, tmp_path / "out", allowed_origins=[origins.host])
        with serve_folder(tmp_path / "out") as served:
            await client.open(f"http://bundle.localhost:{served.port}/{built.url_path}")
            called = await client.call("look", item="book")
    assert called["structuredContent"] | {"headers": None} == {
        "method": "GET",
        "path": "/echo?item=book",
        "body": "",
        "headers": None,
    }


def text_of(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


@pytest.mark.extended
async def test_a_server_whose_import_is_not_in_the_snapshot(
    client: PythonClient, origins: Origins, tmp_path: Path
) -> None:
    project = write_project(tmp_path / "project", "==3.4.10", "server:mcp")
    drawing = "import random\nimport fastmcp\n\ndrawn = random.random()\nlevel = fastmcp.settings.log_level\n"
    listing = "\n\n@mcp.tool\ndef told() -> str:\n    return level\n"
    (project / "server.py").write_text(drawing + SMALL + listing)
    with (project / "pyproject.toml").open("a") as file:
        file.write('[tool.mcpframe.env]\nFASTMCP_LOG_LEVEL = "ERROR"\n')
    built = build(project, tmp_path / "out", allowed_origins=[origins.host], snapshot=SNAPSHOTS)
    if SNAPSHOTS:
        assert built.manifest["start"].startswith("starts from a snapshot of the SDK and its requirements; the")
    with serve_folder(tmp_path / "out") as served:
        await client.open(f"http://bundle.localhost:{served.port}/{built.url_path}")
        assert text_of(await client.call("talk", text="this")) == "this"
        assert text_of(await client.call("told")) == "ERROR"
