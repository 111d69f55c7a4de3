"""Targets of commands: a page that is not a server is served only where a command takes pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.base.progress import silent
from mcpframe.kit.bundle.output_root import BuildResult
from mcpframe.kit.cli.shared.served_target import addressed
from mcpframe.kit.servers.published import fetch


def write_page(_: Path, root: Path, **__: object) -> BuildResult:
    """Write the page's bundle, as a build does."""
    manifest = {"mcpframe_manifest": 1, "kind": "page", "files": [{"path": "shop/index.html"}]}
    (folder := root / "shop").mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "index.html").write_text("<p>Shop")
    return BuildResult("shop", folder, manifest, ())


@pytest.fixture(params=["project", "bundle"])
def page(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page: a project, whose build is stood in for, or a built folder."""
    if request.param == "bundle":
        return write_page(tmp_path, tmp_path / "dist").folder
    monkeypatch.setattr("mcpframe.kit.bundle.pipeline.build", write_page)
    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path / "cache"))
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "shop"\n[tool.mcpframe]\nkind = "page"\n')
    (tmp_path / "main.py").write_text("")
    return tmp_path


def test_a_page_is_served_only_where_pages_are_meant(page: Path) -> None:
    with pytest.raises(ConfigError, match="is a page, not a server"), addressed(str(page), progress=silent):
        pass
    assert not (page / "cache" / "testing").exists()  # a project is not built in vain
    with addressed(str(page), pages=True, progress=silent) as address:
        assert fetch(address).body == b"<p>Shop"
