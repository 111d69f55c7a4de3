"""The command line: exit codes, one sentence on an error, JSON on demand. The build itself is stood in for."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer.main
from rich.console import Console

from mcpframe.kit.base import progress
from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.errors import BuildError, ConfigError
from mcpframe.kit.bridge.chromium.bridge_page import HOST_ORIGIN
from mcpframe.kit.browser import chromium
from mcpframe.kit.bundle import pipeline
from mcpframe.kit.bundle.output_root import BuildResult
from mcpframe.kit.cli.connecting import native_messaging
from mcpframe.kit.cli.main import app, main
from mcpframe.kit.cli.shared import common_options, output
from mcpframe.kit.cli.shared.examples import commands_in, examples
from mcpframe.kit.dev.server import check_path
from mcpframe.kit.project.template_files import template_names
from tests.support.bundles import write_bundle

MANIFEST = {
    "tools": [{"name": "add"}, {"name": "sub"}],
    "sizes": {"total": 30_000_000, "first_visit": 7_800_000},
    "allowed_origins": ["https://chat.example"],
    "start": "starts without a snapshot, as none was requested",
}


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["mcpframe", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    code = ended.value.code
    assert isinstance(code, int)
    return code


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = []

    def build(path: Path, out: Path, **options: Any) -> BuildResult:
        calls.append({"path": path, "out": out, **options})
        with options["progress"]("Working"):
            return BuildResult("pi", out / "pi", MANIFEST, ("take [care].",))

    monkeypatch.setattr(pipeline, "build", build)
    return calls


def test_version(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "--version") == 0
    assert capsys.readouterr().out.startswith("mcpframe ")


def test_build_says_what_came_of_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], built: list[dict[str, Any]], tmp_path: Path
) -> None:
    server = tmp_path / "here.py"
    server.write_text("server = FrameServer('here')\n")
    assert (
        run(monkeypatch, "build", str(server), "--out", "there", "--upgrade", "--allow-origin", "https://a.example")
        == 0
    )
    [call] = built
    assert (call["path"], call["out"], call["upgrade"]) == (server, Path("there"), True)
    assert call["allowed_origins"] == ["https://a.example"]
    told = capsys.readouterr()
    assert "add, sub" in told.out
    assert "7.8 MB" in told.out
    assert "starts without a snapshot" in told.out
    assert "mcpframe bridge there/pi" in told.out
    assert HOST_ORIGIN in told.out  # which the server does not allow
    assert "warning: take [care]." in told.err


def test_build_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], built: list[dict[str, Any]]
) -> None:
    assert run(monkeypatch, "build", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["url_path"] == "pi/"
    assert told["warnings"] == ["take [care]."]
    assert built[0]["allowed_origins"] is None


def test_a_backslash_of_windows_is_part_of_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    assert common_options.words_of(r"a\ b 'c d' #", "--server") == ["a b", "c d", "#"]
    monkeypatch.setattr(common_options, "sys", SimpleNamespace(platform="win32"))
    assert common_options.words_of(r'C:\Python\python.exe "C:\my files\server.py"', "--server") == [
        r"C:\Python\python.exe",
        r"C:\my files\server.py",
    ]


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_a_console_of_another_encoding_gets_escapes(tmp_path: Path, encoding: str) -> None:
    folder = tmp_path / "\u6f22"
    folder.mkdir()
    environment = {**os.environ, "PYTHONUTF8": "0", "PYTHONIOENCODING": encoding, "PYTHONPATH": str(checkout_dir())}
    for arguments in (["new", "hello"], ["new", "hello"], ["build", "--help"]):
        command = [sys.executable, "-m", "mcpframe", *arguments]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=60, check=False)
        printed = done.stdout.decode(encoding) + done.stderr.decode(encoding)
        assert "Traceback" not in printed
        if arguments[0] == "new":
            assert ("\u6f22" if encoding == "utf-8" else r"\u6f22") in printed


@pytest.mark.parametrize(
    "arguments",
    [
        ("hub", "--connect"),
        ("hub", "--native"),
        ("install", "--hub", "--native", "--yes"),
    ],
)
def test_windows_has_no_native_messaging_and_nothing_is_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setattr(native_messaging, "sys", SimpleNamespace(platform="win32"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, *arguments) == 1
    assert "on Windows, use the hub without it" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_an_error_is_one_sentence_and_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def build(*_: object, **__: object) -> BuildResult:
        raise BuildError("It does not start: [this] is why.\nTraceback: …")

    monkeypatch.setattr(pipeline, "build", build)
    assert run(monkeypatch, "build") == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == "error: It does not start: [this] is why.\nTraceback: …\n"


def test_new_lists_its_templates(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    assert run(monkeypatch, "new", "--help") == 0
    told = capsys.readouterr().out
    assert not [name for name in template_names() if name not in told]


def test_a_wrong_argument_is_refused_by_the_manifest_without_a_browser(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    folder = write_bundle(tmp_path, "pi", allowed_origins=["*"], tools=[{"name": "add", "inputSchema": schema}])
    monkeypatch.setattr("mcpframe.kit.client.session.one_session", None)
    for arguments, why in (
        (["a=x"], "has to be an integer"),
        (["b=1"], "'b' is not one of its arguments"),
        ([], "needs the argument"),
    ):
        assert run(monkeypatch, "call", str(folder), "add", *arguments) == 1
        assert why in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["build", "--no-such-option"], "error: No such option: --no-such-option. See mcpframe build --help."),
        (["bild"], "error: No such command 'bild'. Did you mean 'build', 'bridge'? See mcpframe --help."),
        (["build", "--out"], "error: Option '--out' requires an argument. See mcpframe --help."),
        (["bridge", ".", "--name", "b1"], "error: Invalid value for --name: only with --http. See mcpframe bridge"),
        (["hub", "--ask", "--headless"], "error: Invalid value for --ask: it needs a browser window. See mcpframe"),
        (
            ["bridge", ".", "--name", "b1", "--drain", "5"],
            "error: Invalid value for --name, --drain: only with --http.",
        ),
    ],
)
def test_wrong_usage_is_one_sentence_and_status_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert run(monkeypatch, *arguments) == 2
    assert capsys.readouterr().err.startswith(said)


def test_the_project_of_a_package_that_is_not_there_is_removed_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()

    def build(path: Path, *_: object, **__: object) -> BuildResult:
        assert (path / "pyproject.toml").is_file()
        if path.name == "locked":
            (path / "mcpframe.lock").write_text("")
        raise BuildError("The requirements cannot be resolved")

    monkeypatch.setattr(pipeline, "build", build)
    for package in ("Nope_Nope", "empty", "locked", "locked"):
        assert run(monkeypatch, "build", f"package:{package}") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "locked"]
    assert not list((tmp_path / "empty").iterdir())
    assert len(list((tmp_path / "locked").iterdir())) == 2


def test_a_project_without_tests_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "tests").mkdir()
    assert run(monkeypatch, "test", str(tmp_path)) == 5
    said = capfd.readouterr()
    assert f"error: {tmp_path}: no test was run: write one in tests/test_server.py" in said.err


@pytest.mark.parametrize("command", [("call", "add"), ("list",)])
def test_a_missing_browser_is_said_before_a_build(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    built: list[dict[str, Any]],
    tmp_path: Path,
    command: tuple[str, ...],
) -> None:
    (tmp_path / "here.py").write_text("server = FrameServer('here')\n")
    monkeypatch.setattr(chromium, "find_chromium", lambda: None)
    assert run(monkeypatch, command[0], str(tmp_path / "here.py"), *command[1:]) == 1
    said = capsys.readouterr().err
    assert f"No Chromium was found: run `{sys.executable} -m playwright install chromium`, install Chromium" in said
    assert not built


@pytest.mark.parametrize("option", ["--explain", "--single-file", "--build-sdists", "--url=https://a.example/b/"])
def test_a_gallery_takes_no_option_of_one_server(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    assert run(monkeypatch, "build", "--gallery", option) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert option.partition("=")[0] in said
    assert "is for one server" in said


def test_serving_what_is_not_there(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "serve", "no-such-folder") == 1
    assert "There is nothing at" in capsys.readouterr().err


COMMANDS = [
    "new",
    "dev",
    "test",
    "check",
    "list",
    "call",
    "build",
    "serve",
    "inspect",
    "bridge",
    "install",
    "uninstall",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_explains_itself_with_an_example(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert run(monkeypatch, command, "--help") == 0
    assert f"mcpframe {command}" in capsys.readouterr().out


def test_examples_are_lines_that_can_be_copied(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    group: Any = typer.main.get_command(app)
    inner = {f"packages {name}": each for name, each in group.commands["packages"].commands.items()}
    for name, command in {**group.commands, **inner}.items():
        if name == "packages":
            continue
        assert run(monkeypatch, *name.split(), "--help") == 0
        shown = "\n".join(line.rstrip() for line in capsys.readouterr().out.splitlines())
        listed = commands_in(command.epilog)
        assert listed
        assert commands_in(shown) == listed
        assert all(
            shlex.split(each)[: 1 + len(name.split())][-1] == name.split()[-1] for each in listed if "uvx" not in each
        )


def test_a_long_example_breaks_between_its_options() -> None:
    long = "mcpframe call URL find name=Ada --enter 'Choose a file=@people.json' --enter 'Use this document'"
    assert examples(long).splitlines()[2:] == [
        "  mcpframe call URL find name=Ada --enter 'Choose a file=@people.json' \\",
        "      --enter 'Use this document'",
    ]
    assert commands_in(examples(long, "mcpframe dev")) == [long, "mcpframe dev"]


def test_the_shell_completes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("_MCPFRAME_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "mcpframe ")
    monkeypatch.setenv("COMP_CWORD", "1")
    monkeypatch.setattr(sys, "argv", ["mcpframe"])
    with pytest.raises(SystemExit):
        main()
    assert set(COMMANDS) <= set(capsys.readouterr().out.split())


def test_new_makes_a_project(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, "new", "hello") == 0
    assert (tmp_path / "hello" / "server.py").is_file()
    assert "mcpframe test" in capsys.readouterr().out


def test_new_makes_a_server_with_a_view(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, "new", "lucky-dice", "--view") == 0
    assert "put its address into server.py" in capsys.readouterr().out
    folder = tmp_path / "lucky-dice"
    assert 'MCPServer("lucky-dice"' in (folder / "server.py").read_text()
    assert "https://tools.example/lucky-dice/" in (folder / "server.py").read_text()
    assert 'FrameServer("lucky-dice"' in (folder / "src" / "view.py").read_text()
    assert 'title = "Lucky dice"' in (folder / "pyproject.toml").read_text()
    assert run(monkeypatch, "new", "other", "--view", "--template", "pi-calculator") == 2
    assert "--template pi-calculator" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("template", template_names())
def test_new_suggests_what_works_for_the_template(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, template: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, "new", "hello", "--template", template) == 0
    suggests_dev = "mcpframe dev" in capsys.readouterr().out
    try:
        check_path(tmp_path / "hello")
    except ConfigError:
        assert not suggests_dev
    else:
        assert suggests_dev


def test_serve_prints_what_templates_allow(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "pi").mkdir()
    (tmp_path / "pi" / "index.html").write_text("<!doctype html>")

    def stop(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mcpframe.kit.cli.shared.output.time.sleep", stop)
    assert run(monkeypatch, "serve", str(tmp_path), "--port", "0", "--port", "0") == 130
    addresses = [line for line in capsys.readouterr().out.splitlines() if line.startswith("http")]
    assert all(re.fullmatch(r"http://localhost:\d+/pi/", address) for address in addresses)
    assert len(set(addresses)) == 2


@pytest.mark.parametrize(
    ("arguments", "folder", "passed"),
    [
        ([], ".", []),
        (["project", "-k", "add", "-x"], "project", ["-k", "add", "-x"]),
        (["-x"], ".", ["-x"]),
        (["t.py::test"], ".", ["t.py::test"]),
    ],
)
def test_test_is_pytest_with_the_plugin(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], folder: str, passed: list[str]
) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path)
    calls: list[tuple[list[str], Path]] = []

    def call(command: list[str], cwd: Path) -> int:
        calls.append((command, cwd))
        return 5

    monkeypatch.setattr("mcpframe.kit.cli.building.testing.subprocess.call", call)
    assert run(monkeypatch, "test", *arguments) == 5
    [(command, cwd)] = calls
    assert command[:3] == [sys.executable, "-m", "pytest"]
    assert (command[len(command) - len(passed) :], cwd) == (passed, Path(folder))


def test_ctrl_c_is_status_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(*_: object, **__: object) -> BuildResult:
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline, "build", build)
    assert run(monkeypatch, "build") == 130


@pytest.mark.parametrize(
    ("file", "told"), [(None, "The disk is full: free"), ("/tmp/x", "The disk is full (/tmp/x): free")]
)
def test_a_full_disk_is_told_wherever_it_is_met(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], file: str | None, told: str
) -> None:
    def build(*_: object, **__: object) -> BuildResult:
        raise OSError(errno.ENOSPC, "No space left on device", file)

    monkeypatch.setattr(pipeline, "build", build)
    assert run(monkeypatch, "build") == 1
    assert capsys.readouterr().err == f"error: {told} some space and run this again.\n"


def test_a_step_on_a_terminal_shows_its_count_and_its_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(output, "err", Console(file=shown, force_terminal=True, highlight=False))
    monkeypatch.setattr(progress, "COUNTS_EVERY", 0.0)
    now = time.monotonic()
    monkeypatch.setattr(output, "time", SimpleNamespace(monotonic=lambda: now))
    with output.step("Doing [it]"):
        progress.count(3, 5)
        now += 7
    text = re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", shown.getvalue())
    assert "Doing [it] 3/5 7 s" in text
    assert text.endswith("Doing [it]: 7.0 s\n")


@pytest.mark.parametrize(
    ("count", "line"), [(0, ""), (2, "t0, t[1"), (12, "t11"), (13, " and 1 more"), (171, " and 159 more")]
)
def test_a_line_has_the_first_names_only(count: int, line: str) -> None:
    shown = output.some_of(["t0", "t[1", *(f"t{number}" for number in range(2, count))][:count])
    assert shown.endswith(line)
    assert len(shown) < 100
