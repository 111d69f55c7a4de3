"""Other people's servers, by their packages' names: console scripts of mcp 1.x and fastmcp, called in Chromium."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.packages.lock import read_lock
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.project.packaged import PackageOptions, package_project
from tests.bundle.served_pages import Serving, call
from tests.support.wheels import use_index, write_unmodified

pytestmark = pytest.mark.usefixtures("one_browser")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package index with the servers of templates/unmodified."""
    folder = tmp_path / "index"
    write_unmodified(folder)
    use_index(folder, monkeypatch)
    return folder


@pytest.mark.extended
@pytest.mark.usefixtures("index")
def test_a_lowlevel_server_of_mcp_1_has_its_arguments(tmp_path: Path, page: Page, host: str, serving: Serving) -> None:
    project = package_project("unmodified-units", tmp_path / "project", options=PackageOptions(allowed_origins=["*"]))
    with pytest.raises(BuildError, match=r"exited with status 2 before it served(.|\n)*required: --unit(.|\n)*args"):
        build(project, tmp_path / "out", snapshot=False)
    file = project / "pyproject.toml"
    file.write_text(re.sub("args = .*", 'args = ["--unit", "m"]', file.read_text()))
    result = build(project, tmp_path / "out", snapshot=False)
    assert [tool["description"] for tool in result.tools or ()] == ["Convert a length to m."]
    lock = read_lock(project / "mcpframe.lock")
    assert lock is not None
    assert lock.sdk == 1
    frame = f"{serving(tmp_path / 'out')}/unmodified-units/"
    answer = json.loads(call(page, host, frame, "convert", json.dumps({"value": 2, "from": "mile"})))
    assert answer["content"][0]["text"] == "3218.69 m"
