"""`mcpframe list`, `call` and `check` on a deployed server, and on pages that are none."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mcpframe.kit.bundle import build
from mcpframe.kit.cli import main
from mcpframe.kit.data import templates_dir
from mcpframe.kit.serve import serve_folder

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("bundles")
    build(templates_dir() / "minimal", out, allowed_origins=["https://chat.example"])
    return out


@pytest.fixture(scope="module")
def authored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with a setup that shows a form."""
    out = tmp_path_factory.mktemp("authored")
    build(Path(__file__).parent / "servers" / "authored", out, allowed_origins=["https://chat.example"])
    with serve_folder(out) as served:
        yield f"{served.origin}/authored/"


@pytest.fixture
def url(folder: Path) -> Iterator[str]:
    with serve_folder(folder) as served:
        yield f"{served.origin}/minimal/"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["mcpframe", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, told.out, told.err

    return command


def test_list(run: Run, url: str) -> None:
    code, out, _ = run("list", url, "--json")
    found = json.loads(out)
    assert (code, found["server"]["name"], [tool["name"] for tool in found["tools"]]) == (0, "minimal", ["add"])


def test_call(run: Run, url: str) -> None:
    assert run("call", url, "add", "a=2", "b=3", "--era", "legacy") == (0, "5\n", "")
    code, out, err = run("call", url, "ad", "a=2")
    assert (code, out) == (1, "")
    assert "The server has no tool 'ad'; it has: add." in err


def test_check(run: Run, folder: Path, tmp_path: Path) -> None:
    code, out, _ = run("check", str(folder), "--json")
    [report] = json.loads(out)
    assert (code, report["errors"], report["findings"]) == (0, 0, [])
    damaged = shutil.copytree(folder, tmp_path / "damaged")
    loader = next(damaged.glob("_mcpframe/loader.*.js"))
    loader.write_bytes(loader.read_bytes() + b"\n")
    loader.with_name(f"{loader.name}.gz").unlink()
    code, out, _ = run("check", str(damaged), "--timeout", "2")
    assert code == 1
    assert "It is not the file that was built" in out
    assert "error: handshake" in out
    assert "mend it: Upload the folder again" in out


def test_a_page_that_never_speaks(run: Run, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<!doctype html>")
    with serve_folder(tmp_path) as served:
        code, out, err = run("call", f"{served.origin}/", "add", "--timeout", "1")
    assert (code, out) == (1, "")
    assert "does not speak MCP to a page of https://host.example that frames it" in err


def test_a_server_that_cannot_go_on_without_its_setup(run: Run, authored: str) -> None:
    code, out, err = run("call", authored, "need_setup", "reason=AUTH_EXPIRED", "can_continue=false")
    assert (code, out) == (1, "")
    [line] = err.splitlines()
    assert line.startswith(
        "error: The server cannot go on without its setup (Please sign in): run it first with --setup"
    )
    assert "--enter FIELD=VALUE" in line


def test_a_setup_is_run_first(run: Run, authored: str, tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    file.write_text("a note")
    entered = ["--enter", "Name=Ada = Lovelace", "--enter", f"File=@{file}", "--enter", "Save"]
    code, out, err = run("call", authored, "stored", "key=name", "--json", *entered)
    assert (code, err) == (0, "")
    assert json.loads(out)["structuredContent"]["value"] == {"name": "Ada = Lovelace", "phase": "setup"}


@pytest.mark.parametrize(
    ("entered", "said"),
    [
        (
            ["--setup", "--timeout", "5"],
            r"waits for a person and has 'Name', 'File', 'Save', 'Cancel', .*: enter what it",
        ),
        (["--enter", "Nmae=Ada", "--timeout", "5"], r"field 'Nmae' cannot be used .*and has 'Name', .*: write --enter"),
        (["--enter", "Deny"], r"The setup ended with AUTH_FAILED \(Wrong password\): enter something else"),
        (["--enter", "File=@nothing.txt"], r"nothing\.txt is not a file: write --enter File=@FILE"),
        (["--enter", "=Ada"], r"'=Ada' names no field and no button"),
    ],
)
def test_a_setup_that_does_not_succeed(run: Run, authored: str, entered: list[str], said: str) -> None:
    code, out, err = run("list", authored, *entered)
    assert (code, out) == (1, "")
    assert re.search(said, err)
    assert len(err.splitlines()) == 1
