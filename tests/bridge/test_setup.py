"""The setup phase: in a visible window, and remembered for the bridge. The window is a headless one here."""

from __future__ import annotations

import asyncio
import functools
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from mcpframe.kit.bridge.chromium.bridge_page import HOST_ORIGIN
from mcpframe.kit.bridge.chromium.pages import Pages
from mcpframe.kit.bridge.run import BridgeOptions, bridge_stdio, run_bridge
from mcpframe.kit.browser.devtools import browsers
from mcpframe.kit.browser.devtools.launch import launch
from mcpframe.kit.cli.main import main
from tests.bridge.programs import PATIENCE
from tests.bridge.test_browsers_elsewhere import Listener
from tests.support.built import build_plain
from tests.support.remote_chromium import RemoteChromium

SERVER = """
from mcpframe import FrameServer, Setup

server = FrameServer("greeter")


@server.setup(visible=False)
async def setup(session):
    await session.storage.set("greeting", "hello")
    return Setup(title="Greeter")


@server.tool()
async def greeting() -> str:
    return await server.session.storage.get("greeting", "nothing")


@server.tool()
async def greet(text: str) -> str:
    await server.session.storage.set("greeting", text)
    return text
"""


@pytest.fixture(autouse=True)
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no window where the bridge opens one."""

    @functools.wraps(launch)
    def unseen(*arguments: object, visible: bool, **options: object) -> object:
        assert visible
        return launch(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(browsers, "launch", unseen)
    monkeypatch.setenv("DISPLAY", ":0")


def test_a_setup_is_remembered(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))  # so that it ends after the setup
    bridge_stdio(BridgeOptions(server, "a session of mine", tmp_path, PATIENCE, setup=True))
    [known] = json.loads((tmp_path / "sessions.json").read_text()).values()
    assert known == {
        "session_id": "a session of mine",
        "title": "Everything",
        "visibility": "hidden",
        "permissions": [],
    }
    told = capsys.readouterr()
    assert "Everything is set up." in told.err
    assert told.out == ""


@pytest.mark.extended
def test_each_session_of_a_browser_elsewhere_begins_with_what_the_setup_has_stored(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    bundle = build_plain(tmp_path / "server.py", tmp_path / "dist", allowed_origins=[HOST_ORIGIN]).folder
    elsewhere = RemoteChromium(tmp_path / "elsewhere")
    told: list[str] = []

    async def serve(pages: Pages) -> None:
        for greeting in ("ciao", "salut"):
            client = Listener()
            page = await pages.open(client)
            told.append(await client.call(page, "greeting"))
            await client.call(page, "greet", greeting)
            await page.close()

    try:
        address = asyncio.run(elsewhere.start())
        options = BridgeOptions(str(bundle), profile=tmp_path / "profile", patience=PATIENCE, setup=True)
        run_bridge(replace(options, browsers=[address]), serve)
    finally:
        elsewhere.kill()
    assert told == ["hello", "hello"]
    [known] = json.loads((tmp_path / "profile" / "sessions.json").read_text()).values()
    assert known["title"] == "Greeter"


def test_browsers_elsewhere_have_no_setup_without_a_screen_or_for_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = ["bridge", "https://tools.example/", "--browsers", "http://127.0.0.1:9", "--setup"]
    monkeypatch.setattr(sys, "argv", ["mcpframe", *nowhere])
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    with pytest.raises(SystemExit):
        main()
    assert "add --http" in capsys.readouterr().err
    for variable in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(sys, "argv", ["mcpframe", *nowhere, "--http", "--port", "0", "--profile", str(tmp_path)])
    with pytest.raises(SystemExit):
        main()
    assert "desktop session" in capsys.readouterr().err
