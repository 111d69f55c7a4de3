"""Which dialects a bundle offers, and to whom."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mcpframe.frame.core.allowed_origins import OriginEntries, parse_allowed_origins
from mcpframe.frame.dialects.available import (
    entries_of,
    inner_candidates,
    offered_names,
    offers,
    spoken_names,
    withheld,
)
from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.bridge.chromium.bridge_page import HOST_ORIGIN
from mcpframe.kit.bundle.assembly.description import ServerDescription, SetupDescription
from mcpframe.kit.bundle.assembly.inbox import inbox_data
from mcpframe.kit.bundle.assembly.offered import (
    check_origins_early,
    embedders,
    lists_of,
    needs_hosts,
    offered,
    origins_for,
    ways,
    without_hosts,
    without_use,
)
from mcpframe.kit.project.project import Project, find_project, with_dialects
from mcpframe.kit.project.pyproject import McpframeConfig
from mcpframe.kit.servers.published import not_offered, offered_by
from mcpframe.kit.testing.shared_browser import ServedBundle

A, B = "https://a.example", "https://b.example"
ALL = list(offered_names())


def test_without_a_setting_everything_is_offered() -> None:
    assert all(offers([], name) for name in offered_names())
    assert withheld([]) == []
    assert withheld(["mcp_ui", "webmcp"]) == ["sep", "mcp_apps", "mcp_b", "plain_mcp"]
    assert offers(["mcp_ui"], "mcp_ui")
    assert not offers(["mcp_ui"], "webmcp")


@pytest.mark.parametrize(
    ("setting", "origins", "names", "who"),
    [
        ([], [A], ALL, [A]),
        (["mcp_ui"], [A], ["mcp_ui"], [A]),
        # A dialect without hosts is of no use, unless a page of its own is one.
        ([], {"sep": [A]}, ["sep", "mcp_b", "webmcp"], [A]),
        (["mcp_apps", "mcp_ui"], {"mcp_apps": [B], "sep": [A]}, ["mcp_apps"], [B]),
        (["mcp_b", "webmcp"], [], ["mcp_b", "webmcp"], []),
        (["webmcp"], {"webmcp": [B]}, ["webmcp"], [B]),
    ],
)
def test_what_is_offered_and_who_may_embed(setting: list[str], origins: Any, names: list[str], who: list[str]) -> None:
    entries = entries_of(origins)
    lists = lists_of(setting, entries, opaque=False)
    assert offered(setting, lists) == names
    assert embedders(setting, entries) == who
    spoken = [each.role.dialect for each in inner_candidates("transport", lists)]
    assert spoken == [name for name in names if name in spoken_names() and lists.of(name) is not None]


def test_opaque_origins_are_allowed_only_in_what_is_offered() -> None:
    lists = lists_of(["mcp_ui"], entries_of(None), opaque=True)
    assert {name for name in offered_names() if "null" in (lists.of(name) or ())} == {"mcp_ui"}


def test_only_dialects_that_a_page_speaks_alone_need_no_hosts() -> None:
    assert needs_hosts([])
    assert needs_hosts(["sep", "webmcp"])
    assert not needs_hosts(["mcp_b", "webmcp"])


def test_lists_and_names_without_use_are_found() -> None:
    table = entries_of({"sep": [A], "mcp_ui": [B]})
    assert without_use(["mcp_ui"], table) == ["sep"]
    assert without_use(["sep"], table) == ["mcp_ui"]
    assert without_use([], table) == without_use(["mcp_apps"], entries_of([A])) == []
    lists = lists_of(["sep", "mcp_apps"], table, opaque=False)
    assert without_hosts(["sep", "mcp_apps"], lists) == ["mcp_apps"]
    assert without_hosts([], lists_of([], table, opaque=False)) == []


@pytest.mark.parametrize("name", spoken_names())
def test_the_inbox_posts_the_openings_of_offered_dialects_only(name: str) -> None:
    inspected = ServerDescription(name="n", setup=SetupDescription(visible=False, permissions=()))
    everything = inbox_data(inspected, McpframeConfig(), {}, lists_of([], entries_of([A]), opaque=False))
    one = inbox_data(inspected, McpframeConfig(), {}, lists_of([name], entries_of([A]), opaque=False))

    def posted(data: dict[str, Any]) -> list[str]:
        return [repr(opening) for phase in data["phases"] for opening in phase["openings"]]

    assert bool(posted(one)) is (name != "plain_mcp")  # whose hosts speak first
    assert set(posted(one)) < set(posted(everything))
    assert any(phase["fragment"] for phase in one["phases"]) is (name == "sep")
    spoken = [each.role.dialect for each in inner_candidates("transport", parse_allowed_origins([A]))]
    assert spoken == list(spoken_names())


def test_a_manifest_says_what_is_offered() -> None:
    assert offered_by({}) == offered_by({"dialects": None}) == ALL
    assert offered_by({"dialects": ["webmcp", "mcp_ui"]}) == ["mcp_ui", "webmcp"]
    assert not_offered(None) is None
    assert not_offered({"dialects": ["mcp_ui"]}, "mcp_ui") is None
    said = not_offered({"dialects": ["mcp_ui", "webmcp"]})
    assert said is not None
    assert "'sep'" in said
    assert "only mcp_ui, webmcp" in said


SCRIPT = """
# /// script
# [tool.mcpframe]
# {}
# ///
server = None
"""


def project_of(folder: Path, *lines: str) -> Project:
    (folder / "server.py").write_text(SCRIPT.format("\n# ".join(lines)))
    return find_project(folder / "server.py")


def test_hosts_in_other_dialects_than_those_offered_are_an_error(tmp_path: Path) -> None:
    project = project_of(tmp_path, 'dialects = ["mcp_ui"]', f'allowed_origins = {{ sep = ["{A}"] }}')
    with pytest.raises(ConfigError, match=r"hosts only for sep, and tool\.mcpframe\.dialects only mcp_ui"):
        origins_for(project, OriginEntries())


def test_without_hosts_only_what_serves_its_own_tab_is_built(tmp_path: Path) -> None:
    for lines in ([], ['dialects = ["sep", "webmcp"]']):
        with pytest.raises(ConfigError, match="no page may embed the server"):
            origins_for(project_of(tmp_path, *lines), OriginEntries())
    alone = project_of(tmp_path, 'dialects = ["mcp_b", "webmcp"]', "import_server = false")
    assert not origins_for(alone, OriginEntries())
    check_origins_early(alone, {})


def test_a_preview_offers_more_than_its_project(tmp_path: Path) -> None:
    assert with_dialects(project_of(tmp_path), ["sep"]).config.dialects == []
    few = project_of(tmp_path, 'dialects = ["mcp_ui"]')
    assert with_dialects(few, ["sep"]).config.dialects == ["mcp_ui", "sep"]
    assert with_dialects(few, []).config.dialects == with_dialects(few, ["mcp_ui"]).config.dialects == ["mcp_ui"]


def test_a_test_s_client_needs_its_dialect() -> None:
    served = ServedBundle("", "", "", "", {"dialects": ["mcp_apps"]})
    served.check_offered("mcp_apps")
    with pytest.raises(ConfigError, match="'sep', only mcp_apps"):
        served.check_offered("sep")


def test_the_page_names_the_bridge_s_origin() -> None:
    assert f'new Set(["*", "{HOST_ORIGIN}"])' in (static_dir() / "page" / "page.js").read_text("utf-8")
    assert [way["commands"] for way in ways(["sep", "mcp_apps"])] == [True, False]
