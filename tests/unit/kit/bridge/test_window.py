"""Whether a bridge shows its server's page in a window."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.kit.base.errors import BridgeError
from mcpframe.kit.bridge import run
from mcpframe.kit.bridge.run import BridgeOptions
from mcpframe.kit.bridge.target import Target
from mcpframe.kit.browser.profile import Profile, Remembered

KEY = "https://tools.example/pi/"


def shows_window(folder: Path, *, window: bool | None, is_seen: bool, visibility: str = "hidden") -> bool:
    profile = Profile(folder)
    profile.remember(KEY, Remembered("session", visibility=visibility))
    target = Target(KEY, {}, lambda: KEY, lambda: is_seen)
    return run._Work(BridgeOptions(KEY, window=window), target, profile, Path("chromium"), {}).shows_window()


@pytest.fixture(params=[True, False], ids=["a display", "no display"])
def display(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(run, "has_display", lambda: request.param)
    return bool(request.param)


@pytest.mark.parametrize(("is_seen", "visibility"), [(True, "hidden"), (False, "required")])
def test_a_page_that_has_to_be_seen_has_one_where_there_is_a_display(
    tmp_path: Path, display: bool, is_seen: bool, visibility: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shows_window(tmp_path, window=None, is_seen=is_seen, visibility=visibility) is display
    assert ("there is no display" in capsys.readouterr().err) is not display
    assert not shows_window(tmp_path, window=False, is_seen=is_seen, visibility=visibility)
    assert capsys.readouterr().err == ""


def test_any_other_page_has_one_if_asked_for(tmp_path: Path, display: bool) -> None:
    assert not shows_window(tmp_path, window=None, is_seen=False, visibility="optional")
    if display:
        assert shows_window(tmp_path, window=True, is_seen=False)
    else:
        with pytest.raises(BridgeError, match="--window"):
            shows_window(tmp_path, window=True, is_seen=False)


def test_a_setup_is_refused_in_a_dialect_without_one() -> None:
    with pytest.raises(BridgeError, match="'plain_mcp' has no setup: leave out --setup"):
        run.run_bridge(BridgeOptions(KEY, setup=True, dialect="plain_mcp"), lambda _: pytest.fail("served"))
