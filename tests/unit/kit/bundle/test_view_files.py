"""The view of a bundle as HTML text, in its two forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.kit.base.errors import BuildError, ConfigError
from mcpframe.kit.bundle.assembly.author_files import first_paint, sample_call
from mcpframe.kit.bundle.assembly.csp import sources_of
from mcpframe.kit.bundle.assembly.view_files import FILES, unreachable_views, view_files
from mcpframe.kit.project.project import find_project
from mcpframe.kit.project.pyproject import AppConfig, CspConfig, read_config
from mcpframe.views.html import view_html, view_meta

URL = "https://tools.example/base/forecast/"
CSP = CspConfig(
    connect_src=["https://api.example", "'self'", "wss:"],
    img_src=["https://img.example"],
    font_src=["https://img.example", "data:"],
)


def test_both_forms_and_their_entry() -> None:
    app = AppConfig(permissions=["camera"], prefers_border=True, height=200)
    files, entry = view_files(URL, "forecast", CSP, app, "<p>Soon")
    sources = sources_of(CSP)
    assert [(each.path, each.data.decode()) for each in files] == [
        (f"forecast/{name}", view_html(URL, form=form, sources=sources, first_paint="<p>Soon", height=200))
        for form, name in FILES.items()
    ]
    meta = view_meta(URL, sources=sources, prefers_border=True, permissions=["camera"])
    assert entry == {"url": URL, "files": {"app": "app.html", "inline": "app-inline.html"}, "_meta": meta}


def test_the_author_s_first_paint(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "x"\n[tool.mcpframe]\n[tool.mcpframe.app]\nfirst_paint = "soon.html"\n'
    )
    (tmp_path / "server.py").write_text("server = None\n")
    project = find_project(tmp_path)
    with pytest.raises(BuildError, match=r"soon\.html cannot be read"):
        first_paint(project)
    file = tmp_path / "soon.html"
    file.write_text("<p>Gleich …", "utf-8")
    assert first_paint(project) == "<p>Gleich …"
    for data, word in ((b"x" * 6001, "6,000"), (b"\xff", "UTF-8")):
        file.write_bytes(data)
        with pytest.raises(ConfigError, match=word):
            first_paint(project)


def test_the_address_in_the_configuration() -> None:
    assert read_config({"url": "https://tools.example/forecast"}, "f").url == "https://tools.example/forecast/"
    for wrong in ("tools.example", "https://tools.example/?a", "https://tools.example/#a", "file:///x"):
        with pytest.raises(ConfigError, match=r"tool\.mcpframe\.url"):
            read_config({"url": wrong}, "f")


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("https://tools.example/forecast/", "no host"),
        ("https://www.example.com/", "no host"),
        ("http://localhost:8001/forecast/", "this machine"),
        ("http://tools.localhost/", "this machine"),
        ("http://[::1]:8001/", "this machine"),
        ("http://127.0.0.1/", "this machine"),
    ],
)
def test_a_view_that_few_can_reach_is_a_warning(url: str, word: str) -> None:
    (warning,) = unreachable_views({"ui://weather/forecast": url})
    for part in ("ui://weather/forecast", url, word, "View("):
        assert part in warning


@pytest.mark.parametrize("url", ["https://tools.example.fr/", "https://myexample.com/", "https://localhost.me/"])
def test_a_view_that_others_can_reach_is_none(url: str) -> None:
    assert unreachable_views({"ui://weather/forecast": url}) == []


def test_the_author_s_sample_call(tmp_path: Path) -> None:
    table = '[project]\nname = "x"\n[tool.mcpframe]\n[tool.mcpframe.app]\nsample = "sample.json"\n'
    (tmp_path / "pyproject.toml").write_text(table)
    (tmp_path / "server.py").write_text("server = None\n")
    project = find_project(tmp_path)
    file = tmp_path / "sample.json"
    with pytest.raises(BuildError, match=r"sample\.json"):
        sample_call(project)
    for wrong in ("", "[]", '{"arguments": 1}', '{"result": {}, "tool": {}}'):
        file.write_text(wrong)
        with pytest.raises(ConfigError, match=r"app\.sample: sample\.json is not a tool call"):
            sample_call(project)
    file.write_text('{"arguments": {"count": 2}}')
    assert sample_call(project) == {"arguments": {"count": 2}}
