"""`mcpframe announce`: what is asked for is written, and nothing else."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from mcpframe.kit.cli.main import main
from mcpframe.kit.edges.http.server_card import read_card
from mcpframe.kit.servers import published
from tests.unit.kit.publish.listings.conftest import NAME, PAGE
from tests.unit.kit.publish.listings.test_registry import RELEASE


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, manifest: dict[str, Any]) -> Any:
    monkeypatch.setattr(published, "read_manifest", lambda url: manifest)

    def command(*options: str) -> tuple[int, list[str]]:
        arguments = ["announce", PAGE, "--name", NAME, "--output", str(tmp_path / "out"), *options]
        monkeypatch.setattr(sys, "argv", ["mcpframe", *arguments])
        with pytest.raises(SystemExit) as status:
            main()
        return int(status.value.code or 0), sorted(path.name for path in tmp_path.glob("out/*"))

    return command


def test_everything(run: Any, tmp_path: Path) -> None:
    remote = "https://mcp.example/mcp"
    options = ("--server-json", "--card", "--install-page", "--release", RELEASE, "--remote", remote, "--author", "Me")
    status, files = run(*options)
    assert status == 0
    assert files == [
        "install-links.md",
        "install-pi-calculator.html",
        "pi-calculator.mcpb",
        "server-card.json",
        "server.json",
    ]
    document = json.loads((tmp_path / "out" / "server.json").read_text())
    archive = (tmp_path / "out" / "pi-calculator.mcpb").read_bytes()
    assert document["packages"][0]["fileSha256"] == hashlib.sha256(archive).hexdigest()
    assert read_card(tmp_path / "out" / "server-card.json")["remotes"][0]["url"] == remote
    assert RELEASE in (tmp_path / "out" / "install-pi-calculator.html").read_text()
    if os.name == "posix":
        assert {path.stat().st_mode & 0o777 for path in (tmp_path / "out").iterdir()} == {0o644}, (
            "a web server reads it"
        )


def test_an_author_s_own_server_json_is_kept_and_an_earlier_one_is_renewed(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--install-page", "--server-json", "--package", "pypi:pi-mcp==1.0")
    own = tmp_path / "out" / "server.json"
    own.parent.mkdir()
    own.write_text('{"name": "mine"}')
    assert run(*options) == (1, ["server.json"])
    assert "move it away" in capsys.readouterr().err
    assert own.read_text() == '{"name": "mine"}'
    own.unlink()
    assert run(*options)[0] == 0
    assert run(*options, "--server-version", "9.9.9")[0] == 0
    assert json.loads(own.read_text())["version"] == "9.9.9"


def test_only_what_is_asked_for(run: Any) -> None:
    assert run("--mcpb", "--author", "Me") == (0, ["pi-calculator.mcpb"])


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ((), "--server-json"),
        (("--mcpb",), "--author"),
        (("--card",), "--remote"),
        (("--card", "--remote", "http://mcp.example/mcp"), "https://"),
        (("--server-json",), "--package"),
        (("--install-page", "--server-json"), "--package"),
        (("--install-page", "--author", "Me", "--release", "javascript:alert(1)"), "a release of GitHub"),
    ],
)
def test_what_is_missing_is_named_and_nothing_is_written(
    run: Any, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], remedy: str
) -> None:
    assert run(*options) == (1, [])
    assert remedy in capsys.readouterr().err
