"""docs/how-to/testing.md: its example is a test of a template, and it names every fixture and option."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from mcpframe.kit.testing import plugin as testing
from mcpframe.kit.testing.app_bridge import AppBridgeHost
from mcpframe.kit.testing.app_view import AppView
from mcpframe.kit.testing.framed import FramedOptions

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "how-to" / "testing.md").read_text("utf-8")


def test_the_example_is_a_test_of_the_minimal_template() -> None:
    example = (ROOT / "templates" / "minimal" / "tests" / "test_server.py").read_text("utf-8").rstrip()
    assert f"```python\n{example}\n```" in TEXT


@pytest.mark.parametrize(
    "name", ["framed_client", "client", "framed", "frame_page", "app_host", "app_view", *testing._SETTINGS]
)
def test_fixtures_and_settings_are_documented(name: str) -> None:
    assert f"`{name}`" in TEXT or f"--mcpframe-{name}" in TEXT


@pytest.mark.parametrize("name", [field.name for field in fields(FramedOptions)])
def test_options_are_documented(name: str) -> None:
    assert f"`{name}`" in TEXT


@pytest.mark.parametrize("made", [AppBridgeHost, AppView])
def test_what_tests_do_with_a_view_is_documented(made: type) -> None:
    public = [name for name in vars(made) if not name.startswith("_")]
    elsewhere = {"open", "call", "complaints", "expect_complaint", "keep"}
    assert [name for name in public if f"{name}" not in TEXT and name not in elsewhere] == []
