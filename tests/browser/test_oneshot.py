"""`mcpframe list`, `call` and `check` on a deployed server, and on pages that are none."""

from __future__ import annotations

import json
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
