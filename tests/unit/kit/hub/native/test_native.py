"""Around the extension's hub: frames of native messaging, and the registration with browsers."""

from __future__ import annotations

import json
import shlex
import stat
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from mcpframe.frame.core.errors import MalformedMessage, MessageError, MessageTooLarge
from mcpframe.hub.core.limits import TO_EXTENSION_CHARACTERS
from mcpframe.hub.serving.native_clients import FrameJoiner, frames_of
from mcpframe.kit.cli.main import app
from mcpframe.kit.hub.extension.identity import EXTENSION_ID
from mcpframe.kit.hub.native.native_framing import MOST_IN, MOST_OUT, NativeFrames, pack
from mcpframe.kit.hub.native.sessions import NativeSessions


@given(st.text(), st.integers(1, 9), st.integers(1, 9))
def test_a_message_crosses_in_pieces_however_it_is_cut(text: str, piece: int, cut: int) -> None:
    text = json.dumps(text, ensure_ascii=False)
    data = b"".join(pack(frame) for frame in frames_of("7", text, piece))
    frames, joiner = NativeFrames(), FrameJoiner()
    received = [frame for at in range(0, len(data), cut) for frame in frames.feed(data[at : at + cut])]
    *first, last = [joiner.add(frame) for frame in received]
    assert last == text
    assert not any(first)


def test_no_frame_for_the_browser_is_over_its_limit() -> None:
    assert all(
        len(pack(frame)) <= MOST_OUT
        for frame in frames_of("7" * 20, "😀" * 3 * TO_EXTENSION_CHARACTERS, TO_EXTENSION_CHARACTERS)
    )
    with pytest.raises(MessageTooLarge):
        pack({"text": "x" * MOST_OUT})


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (struct.pack("=I", MOST_IN + 1), MessageTooLarge),
        (struct.pack("=I", 3) + b"{,}", MalformedMessage),
        (struct.pack("=I", 2) + b"\xff\xff", MalformedMessage),
    ],
)
def test_what_a_browser_never_sends_is_an_error(data: bytes, error: type[MessageError]) -> None:
    frames = NativeFrames()
    assert list(frames.feed(struct.pack("=I", 2) + b"[]")) == []
    with pytest.raises(error):
        list(frames.feed(data))


def test_frames_of_nobodys_sessions_are_ignored() -> None:
    written: list[Any] = []
    sessions = NativeSessions(written.append)
    for session in ([], {}, 5, None, True, "", "7"):
        sessions.take({"session": session, "text": "{}"})
        sessions.take({"session": session, "end": ""})
    sessions.take({})
    assert not written


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    return tmp_path


def test_browsers_that_are_there_may_start_the_program(home: Path) -> None:
    run = CliRunner().invoke
    install = ["install", "--hub", "--native"]
    nothing = run(app, [*install, "--yes"])
    assert nothing.exit_code == 1
    (home / ".config" / "chromium").mkdir(parents=True)
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text("{}")
    assert run(app, install).exit_code == 1  # nobody can be asked
    file = home / ".config" / "chromium" / "NativeMessagingHosts" / "mcpframe.hub.json"
    assert not file.exists()
    http = ["--http", "--port", "1234", "--allow-origin", "https://chat.example"]
    done = run(app, [*install, "--yes", *http], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    manifest = json.loads(file.read_text())
    assert manifest["allowed_origins"] == [f"chrome-extension://{EXTENSION_ID}/"]
    script = Path(manifest["path"])
    command = [sys.executable, "-P", "-m", "mcpframe", "hub", "--native", "--http", "--port=1234"]
    assert shlex.split(script.read_text().splitlines()[1])[1:] == [*command, "--allow-origin=https://chat.example"]
    assert stat.S_IMODE(script.stat().st_mode) == stat.S_IMODE(script.parent.stat().st_mode) == 0o700
    entry = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]["mcpframe-hub"]
    assert [entry["command"], *entry["args"]] == [sys.executable, "-P", "-m", "mcpframe", "hub", "--connect"]
    gone = run(app, ["uninstall", "mcpframe-hub", "--native", "--yes"], catch_exceptions=False)
    assert gone.exit_code == 0
    assert not file.exists()
    assert json.loads((home / ".cursor" / "mcp.json").read_text()) == {"mcpServers": {}}


def test_a_profile_of_its_own_and_another_extension_can_be_named(home: Path) -> None:
    run = CliRunner().invoke
    profile, id_ = home / "profile", "abcdefghijklmnop" * 2
    options = ["--hub", "--native", "--profile", str(profile), "--extension-id", id_, "--yes"]
    done = run(app, ["install", *options], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    manifest = json.loads((profile / "NativeMessagingHosts" / "mcpframe.hub.json").read_text())
    assert manifest["allowed_origins"] == [f"chrome-extension://{id_}/"]
    for wrong in (["--extension-id", "xyz"], ["--site", "https://shop.example"], ["--attach", "http://127.0.0.1:1"]):
        assert run(app, ["install", "--hub", "--native", "--yes", *wrong]).exit_code == 2
    assert run(app, ["install", "--native", "--yes"]).exit_code == 2
    for lone in (["--http"], ["--extension-id", id_], ["--native", "--allow-origin", "https://chat.example"]):
        assert run(app, ["install", "--hub", "--yes", *lone]).exit_code == 2


@pytest.mark.parametrize("options", [["--native", "--connect"], ["--native", "--headless"], ["--connect", "--ask"]])
def test_options_that_do_not_go_together(options: list[str]) -> None:
    assert CliRunner().invoke(app, ["hub", *options]).exit_code == 2


def test_the_script_runs(home: Path) -> None:
    from mcpframe.kit.hub.native.manifests import script, write_script

    write_script()
    environment = {"HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "PYTHONPATH": str(Path(__file__).parents[4])}
    ended = subprocess.run([script()], stdin=subprocess.DEVNULL, capture_output=True, timeout=120, env=environment)
    assert ended.returncode == 0, ended.stderr
    (size,) = struct.unpack_from("=I", ended.stdout)
    assert json.loads(ended.stdout[4 : 4 + size])["state"]["serves"] is False
