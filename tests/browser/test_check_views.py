"""`mcpframe check --views`: the view of a template under the profile of every host, in headless Chromium."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from docs.generate.views_in_hosts import ADDRESS, ANY_VIEW, TEMPLATES, rows_of, table_of, without_times, written
from mcpframe.hosts import HOST_PROFILES, HostProfile
from mcpframe.kit.bundle.output_root import BuildResult
from mcpframe.kit.publish.view_checks.run import Row, ViewText, check_view, read_view
from mcpframe.kit.publish.view_checks.sample_call import SampleCall, call_to_show
from mcpframe.kit.web.serve import serve_folder
from mcpframe.views.html import view_html, view_meta
from tests.browser.test_view_sizes import URL as SIZED
from tests.browser.test_views_of_servers import ADDRESS as FORECAST
from tests.support.built import OWN, SERVERS, built
from tests.support.host_profiles import allows_frames, allows_scripts, allows_wasm
from tests.support.suites import extended

ORIGIN = "https://tools.example"
KINDS = ["claude", "vscode", "default", "two-policies", "no-storage", "opaque"]
"""Profiles that differ in what a view meets: no frames, no Wasm, neither, two policies, no storage, no origin."""


@pytest.fixture(scope="module")
def forecast() -> tuple[Path, BuildResult]:
    """The template with a view, built for its public address."""
    return built("forecast", allowed_origins=OWN, url=FORECAST)


def draws(profile: HostProfile, csp: dict[str, Any]) -> bool:
    """Return whether a view can be drawn: in a frame, or in its own document."""
    inline = allows_wasm(profile, csp) and allows_scripts(profile, csp, ORIGIN)
    return inline or allows_frames(profile, csp, ORIGIN)


@pytest.mark.parametrize("names", [KINDS, extended(list(HOST_PROFILES))], ids=["each kind", "every host"])
async def test_it_draws_in_every_host_that_allows_it_and_is_text_in_others(
    forecast: tuple[Path, BuildResult], names: list[str]
) -> None:
    folder, result = forecast
    with serve_folder(folder) as served:
        url = f"{served.origin}/{result.url_path}"
        call = await call_to_show(url, result.manifest)
        view = read_view(url, result.manifest)
    assert call.note.startswith("get_forecast has content (text) beside its structuredContent.")
    assert call.result["structuredContent"]["place"] == call.arguments["place"]
    profiles = [HOST_PROFILES[name] for name in names]
    rows = {row.profile: row for row in await check_view(view, call, bundle=result.folder, profiles=profiles)}
    assert list(rows) == names
    expected = {each.name: "draws" if draws(each, view.ui["csp"]) else "text" for each in profiles}
    assert {name: row.outcome for name, row in rows.items()} == expected, list(rows.values())
    for row in rows.values():
        assert None not in (row.painted, row.initialized, row.drawn), row
        assert not row.failed, row


async def test_a_view_that_never_starts_is_blank(forecast: tuple[Path, BuildResult]) -> None:
    ui = {"csp": {"frameDomains": [ORIGIN]}}
    call = SampleCall({"name": "none", "inputSchema": {}}, {}, {"content": []})
    silent = ViewText("<!doctype html><p>A view that says nothing", ui, f"{ORIGIN}/")
    refused = ViewText(f'<!doctype html><iframe src="{ORIGIN}/missing/" title="None"></iframe>', ui, f"{ORIGIN}/")
    for view in (silent, refused):
        [row] = await check_view(view, call, bundle=forecast[1].folder, profiles=[HOST_PROFILES["chatgpt"]], patience=1)
        assert (row.outcome, row.initialized, row.drawn, row.failed) == ("blank", None, None, True)
    assert Row("chatgpt", HOST_PROFILES["chatgpt"].title, "blank").failed


@pytest.mark.extended
async def test_a_view_that_is_cut_off_fails() -> None:
    _, result = built(SERVERS / "sized", allowed_origins=ANY_VIEW, url=SIZED)
    view = ViewText(view_html(SIZED), view_meta(SIZED)["ui"], SIZED)
    for layout, hidden in (("margins", 16), ("content", 0)):
        call = SampleCall({"name": "show"}, {"layout": layout}, {"content": [{"type": "text", "text": "drawn"}]})
        [row] = await check_view(view, call, bundle=result.folder, profiles=[HOST_PROFILES["claude"]])
        assert (row.outcome, row.hidden, row.failed) == ("draws", hidden, hidden > 0)


@pytest.mark.extended
async def test_the_documentation_has_the_outcomes_of_three_templates() -> None:
    views = {}
    for name in TEMPLATES:
        folder, result = built(name, allowed_origins=ANY_VIEW, url=f"{ADDRESS}/{name}/")
        views[name] = await rows_of(folder, result.url_path, result.manifest)
    assert without_times(written()) == without_times(table_of(views))
