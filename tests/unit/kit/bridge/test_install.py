"""Adding a server to a client's configuration: nothing else changes, and what cannot be kept is left alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from mcpframe.kit.base.errors import BuildError, InstallError
from mcpframe.kit.base.user_folders import UserFolders
from mcpframe.kit.bridge.chromium.bridge_page import HOST_ORIGIN
from mcpframe.kit.bridge.install.config_files import plan
from mcpframe.kit.bridge.install.environment import needed_variables
from mcpframe.kit.bridge.install.known_clients import BY_NAME, CLIENTS, KnownClient
from mcpframe.kit.cli.main import main
from mcpframe.kit.web.serve import serve_folder

COMMAND = ["python", "-m", "mcpframe", "bridge", "https://tools.example/pi/"]
CURSOR = BY_NAME["cursor"]


@pytest.fixture
def places(tmp_path: Path) -> UserFolders:
    return UserFolders(tmp_path / "home", tmp_path / "project", "linux", {})


def put(client: KnownClient, places: UserFolders, text: str) -> Path:
    path = client.place(places)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "platform", "expected"),
    [
        ("claude-desktop", "darwin", "home/Library/Application Support/Claude/claude_desktop_config.json"),
        ("claude-desktop", "linux", "home/.config/Claude/claude_desktop_config.json"),
        ("claude-desktop", "win32", "roaming/Claude/claude_desktop_config.json"),
        ("claude-code", "linux", "project/.mcp.json"),
        ("cursor", "darwin", "home/.cursor/mcp.json"),
        ("cursor-project", "linux", "project/.cursor/mcp.json"),
        ("vscode", "win32", "project/.vscode/mcp.json"),
        ("windsurf", "linux", "home/.codeium/windsurf/mcp_config.json"),
        ("gemini-cli", "linux", "home/.gemini/settings.json"),
        ("vscode-user", "darwin", "home/Library/Application Support/Code/User/mcp.json"),
        ("lm-studio", "win32", "home/.lmstudio/mcp.json"),
        ("zed", "darwin", "home/.config/zed/settings.json"),
        ("zed", "win32", "roaming/Zed/settings.json"),
        (
            "cline",
            "linux",
            "home/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ),
    ],
)
def test_where_the_files_are(tmp_path: Path, name: str, platform: str, expected: str) -> None:
    variables = {"APPDATA": str(tmp_path / "roaming")}
    places = UserFolders(tmp_path / "home", tmp_path / "project", platform, variables)
    assert BY_NAME[name].place(places) == tmp_path / expected


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_a_new_file(places: UserFolders, client: KnownClient) -> None:
    change = plan(client, places, "pi", COMMAND)
    assert not change.path.exists()
    change.write()
    settings = json.loads(change.path.read_text())
    entry = settings[client.key]["pi"]
    assert (entry["command"], entry["args"]) == ("python", COMMAND[1:])
    assert plan(client, places, "pi", COMMAND).is_none


def test_nothing_else_changes(places: UserFolders) -> None:
    settings = {"theme": "ü", "mcpServers": {"other": {"command": "x", "args": []}}, "last": [1, {"a": None}]}
    path = put(CURSOR, places, json.dumps(settings, indent=4, ensure_ascii=False) + "\n")
    path.chmod(0o640)
    change = plan(CURSOR, places, "pi", COMMAND)
    removed = [line for line in change.difference().splitlines()[2:] if line.startswith("-")]
    assert removed == []
    change.write()
    after = json.loads(path.read_text("utf-8"))
    assert after["mcpServers"].pop("pi")["command"] == "python"
    assert after == settings
    assert list(after) == list(settings)
    assert path.stat().st_mode & 0o777 == 0o640


def test_its_own_entry_is_renewed_with_what_a_person_added(places: UserFolders) -> None:
    old = {"command": "old", "args": ["-m", "mcpframe", "bridge", "x"], "env": {"A": "1"}}
    path = put(CURSOR, places, json.dumps({"mcpServers": {"pi": old}}))
    plan(CURSOR, places, "pi", COMMAND).write()
    entry = json.loads(path.read_text())["mcpServers"]["pi"]
    assert entry == {"command": "python", "args": COMMAND[1:], "env": {"A": "1"}}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not JSON"),
        ('{"mcpServers": {}} trailing', "not JSON"),
        ('{\n  // a comment\n  "mcpServers": {}\n}', "not JSON"),
        ('{"mcpServers": {}, "mcpServers": {}}', "a key is there twice"),
        ("[" * 100_000, "not JSON"),
        ("[]", "does not contain a JSON object"),
        ('{"mcpServers": []}', '"mcpServers" is not a JSON object'),
        ('{"mcpServers": {"pi": {"command": "theirs"}}}', "another server named 'pi'"),
        ('{"mcpServers": {"pi": null, "q": 1}}', ""),
    ],
)
def test_what_cannot_be_kept_is_left_alone(places: UserFolders, text: str, why: str) -> None:
    path = put(CURSOR, places, text)
    if why:
        with pytest.raises(InstallError, match=why):
            plan(CURSOR, places, "pi", COMMAND)
    else:
        plan(CURSOR, places, "pi", COMMAND)
    assert path.read_text() == text


def test_a_file_that_is_no_text(places: UserFolders) -> None:
    path = put(CURSOR, places, "")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InstallError, match="UTF-8"):
        plan(CURSOR, places, "pi", COMMAND)


def test_variables_of_this_shell_are_renewed_and_others_kept(places: UserFolders) -> None:
    old = {"command": "old", "args": ["-m", "mcpframe", "bridge", "x"], "env": {"A": "1", "HTTPS_PROXY": "http://old"}}
    path = put(CURSOR, places, json.dumps({"mcpServers": {"pi": old}}))
    variables = {"HTTPS_PROXY": "http://new"}
    plan(CURSOR, places, "pi", COMMAND, variables).write()
    assert json.loads(path.read_text())["mcpServers"]["pi"]["env"] == {"A": "1", "HTTPS_PROXY": "http://new"}
    assert plan(CURSOR, places, "pi", COMMAND, variables).is_none


def test_what_fetches_and_the_browser_need_and_no_passwords() -> None:
    shell = {
        "HTTPS_PROXY": "http://proxy.example:3128",
        "no_proxy": "localhost",
        "ALL_PROXY": "",
        "http_proxy": "http://me:secret@proxy.example",
        "UV_INDEX": "https://a.example/simple https://me:secret@b.example/simple",
        "PIP_EXTRA_INDEX_URL": "https://c.example/simple",
        "PIP_INDEX_URL": "https://me:secret@d.example/simple",
        "NODE_EXTRA_CA_CERTS": "/etc/ca.pem",
        "MCPFRAME_CACHE": "/cache",
        "MCPFRAME_CHROMIUM": "/opt/chrome",
        "XDG_CACHE_HOME": "/x",
        "HOME": "/home/me",
        "TOKEN": "secret",
        "MY_HTTPS_PROXY": "x",
    }
    kept, secret = needed_variables(shell)
    assert set(kept) == {
        *("HTTPS_PROXY", "no_proxy", "NODE_EXTRA_CA_CERTS", "MCPFRAME_CACHE", "MCPFRAME_CHROMIUM", "XDG_CACHE_HOME"),
        "PIP_EXTRA_INDEX_URL",
    }
    assert set(secret) == {"http_proxy", "UV_INDEX", "PIP_INDEX_URL"}


def test_a_project_is_built_before_its_entry_is_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "pi.py").write_text("server = FrameServer('pi')\n")
    file = tmp_path / ".vscode" / "mcp.json"
    built: list[tuple[Path, list[str]]] = []
    works = False

    def build(path: Path, out: Path, *, allowed_origins: list[str], **_: object) -> None:
        built.append((path, allowed_origins))
        assert not file.exists()
        if not works:
            raise BuildError("It does not start.")

    monkeypatch.setattr("mcpframe.kit.bundle.pipeline.build", build)
    monkeypatch.setenv("HTTPS_PROXY", "http://me:secret@proxy.example")
    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path / "cache"))
    options = (str(tmp_path / "pi.py"), "--client", "vscode", "--project", str(tmp_path), "--yes")
    assert run(monkeypatch, *options) == 1
    assert "It does not start." in capsys.readouterr().err
    works = True
    assert run(monkeypatch, *options) == 0
    assert built == [(tmp_path / "pi.py", [HOST_ORIGIN])] * 2
    said = capsys.readouterr()
    assert "HTTPS_PROXY has a password" in said.err
    assert "secret" not in said.out + said.err + file.read_text()
    assert json.loads(file.read_text())["servers"]["pi"]["env"]["MCPFRAME_CACHE"] == str(tmp_path / "cache")
    file.unlink()
    assert run(monkeypatch, *options, "--no-check") == 0
    assert len(built) == 2


def test_a_file_that_changes_meanwhile(places: UserFolders) -> None:
    path = put(CURSOR, places, "{}")
    change = plan(CURSOR, places, "pi", COMMAND)
    path.write_text('{"new": 1}')
    with pytest.raises(InstallError, match="changed meanwhile"):
        change.write()
    assert path.read_text() == '{"new": 1}'


def test_a_link_stays_one(places: UserFolders, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    path = put(CURSOR, places, "")
    path.unlink()
    path.symlink_to(real)
    plan(CURSOR, places, "pi", COMMAND).write()
    assert path.is_symlink()
    assert "pi" in real.read_text()


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str, command: str = "install") -> Any:
    monkeypatch.setattr(sys, "argv", ["mcpframe", command, *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def test_the_command_shows_the_difference_and_writes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    project = ("--client", "vscode", "--project", str(tmp_path))
    assert run(monkeypatch, "https://tools.example/pi/", *project, "--session", "s", "--yes", "--no-check") == 0
    told = capsys.readouterr().out
    assert '+    "pi": {' in told
    assert "written" in told
    [entry] = json.loads((tmp_path / ".vscode" / "mcp.json").read_text())["servers"].values()
    assert entry["args"] == ["-P", "-m", "mcpframe", "bridge", "https://tools.example/pi/", "--session", "s"]
    assert run(monkeypatch, "https://tools.example/pi/", *project, "--session", "s", "--no-check") == 0
    assert "has it already" in capsys.readouterr().out


def test_nobody_to_ask_is_an_error_and_nothing_is_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ("https://tools.example/pi/", "--client", "vscode", "--project", str(tmp_path), "--no-check")
    assert run(monkeypatch, *arguments) == 1
    assert "--yes" in capsys.readouterr().err
    assert not (tmp_path / ".vscode").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("https://tools.example/", "--client", "emacs"), "'emacs' is not a known client"),
        (("nowhere", "--client", "vscode"), "There is nothing at"),
        (("https://user@tools.example/", "--client", "vscode"), "leave user and password out"),
    ],
)
def test_wrong_arguments(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], why: str
) -> None:
    assert run(monkeypatch, *arguments) == 1
    assert why in capsys.readouterr().err


def bundle(folder: Path, *allowed: str, kind: str = "server") -> Path:
    folder.mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html>")
    manifest = {"mcpframe_manifest": 1, "kind": kind, "allowed_origins": list(allowed)}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.mark.parametrize("kept", ["path", "address"])
def test_what_the_bridge_cannot_frame_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, kept: str
) -> None:
    bundle(tmp_path / "out" / "ours", HOST_ORIGIN)
    bundle(tmp_path / "out" / "anybodys", "*")
    bundle(tmp_path / "out" / "theirs", "https://chat.example")
    bundle(tmp_path / "out" / "page", "*", kind="page")
    (tmp_path / "project").mkdir()
    options = ("--client", "vscode", "--project", str(tmp_path / "project"), "--yes")
    with serve_folder(tmp_path / "out") as served:
        root = f"{served.origin}/" if kept == "address" else f"{tmp_path / 'out'}/"
        refused = [("page", "is a page")]
        if kept == "address":  # the bridge serves a folder itself, and embeds it whoever it was built for
            refused.append(("theirs", f"add {HOST_ORIGIN} to allowed_origins"))
        for name, why in refused:
            assert run(monkeypatch, f"{root}{name}{'/' if kept == 'address' else ''}", *options) == 1
            told = capsys.readouterr().err
            assert why in told
            assert "--no-check" in told
            assert not (tmp_path / "project" / ".vscode").exists()
        for name in ("ours", "anybodys"):
            assert run(monkeypatch, f"{root}{name}{'/' if kept == 'address' else ''}", *options) == 0


def test_an_address_with_nothing_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    options = ("--client", "vscode", "--project", str(tmp_path), "--yes")
    with serve_folder(tmp_path) as served:
        assert run(monkeypatch, f"{served.origin}/typo/", *options) == 1
        assert "status 404" in capsys.readouterr().err
        assert run(monkeypatch, f"{served.origin}/typo/", *options, "--no-check") == 0
    assert list(json.loads((tmp_path / ".vscode" / "mcp.json").read_text())["servers"]) == ["typo"]


def test_a_server_is_removed_again_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    places = UserFolders.here(tmp_path)
    other = {"command": "theirs", "args": []}
    path = put(BY_NAME["vscode"], places, json.dumps({"inputs": [], "servers": {"other": other}}, indent=4) + "\n")
    before = path.read_text()
    options = ("--client", "vscode", "--project", str(tmp_path))
    assert run(monkeypatch, "https://tools.example/pi/", *options, "--yes", "--no-check") == 0
    assert run(monkeypatch, "p", *options, command="uninstall") == 1
    assert "there is pi" in capsys.readouterr().err
    assert run(monkeypatch, "other", *options, "--yes", command="uninstall") == 1
    assert "did not add" in capsys.readouterr().err
    assert run(monkeypatch, "pi", *options, "--yes", command="uninstall") == 0
    assert '-        "pi": {' in capsys.readouterr().out
    assert path.read_text() == before


def test_the_hub_is_installed_and_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    options = ("--client", "vscode", "--project", str(tmp_path), "--yes")
    hub = ("--hub", "https://shop.example/", "--site", "https://shop.example", "--site", "https://b.example")
    assert run(monkeypatch, *hub, "--ask", "--profile", "kept", *options) == 0
    path = tmp_path / ".vscode" / "mcp.json"
    [(name, entry)] = json.loads(path.read_text())["servers"].items()
    assert (name, entry["command"]) == ("mcpframe-hub", sys.executable)
    assert entry["args"] == [
        *("-P", "-m", "mcpframe", "hub", "https://shop.example/"),
        *("--site=https://shop.example", "--site=https://b.example"),
        *("--ask", f"--profile={Path('kept').absolute()}"),
    ]
    attached = ("--hub", "--attach", "http://127.0.0.1:9222", "--site", "*", "--name", "mine")
    more = ("--longest-name", "64", "--log", "calls.log")
    assert run(monkeypatch, *attached, *more, *options) == 0
    assert json.loads(path.read_text())["servers"]["mine"]["args"][3:] == [
        *("hub", "--site=*", "--attach=http://127.0.0.1:9222"),
        *("--longest-name=64", f"--log={Path('calls.log').absolute()}"),
    ]
    assert run(monkeypatch, *attached, *options) == 0
    assert json.loads(path.read_text())["servers"]["mine"]["args"][3:] == [
        *("hub", "--site=*", "--attach=http://127.0.0.1:9222")
    ]
    assert run(monkeypatch, "mcpframe-hub", *options, command="uninstall") == 0
    assert list(json.loads(path.read_text())["servers"]) == ["mine"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "--hub"),
        (("https://a.example/", "--site", "https://a.example"), "only with --hub"),
        (("--hub", "--session", "s"), "no sessions"),
        (("--hub", "--attach", "http://127.0.0.1:9222"), "--site"),
        (("--hub", "--attach", "http://127.0.0.1:9222", "--ask", "--headless"), "has its own"),
        (("--hub", "--ask", "--headless"), "it needs a browser window"),
        (("https://a.example/", "--log", "calls.log"), "only with --hub"),
        (("--hub", "--native", "--longest-name", "64"), "without --native"),
    ],
)
def test_what_does_not_go_together(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    arguments: tuple[str, ...],
    why: str,
) -> None:
    assert run(monkeypatch, *arguments, "--client", "vscode", "--project", str(tmp_path), "--yes") == 2
    assert why in capsys.readouterr().err
    assert not (tmp_path / ".vscode").exists()
