"""Bad input to each command is one sentence that says what to do, and status 1; nothing is left half-written."""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import WriteError
from mcpframe.kit.bundle.assembly.assets import asset
from mcpframe.kit.bundle.output_root import write_bundle
from mcpframe.kit.cli.main import main
from mcpframe.kit.web.serve import serve_folder


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Iterator[object]:
    """Run a command that has to be refused, and give what it says."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["mcpframe", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        assert (ended.value.code, told.out) == (1, "")
        assert told.err.startswith("error: ")
        assert len(told.err.splitlines()) == 1
        return told.err

    return run  # type: ignore[return-value]


def test_a_url_that_is_no_page_to_frame(refused) -> None:  # type: ignore[no-untyped-def]
    for command in (["list"], ["check"], ["call"]):
        more = ["tool"] if command == ["call"] else []
        assert "only pages of http and https" in refused(*command, "ftp://tools.example/pi/", *more)
    assert "is not the origin of a page" in refused("list", "http://127.0.0.1:1/", "--origin", "*")


def test_nobody_answers(refused) -> None:  # type: ignore[no-untyped-def]
    with socket.create_server(("127.0.0.1", 0)) as silent:  # it listens, and says nothing
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/pi/"
        assert re.search(
            r"does not answer \(.*timed out\): is the address right", refused("check", address, "--timeout", "1")
        )
        assert "timed out" in refused("call", address, "add", "--timeout", "1")
    assert "does not answer" in refused("list", address)


def test_a_page_that_is_none_of_ours(refused, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "index.html").write_text("<!doctype html>")
    (tmp_path / "manifest.json").write_text('{"name": "an app of somebody else"}')
    with serve_folder(tmp_path) as served:
        assert "is not the page of an mcpframe bundle" in refused("check", f"{served.origin}/")
        assert "answers with status 404" in refused("check", f"{served.origin}/pi/")
        assert "answers with status 404" in refused("call", f"{served.origin}/pi/", "add")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--args", "{", "a=1"], "key=value or with --args, not both"),
        (["--args", "{"], "--args is not JSON"),
        (["--args", "[1]"], "has to be a JSON object"),
    ],
)
def test_arguments_are_looked_at_before_anything_starts(refused, arguments: list[str], said: str) -> None:  # type: ignore[no-untyped-def]
    assert said in refused("call", "http://127.0.0.1:1/", "add", *arguments)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["new", "a b"], "cannot be a project's name"),
        (["new", "a", "--template", "b"], "no template 'b'"),
        (["test", "nothing"], "is not a folder"),
        (["dev", "nothing", "--no-open"], "There is nothing at"),
        (["check", "nothing"], "There is nothing at"),
        (["check", "."], "has neither a pyproject.toml nor a Python file"),
    ],
)
def test_paths_and_names(refused, command: list[str], said: str) -> None:  # type: ignore[no-untyped-def]
    assert said in refused(*command)


def test_a_project_that_cannot_be_read(refused, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    config = tmp_path / "pyproject.toml"
    for text, said in (
        ("[project\n", "is not valid TOML"),
        ('[tool.mcpframe]\nentri = "a:b"\n', "did you mean entry?"),
        ('[tool.mcpframe]\nentry = "server:server"\n', "there is no server.py"),
        ('[tool.mcpframe]\nentry = "server"\n', "must be 'module:object'"),
    ):
        config.write_text(text)
        assert said in refused("check", ".")
        assert said in refused("build", ".")


def test_an_output_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "dist").write_text("mine")
    with pytest.raises(WriteError, match="there is a file where a folder is needed"):
        write_bundle(tmp_path / "dist", "pi", [asset("pi/index.html", b"")], {}, {})
    assert (tmp_path / "dist").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["dist"]
