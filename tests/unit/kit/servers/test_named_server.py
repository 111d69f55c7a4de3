"""Names of a server, the same for every command: an address, built folders, a project, a Python file, a package."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mcpframe.frame.core.errors import OriginError
from mcpframe.kit.base.errors import ConfigError, ScaffoldError
from mcpframe.kit.cli.main import main
from mcpframe.kit.project.project import find_project
from mcpframe.kit.servers.named_server import Built, Published, Sources, named_project, named_server
from tests.support.bundles import write_bundle

SERVER = "from mcpframe import FrameServer\nserver = FrameServer('adder', allowed_origins=['*'])\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a cache of its own."""
    (folder := tmp_path / "here").mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path / "cache"))
    return folder


def test_an_address() -> None:
    assert named_server("https://tools.example/pi/") == Published("https://tools.example/pi/", "https://tools.example")
    with pytest.raises(OriginError, match="only pages of http and https"):
        named_server("file:///pi/index.html")


def test_a_bundle_and_the_root_of_several(here: Path) -> None:
    folder = write_bundle(here / "dist", "pi")
    assert named_server("dist/pi") == named_server("dist") == Built(here / "dist", ("pi",))
    write_bundle(here / "dist", "e")
    found = named_server("dist")
    assert found == Built(here / "dist", ("e", "pi"))
    with pytest.raises(ConfigError, match="one of e, pi"):
        found.only  # noqa: B018
    assert named_server("dist/pi").only == folder  # type: ignore[union-attr]
    with pytest.raises(ConfigError, match="bundle's folder"):
        named_server("dist/pi/manifest.json")


def test_a_damaged_bundle_is_none(here: Path) -> None:
    folder = write_bundle(here / "dist", "pi")
    (folder / "manifest.json").write_text("{")
    with pytest.raises(ConfigError, match="not the manifest of a bundle"):
        named_server("dist/pi")


@pytest.mark.parametrize("file", ["adder.py", "server.py", "main.py", "pyproject.toml"])
def test_a_folder_with_a_server_is_a_project(here: Path, file: str) -> None:
    (here / file).write_text(SERVER if file.endswith(".py") else "[tool.mcpframe]\n")
    (here / "test_adder.py").write_text(SERVER)
    (here / "helpers.py").write_text("def broken(:\n")
    write_bundle(here, "built-into-the-same-folder")
    assert named_server(".") == Sources(here)
    assert named_server(file) == Sources(here / file)
    if file.endswith(".py"):
        assert find_project(here).entry == f"{file.removesuffix('.py')}:server"


def test_a_web_app_beside_a_server_is_no_bundle(here: Path) -> None:
    (here / "adder.py").write_text(SERVER)
    for name in ("index.html", "manifest.json"):
        (here / name).write_text("{}")
    assert named_server(".") == Sources(here)


def test_a_file_that_does_not_parse_is_a_project_where_no_other_is(here: Path) -> None:
    (here / "adder.py").write_text("def broken(:\n")
    assert named_server(".") == Sources(here)
    with pytest.raises(ConfigError, match="line 1"):
        find_project(here)


def test_several_servers_are_named(here: Path) -> None:
    for name in ("adder.py", "calculator.py"):
        (here / name).write_text(SERVER)
    with pytest.raises(ConfigError, match=r"adder\.py, calculator\.py"):
        named_server(".")


@pytest.mark.parametrize("word", ["", "nowhere", "nul\0", ".", "notes.txt"])
def test_what_is_none(here: Path, word: str) -> None:
    (here / "notes.txt").write_text("")
    (here / "helpers.py").write_text("x = 1\n")
    with pytest.raises(ConfigError):
        named_server(word)


def test_a_package_gets_a_project_in_the_cache(tmp_path: Path) -> None:
    found = named_server("package:mcp-server-time==1.0")
    assert isinstance(found, Sources)
    assert found.path.is_relative_to(tmp_path / "cache")
    assert find_project(found.path).requirements == ("mcp-server-time==1.0",)
    assert named_server("package:mcp-server-time==1.0") == found != named_server("package:mcp-server-time")
    with pytest.raises(ScaffoldError, match="not the name of a package"):
        named_server("package:../secrets")


def test_what_needs_the_source_says_so(here: Path) -> None:
    write_bundle(here / "dist", "pi")
    for word in ("dist", "https://tools.example/pi/"):
        with pytest.raises(ConfigError, match="give the folder of a project"):
            named_project(word)


@pytest.mark.parametrize(
    "command",
    ["list", "check", "call", "inspect", "bridge", "install", "build", "dev", "serve"],
)
def test_every_command_reads_it(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    more = {"call": ["add"], "install": ["--client", "vscode"]}.get(command, [])
    monkeypatch.setattr(sys, "argv", ["mcpframe", command, "nowhere", *more])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert "There is nothing at 'nowhere'" in capsys.readouterr().err
