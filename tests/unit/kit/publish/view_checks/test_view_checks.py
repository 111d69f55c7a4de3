"""The parts of `check --views` that need no browser: the tool that is shown, the view's text, the addresses."""

from __future__ import annotations

import ssl
import stat
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from mcpframe.kit.base.errors import ConfigError, ToolFailed
from mcpframe.kit.publish.view_checks.run import Row, read_view
from mcpframe.kit.publish.view_checks.sample_call import call_of_program, call_to_show, shown_tool
from mcpframe.kit.publish.view_checks.stage import stage, write_certificate
from mcpframe.kit.web.serve import serve_folder

NOWHERE = "http://127.0.0.1:9/"


def tool(name: str, uri: str = "", **more: Any) -> dict[str, Any]:
    ui = {"resourceUri": uri, **({"visibility": more.pop("visibility")} if "visibility" in more else {})}
    return {"name": name, "inputSchema": {"type": "object"}, **({"_meta": {"ui": ui}} if uri else {}), **more}


def test_the_tool_that_is_shown() -> None:
    plain, own, for_all = tool("plain"), tool("own", "ui://x", visibility=["app"]), tool("all", "ui://x")
    assert shown_tool([plain, own, for_all]) is for_all
    assert shown_tool([plain, own]) is own
    assert shown_tool([plain]) is plain
    assert shown_tool([]) is None


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ({"tools": []}, "no tool"),
        ({"tools": [tool("a", inputSchema={"type": "string", "pattern": "^7$"})]}, "No sample arguments for a"),
        ({"tools": [tool("a")], "dialects": ["mcp_b"]}, "does not offer"),
        ({"tools": [tool("a", annotations={"destructiveHint": True})]}, "destructive"),
        ({"tools": [tool("a", outputSchema={"type": "object", "required": ["b"]})]}, "a failed"),
    ],
)
async def test_a_result_that_is_made_up_says_why(manifest: dict[str, Any], said: str) -> None:
    call = await call_to_show(NOWHERE, manifest)
    assert said in call.note
    assert call.result["content"][0]["type"] == "text"
    if "outputSchema" in call.tool:
        assert call.result["structuredContent"] == {"b": None}


async def test_the_call_of_a_server_beside_the_bundle(tmp_path: Path) -> None:
    server = tmp_path / "a server.py"
    lines = [
        "from mcp.server.mcpserver import MCPServer",
        "from mcpframe.views import View, Views",
        "server = MCPServer('dice')",
        "views = Views(server, View('https://tools.example/dice/', uri='ui://dice'))",
        "@server.tool()",
        "def plain() -> str: return 'plain'",
        "@views.tool('ui://dice')",
        "def roll(count: int = 2) -> dict[str, int]: return {'total': 7 * count}",
        "server.run()",
    ]
    server.write_text("\n".join(lines))
    call = await call_of_program([sys.executable, str(server)])
    assert (call.tool["name"], call.arguments, call.note) == ("roll", {}, "")
    assert call.result["structuredContent"] == {"total": 14}
    server.write_text("\n".join([*lines[:3], *lines[4:6], lines[-1]]))
    with pytest.raises(ToolFailed, match="no tool with a view"):
        await call_of_program([sys.executable, str(server)])


async def test_a_program_that_is_no_server() -> None:
    for command in ([sys.executable, "-c", "print('Hello')"], ["a-program-that-is-missing"]):
        with pytest.raises(ToolFailed, match="does not serve MCP over stdio"):
            await call_of_program(command)
    with pytest.raises(ToolFailed, match=r"not answered within 0\.5 s"):
        await call_of_program([sys.executable, "-c", "import time; time.sleep(60)"], patience=0.5)


def test_the_text_of_a_view(tmp_path: Path) -> None:
    (tmp_path / "app.html").write_text("<p>A view")
    meta = {"ui": {"csp": {"frameDomains": ["https://tools.example"]}}}
    app = {"url": "https://tools.example/a/", "files": {"app": "app.html", "inline": "missing.html"}, "_meta": meta}
    with serve_folder(tmp_path) as served:
        view = read_view(f"{served.origin}/", {"app": app})
    assert (view.html, view.ui, view.url) == ("<p>A view", meta["ui"], "https://tools.example/a/")
    with pytest.raises(ConfigError, match="--url"):
        read_view(NOWHERE, {})
    with pytest.raises(ConfigError, match="does not offer"):
        read_view(NOWHERE, {"dialects": ["sep"]})


def test_what_fails() -> None:
    assert [Row("a", "A", outcome).failed for outcome in ("draws", "text", "blank")] == [False, False, True]
    assert Row("a", "A", "text", error_page=True).failed


def test_a_bundle_has_its_public_address_with_a_certificate_of_its_own(tmp_path: Path) -> None:
    bundle = tmp_path / "skies"
    bundle.mkdir()
    (bundle / "index.html").write_text("a page")
    (tmp_path / "_mcpframe").mkdir()
    (tmp_path / "_mcpframe" / "a.js").write_text("shared")
    files = '[{"path": "skies/index.html"}, {"path": "_mcpframe/a.js"}]'
    (bundle / "manifest.json").write_text(f'{{"mcpframe_manifest": 1, "files": {files}}}')
    url = "https://tools.example/python/forecast/"
    with stage(url, bundle, {"claude": "default-src 'self'"}) as stood:
        port = int(stood.rules.split(",")[0].rpartition(":")[2])
        assert f"MAP tools.example:443 127.0.0.1:{port}" in stood.rules

        def get(address: str, name: str) -> Any:
            request = urllib.request.Request(f"https://127.0.0.1:{port}{address}", headers={"Host": name})
            untested = ssl._create_unverified_context()
            return urllib.request.urlopen(request, context=untested)

        assert get("/python/forecast/", "tools.example").read() == b"a page"
        assert get("/python/_mcpframe/a.js", "tools.example").read() == b"shared"
        assert get("/", "claude.sandbox.test").headers["content-security-policy"] == "default-src 'self'"
        assert "content-security-policy" not in get("/", "vscode.sandbox.test").headers
        with pytest.raises(urllib.error.HTTPError, match="400"):
            get("/", "stranger.example")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other rights")
def test_the_key_of_the_certificate_is_its_owner_s(tmp_path: Path) -> None:
    first, second = (write_certificate(tmp_path / name) for name in ("a.pem", "b.pem"))
    assert first != second
    assert stat.S_IMODE((tmp_path / "a.pem").stat().st_mode) == 0o600
