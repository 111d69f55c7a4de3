"""The parts of the demo that need no browser, and the host page's files."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import ToolMissing
from mcpframe.kit.dev.demo import Answer, is_right
from mcpframe.kit.static_hosts.headers_file import headers_for, parse
from mcpframe.kit.web import host_page
from mcpframe.kit.web.host_page import bundle_client, write_host_page


@pytest.mark.parametrize(
    ("number", "iterations", "right"),
    [
        (math.pi, 1000, True),
        (3.15, 100_000, True),
        (3.2, 100_000, False),
        (3.2, 1000, True),
        (0.0, 1000, False),
        (-math.pi, 1000, False),
        (math.nan, 1000, False),
        (None, 1000, False),
    ],
)
def test_what_counts_as_pi(number: float | None, iterations: int, right: bool) -> None:
    assert is_right(number, iterations) is right


@pytest.mark.parametrize(
    ("text", "structured", "number"),
    [
        ("pi is about 3.14159 after 1000", None, 3.14159),
        ("whatever", {"points": 1000, "pi": 3.14, "standard_error": 0.05}, 3.14),
        ("whatever", {"pi": 3}, 3.0),
        ("3.25", {"pi": "3.1"}, 3.25),
        ("3.25", {"result": 3.1}, 3.25),
        ("no number", None, None),
    ],
)
def test_the_number_in_an_answer(text: str, structured: object, number: float | None) -> None:
    assert Answer([], text, structured).number == number


def test_the_host_page_is_complete_and_strict(tmp_path: Path) -> None:
    client = tmp_path / "client.js"
    client.write_text("export class Client {}")
    page = tmp_path / "page"
    page.mkdir()
    write_host_page(page, "http://127.0.0.1:8700/pi/", client)
    assert json.loads((page / "config.json").read_text()) == {"url": "http://127.0.0.1:8700/pi/"}
    scripts = {path.name for path in page.glob("*.js")}
    assert {"demo.js", "element-form.js", "element-result.js", "host.js", "mcp-client.js"} <= scripts
    policy = headers_for("/", parse((page / "_headers").read_text()))["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "frame-src http://127.0.0.1:8700;" in policy
    assert "unsafe" not in policy
    html = (page / "index.html").read_text()
    assert "<style" not in html
    assert " on" not in html.replace(" one", "")
    assert html.count("<script") == html.count('<script type="module" src=') == 1


def test_the_client_is_bundled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    esbuild = tmp_path / "@esbuild" / "some-machine" / "bin" / "esbuild"
    esbuild.parent.mkdir(parents=True)
    esbuild.touch()
    commands: list[list[str]] = []

    def run(command: list[str], *_: object, **__: object) -> str:
        commands.append(command)
        target = Path(command[-1].removeprefix("--outfile="))
        target.parent.mkdir()
        target.write_text("client")
        return ""

    monkeypatch.setattr(host_page, "run_tool", run)
    assert bundle_client(tmp_path) == bundle_client(tmp_path)
    assert [command[:2] for command in commands] == [[str(esbuild), "@modelcontextprotocol/client"]]


def test_no_esbuild_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ToolMissing, match="esbuild"):
        bundle_client(tmp_path)
