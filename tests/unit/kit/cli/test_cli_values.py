"""Every option and argument of every command with values that cannot be one: one line, and no traceback."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main

from mcpframe.kit.cli.main import app, main

LONG = "x" * 5000
DEEP = "[" * 100_000
PORTS = ["80000", "-1", "abc", "1.5", ""]
SECONDS = ["0", "-1", "nan", "inf", "1e999", "1e10", "abc", ""]
ORIGINS = ["*", "null", "chat.example", "https://chat.example/path", "https://", "ftp://x", ""]
ADDRESSES = [
    "http://",
    "http://[::1",
    "http://localhost:99999/",
    "http://a b/",
    "http://user:pass@tools.example/",
    "ftp://tools.example/",
    "http://tést.example:0x/",
]
PATHS = ["nothing", LONG, "empty", "file.txt", ""]
SITES = ["null", "chat.example", "https://chat.example/path", "https://*.example", ""]
DEVTOOLS = [
    "ftp://x",
    "http://",
    "127.0.0.1:9222",
    "ws://127.0.0.1:9222",
    "http://[::1",
    "http://x:99999",
    "http://a@x",
    "",
]
DIALECTS = ["telex", "mcp_apps", LONG, ""]
SETTINGS = ["args=1", "other=1", ""]
HOST_NAMES = ["a b", "https://x", "x/y", f"{'a' * 60}_", ""]
RATES = ["5", "0/minute", "1/lustrum", ""]
PROXIES = ["*", "proxy.example", "10.0.0.5/8", ""]
NOWHERE = "http://127.0.0.1:9/"  # discard: nobody listens

# A command with what it needs besides the value, and the values.
TABLE: dict[tuple[str, str], tuple[list[str], list[str]]] = {
    ("new", "name"): ([], ["a b", "-", "..", "a/b", LONG, ""]),
    ("new", "--package"): (["a"], ["a b", "../up", "a==", ""]),
    ("new", "--set"): (["a"], SETTINGS),
    ("new", "--template"): (["a"], ["nothing", LONG, "../minimal", ""]),
    ("dev", "path"): (["--no-open"], PATHS),
    ("dev", "--set"): (["project", "--no-open"], SETTINGS),
    ("dev", "--port"): (["--no-open"], PORTS),
    ("test", "path"): ([], ["nothing", LONG]),
    ("check", "target"): ([], [*PATHS, *ADDRESSES]),
    ("check", "--origin"): ([NOWHERE], ORIGINS),
    ("check", "--dialect"): ([NOWHERE], DIALECTS),
    ("check", "--timeout"): ([NOWHERE], SECONDS),
    ("check", "--host"): ([NOWHERE], ["nowhere", LONG, ""]),
    ("check", "--set"): ([NOWHERE], SETTINGS),
    ("check", "--server"): ([NOWHERE, "--views"], ["'open", '"']),
    ("publish", "host"): ([], ["nowhere", LONG, ""]),
    ("publish", "path"): (["folder"], PATHS),
    ("publish", "--out"): (["folder", "project"], ["file.txt", "empty", "nothing", LONG]),
    ("list", "url"): ([], [*PATHS, *ADDRESSES]),
    ("list", "--origin"): ([NOWHERE], ORIGINS),
    ("list", "--dialect"): ([NOWHERE], DIALECTS),
    ("list", "--era"): ([NOWHERE], ["foo", "2025-11-25", ""]),
    ("list", "--timeout"): ([NOWHERE], SECONDS),
    ("list", "--set"): ([NOWHERE], SETTINGS),
    ("list", "--enter"): ([NOWHERE], ["=x", "a=@nothing", f"a=@{LONG}", "a=@"]),
    ("call", "url"): ([], [*PATHS, *ADDRESSES]),
    ("call", "tool"): ([NOWHERE], ["", LONG]),
    ("call", "pairs"): ([NOWHERE, "tool"], ["a", "=1"]),
    ("call", "--args"): (
        [NOWHERE, "tool"],
        ["", "{", "[1]", DEEP, '{"a": NaN}', '{"a": 1e999}', '{"a": "\\ud800"}', "-"],
    ),
    ("call", "--save"): ([NOWHERE, "tool"], ["file.txt", LONG]),
    ("call", "--log"): ([NOWHERE, "tool"], ["loud", ""]),
    ("call", "--origin"): ([NOWHERE, "tool"], ORIGINS),
    ("call", "--dialect"): ([NOWHERE, "tool"], DIALECTS),
    ("call", "--era"): ([NOWHERE, "tool"], ["foo"]),
    ("call", "--timeout"): ([NOWHERE, "tool"], SECONDS),
    ("call", "--call-timeout"): ([NOWHERE, "tool"], SECONDS),
    ("call", "--answer"): ([NOWHERE, "tool"], ["x", "=x"]),
    ("call", "--set"): ([NOWHERE, "tool"], SETTINGS),
    ("call", "--enter"): ([NOWHERE, "tool"], ["=x"]),
    ("build", "path"): ([], [*PATHS, "package:", "package:a b", "package:../up", "package:a==", f"package:{LONG}"]),
    ("build", "--out"): (["project"], ["file.txt", "file.txt/inside", LONG]),
    ("build", "--allow-origin"): (["project"], ["chat.example", "https://chat.example/path", ""]),
    ("build", "--url"): (["project"], [*ADDRESSES, "tools.example", "https://tools.example/?a"]),
    ("build", "--set"): (
        ["package:thing"],
        [
            *(
                "args='open",
                "env.NAME",
                "env.=1",
                "env",
                "other=1",
                "",
                "persist=notes.txt",
                "persist=/",
                "persist=~/../x",
            ),
            *("leave_out=a b", "leave_out=lupa==2", "visitor_env=A=B", "csp.connect_src=a b", "csp.connect_src="),
            *("csp.connect_src='unsafe-eval'", "csp.connect_src=https://a.example; script-src *"),
        ],
    ),
    ("build", "--keep-deploys"): ([], ["-1", "2161", "abc", "1.5", ""]),
    ("publish", "--keep-deploys"): (["folder"], ["-1", "2161", "abc", "1.5", ""]),
    ("build", "--max-unpacked"): ([], ["63", "4001", "-1", "abc", "1e9", ""]),
    ("proxy", "--allow-host"): ([], ["", "a b", "ftp://a.example", "https://"]),
    ("proxy", "--allow-origin"): (["--allow-host", "a.example"], SITES),
    ("proxy", "--name"): (["--allow-host", "a.example"], ["", "a b", "http://a.example", "*"]),
    ("proxy", "--port"): (["--allow-host", "a.example"], PORTS),
    ("run", "package"): (["--no-open"], ["a b", "../up", "a==", LONG, ""]),
    ("run", "--set"): (["thing"], SETTINGS[1:]),
    ("run", "--port"): (["thing"], PORTS),
    ("build", "--distribution"): (["project"], [*ADDRESSES, "a\0b"]),
    ("packages fetch", "names"): (["--to", "empty"], ["a b", "../up", LONG, ""]),
    ("packages fetch", "--to"): (["numpy"], ["file.txt", LONG]),
    ("packages fetch", "--distribution"): (["numpy", "--to", "empty"], ADDRESSES),
    ("serve", "target"): ([], ["nothing", LONG, "file.txt"]),
    ("serve", "--port"): (["empty"], PORTS),
    ("serve", "--host"): (["project", "--python"], ["0.0.0.0", "nowhere.example", "a b"]),
    ("serve", "--workers"): (["project", "--python"], ["0", "-1", "257", "abc", ""]),
    ("serve", "--storage"): (["project", "--python"], ["sqlite:", "mysql://u@h/x", "postgresql://", "file.txt"]),
    ("serve", "--tokens"): (["project", "--python"], ["nothing", "empty", "file.txt"]),
    ("serve", "--state-key"): (["project", "--python"], ["short", ""]),
    ("serve", "--public-host"): (["project", "--python"], HOST_NAMES),
    ("serve", "--allow-origin"): (["project", "--python"], SITES),
    ("serve", "--oauth"): (["project", "--python"], ["nothing", "empty", "file.txt", ""]),
    ("serve", "--rate-limit"): (["project", "--python"], RATES),
    ("serve", "--trusted-proxy"): (["project", "--python"], PROXIES),
    ("bridge", "--host"): ([NOWHERE, "--http"], ["0.0.0.0", "nowhere.example", "a b", ""]),
    ("bridge", "--public-host"): ([NOWHERE, "--http"], HOST_NAMES),
    ("bridge", "--tokens"): ([NOWHERE, "--http"], ["nothing", "empty", "file.txt"]),
    ("bridge", "--oauth"): ([NOWHERE, "--http"], ["nothing", "empty", "file.txt", ""]),
    ("bridge", "--rate-limit"): ([NOWHERE, "--http"], RATES),
    ("bridge", "--trusted-proxy"): ([NOWHERE, "--http"], PROXIES),
    ("hub", "--host"): (["--http"], ["0.0.0.0", "nowhere.example", "a b", ""]),
    ("hub", "--public-host"): (["--http"], HOST_NAMES),
    ("hub", "--tokens"): (["--http"], ["nothing", "empty", "file.txt"]),
    ("hub", "--oauth"): (["--http"], ["nothing", "empty", "file.txt", ""]),
    ("hub", "--rate-limit"): (["--http"], RATES),
    ("hub", "--trusted-proxy"): (["--http"], PROXIES),
    ("inspect", "targets"): (["--no-open"], [*PATHS, *ADDRESSES]),
    ("inspect", "--set"): ([NOWHERE, "--no-open"], SETTINGS),
    ("inspect", "--site"): (["--hub", "--no-open"], SITES),
    ("inspect", "--attach"): (["--hub", "--ask", "--no-open"], DEVTOOLS),
    ("inspect", "--profile"): (["--hub", "--no-open"], ["file.txt", LONG]),
    ("inspect", "--port"): (["--no-open"], PORTS),
    ("inspect", "--dialect"): ([NOWHERE, "--no-open"], DIALECTS),
    ("inspect", "--era"): (["--no-open"], ["foo"]),
    ("bridge", "where"): ([], [*PATHS, *ADDRESSES]),
    ("bridge", "--port"): ([NOWHERE, "--http"], PORTS),
    ("bridge", "--allow-origin"): ([NOWHERE, "--http"], ["*", "chat.example", ""]),
    ("bridge", "--dialect"): ([NOWHERE], [*DIALECTS, "mcp_b"]),
    ("bridge", "--session"): ([NOWHERE], ["", LONG, "a\nb"]),
    ("bridge", "--profile"): ([NOWHERE], ["file.txt", LONG]),
    ("bridge", "--timeout"): ([NOWHERE], SECONDS),
    ("bridge", "--busy-timeout"): ([NOWHERE], SECONDS[1:]),
    ("bridge", "--page-memory"): ([NOWHERE], ["-1", "much", "1.5", ""]),
    ("bridge", "--browsers"): ([NOWHERE], [*DEVTOOLS, "http://127.0.0.1:9222,", "http://127.0.0.1:9222,x"]),
    ("bridge", "--drain"): ([NOWHERE, "--http"], SECONDS[1:]),
    ("bridge", "--name"): ([NOWHERE, "--http"], ["", "b-1", "b/1", "B1", "b\n", "é", "x" * 33]),
    ("bridge", "--metrics"): ([NOWHERE, "--http"], ["", "65536", "name:9464", "10.0.0.5", "::1:9464", "9464/metrics"]),
    ("bridge", "--sessions"): ([NOWHERE, "--http"], ["0", "1001", "many", ""]),
    ("bridge", "--sessions-per-user"): ([NOWHERE, "--http"], ["0", "1001", "many", "", "2"]),
    ("bridge", "--card"): ([NOWHERE, "--http"], ["nothing", "empty", "file.txt", LONG]),
    ("announce", "where"): (["--name", "a/b", "--mcpb"], ["nothing", *ADDRESSES, ""]),
    ("announce", "--name"): ([NOWHERE, "--mcpb"], ["", LONG, "a\nb"]),
    ("announce", "--output"): ([NOWHERE, "--name", "a/b", "--mcpb"], ["file.txt", LONG]),
    ("announce", "--description"): ([NOWHERE, "--name", "a/b", "--mcpb"], ["", LONG]),
    ("announce", "--server-version"): ([NOWHERE, "--name", "a/b", "--mcpb"], ["", LONG]),
    ("announce", "--author"): ([NOWHERE, "--name", "a/b", "--mcpb"], ["", LONG]),
    ("announce", "--release"): ([NOWHERE, "--name", "a/b", "--mcpb"], ["", LONG]),
    ("announce", "--package"): ([NOWHERE, "--name", "a/b", "--server-json"], ["", LONG]),
    ("announce", "--remote"): ([NOWHERE, "--name", "a/b", "--card"], ["", LONG]),
    ("install", "where"): (["--client", "vscode", "--yes"], ["nothing", LONG, "", *ADDRESSES]),
    ("install", "--client"): ([NOWHERE, "--yes"], ["emacs", ""]),
    ("install", "--set"): ([NOWHERE, "--client", "vscode", "--yes"], SETTINGS),
    ("install", "--name"): ([NOWHERE, "--client", "vscode", "--yes"], ["", "a\nb", LONG]),
    ("install", "--project"): ([NOWHERE, "--client", "vscode", "--yes"], ["nothing", LONG, "file.txt"]),
    ("install", "--session"): ([NOWHERE, "--client", "vscode", "--yes"], ["", LONG]),
    ("install", "--profile"): ([NOWHERE, "--client", "vscode", "--yes"], ["file.txt", LONG]),
    ("install", "--site"): (["--hub", "--client", "vscode", "--yes"], SITES),
    ("install", "--attach"): (["--hub", "--ask", "--client", "vscode", "--yes"], DEVTOOLS),
    ("hub", "pages"): ([], ["file.txt", "", "--no-sandbox", *ADDRESSES]),
    ("hub", "--site"): ([], SITES),
    ("hub", "--attach"): (["--ask"], [*DEVTOOLS, "ws://127.0.0.1:9222/a,wss://127.0.0.1:9223/b"]),
    ("hub", "--port"): (["--http"], PORTS),
    ("hub", "--allow-origin"): (["--http"], SITES),
    ("hub", "--profile"): ([], ["file.txt", LONG]),
    ("hub", "--longest-name"): ([], ["39", "129", "many", ""]),
    ("hub", "--log"): ([], ["empty", "file.txt/inside", LONG, ""]),
    ("hub", "--extension"): ([], ["file.txt", LONG]),
    ("install", "--extension-id"): (["--hub", "--native", "--yes"], ["", "abc", "A" * 32, LONG]),
    ("install", "--port"): (["--hub", "--native", "--http", "--yes"], PORTS),
    ("install", "--longest-name"): (["--hub", "--yes"], ["39", "129", "many", ""]),
    ("install", "--log"): (["--hub", "--yes"], ["empty", ""]),
    ("install", "--allow-origin"): (["--hub", "--native", "--http", "--yes"], SITES),
    ("uninstall", "--profile"): (["nothing"], ["file.txt", LONG]),
    ("uninstall", "name"): ([], ["", "nothing", "a\nb", LONG]),
    ("uninstall", "--client"): (["nothing"], ["emacs", ""]),
    ("uninstall", "--project"): (["nothing"], ["nothing", LONG, "file.txt"]),
}


def test_the_table_has_every_value_that_there_is() -> None:
    group: Any = typer.main.get_command(app)
    groups = {name: getattr(command, "commands", None) for name, command in group.commands.items()}
    commands = {name: command for name, command in group.commands.items() if not groups[name]}
    commands |= {f"{name} {inner}": command for name in groups for inner, command in (groups[name] or {}).items()}
    there = {
        (name, part.name if part.param_type_name == "argument" else max(part.opts, key=len))
        for name, command in commands.items()
        for part in command.params
        if not getattr(part, "is_flag", False)
    }
    assert there == set(TABLE)


def cases() -> list[Any]:
    return [
        pytest.param(command, option, needed, value, id=f"{command} {option} {value[:24]!r}")
        for (command, option), (needed, values) in TABLE.items()
        for value in values
    ]


@pytest.mark.parametrize(("command", "option", "needed", "value"), cases())
def test_a_value_that_cannot_be_one(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    command: str,
    option: str,
    needed: list[str],
    value: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe")))
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.txt").write_text("mine")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "server.py").write_text("from mcpframe import FrameServer\nserver = FrameServer('a')\n")
    given = [f"{option}={value}"] if option.startswith("--") else ["--", value] if value.startswith("-") else [value]
    monkeypatch.setattr(sys, "argv", ["mcpframe", *command.split(), *needed, *given])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (1, 2)
    told = capsys.readouterr()
    lines = told.err.splitlines()
    assert len(lines) == 1, told.err[:2000]
    assert lines[0].startswith("error: ")
    assert told.out == ""
    assert (tmp_path / "file.txt").read_text() == "mine"


def test_who_reads_the_output_may_have_enough(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "mcpframe", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    )
    assert process.stdout
    process.stdout.close()
    assert process.stderr
    with process.stderr:
        assert process.stderr.read() == b""
    process.wait(30)
