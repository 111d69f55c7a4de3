"""Every template passes its own tests, as its author would run them; and it is complete."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from mcpframe.kit.bundle.packages.lock import read_lock
from mcpframe.kit.cli.building.testing import plugin_arguments
from tests.support.author_tests import run_projects

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted(path.parent for path in (ROOT / "templates").glob("*/pyproject.toml"))
NOT_FRAMED = {"conversation", "dashboard", "notes-board", "shop"}
"""Pages in tabs of their own, which nobody is to frame."""
WITH_A_VIEW = {"data-analyst", "forecast", "view"}
"""Hosts of MCP Apps make up the origins that views are shown at."""


@pytest.fixture(params=TEMPLATES, ids=lambda path: path.name)
def template(request: pytest.FixtureRequest) -> Path:
    folder: Path = request.param
    return folder


@pytest.fixture(scope="module")
def runs() -> dict[Path, tuple[int, str]]:
    """The tests of every template, in memory: `test_new` has the browser."""
    return run_projects(TEMPLATES, *plugin_arguments(), "--mcpframe-memory")


def test_its_own_tests_pass(template: Path, runs: dict[Path, tuple[int, str]]) -> None:
    code, output = runs[template]
    assert code == 0, output[-5000:]


def test_it_is_complete(template: Path) -> None:
    config = tomllib.loads((template / "pyproject.toml").read_text("utf-8"))
    assert config["project"]["name"] == template.name
    assert config["tool"]["mcpframe"]["title"]
    framed = template.name not in NOT_FRAMED
    origins = ["http://localhost:8000"] if framed else []
    allowed = {"sep": origins, "mcp_apps": ["*", "null"]} if template.name in WITH_A_VIEW else origins
    assert config["tool"]["mcpframe"]["allowed_origins"] == allowed
    assert read_lock(template / "mcpframe.lock")
    assert "## Use it" in (template / "README.md").read_text("utf-8")
    assert list((template / "tests").glob("test_*.py"))


def test_the_conversation_and_the_forecast_fit_together() -> None:
    conversation = ROOT / "templates" / "conversation"
    config = tomllib.loads((conversation / "pyproject.toml").read_text("utf-8"))
    (origin,) = config["tool"]["mcpframe"]["csp"]["frame_src"]
    server = json.loads((conversation / "addresses.json").read_text("utf-8"))["server"]
    assert server == f"{origin}/forecast/"
    assert f'"{server}"' in (ROOT / "templates" / "forecast" / "server.py").read_text("utf-8")  # where its view is


def test_the_dashboard_and_the_copilot_fit_together() -> None:
    dashboard = ROOT / "templates" / "dashboard"
    config = tomllib.loads((dashboard / "pyproject.toml").read_text("utf-8"))
    (origin,) = config["tool"]["mcpframe"]["csp"]["frame_src"]
    assert json.loads((dashboard / "copilot.json").read_text("utf-8"))["url"] == f"{origin}/copilot/"
