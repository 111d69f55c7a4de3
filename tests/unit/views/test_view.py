"""One view: its resource, its `_meta`, and what is not a view."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.server import apps

from mcpframe.frame.core import errors
from mcpframe.views import EXTENSION_ID, MIME_TYPE, View
from mcpframe.views.html import view_html, view_meta

URL = "https://tools.example/forecast/"
URI = "ui://weather/forecast"
META = {"ui": {"csp": {"resourceDomains": ["https://tools.example"]}}}


def test_the_names_are_those_of_the_sdk() -> None:
    assert (EXTENSION_ID, MIME_TYPE) == (apps.EXTENSION_ID, apps.APP_MIME_TYPE)
    assert errors.ViewError is errors.ViewError


def test_of_a_url() -> None:
    view = View(URL, uri=URI)
    assert (view.uri, view.mime_type) == (URI, "text/html;profile=mcp-app")
    assert (view.html, view.url) == (view_html(URL), URL)
    assert view.meta == view_meta(URL)
    inline = View(URL, uri=URI, form="inline")
    assert (inline.html, inline.url, inline.meta) == (view_html(URL, form="inline"), "", view.meta)


def test_the_first_paint_of_a_url(tmp_path: Path) -> None:
    view = View(URL, uri=URI, first_paint="<p>Soon</p>", height=200)
    assert view.html == view_html(URL, first_paint="<p>Soon</p>", height=200)
    assert View(URL, uri=URI, height=200).html != View(URL, uri=URI).html
    for wrong in ({"first_paint": "ä" * 3001}, {"height": -1}, {"height": 10_001}):
        with pytest.raises(errors.ViewError, match=next(iter(wrong))):
            View(URL, uri=URI, **wrong)  # type: ignore[arg-type]
        with pytest.raises(errors.ViewError, match=r"tool\.mcpframe\.app"):
            View(built(tmp_path), uri=URI, **wrong)  # type: ignore[arg-type]


def test_what_it_asks_of_its_host() -> None:
    view = View(URL, uri=URI, prefers_border=False, permissions=["geolocation"], domain="weather.host.example")
    assert view.meta["ui"] == {
        **view_meta(URL)["ui"],
        "permissions": {"geolocation": {}},
        "prefersBorder": False,
        "domain": "weather.host.example",
    }


def test_the_meta_of_its_tools() -> None:
    view = View(URL, uri=URI)
    assert view.tool_meta() == {"ui": {"resourceUri": URI}, "ui/resourceUri": URI}
    for visibility in (["model"], ["app"], ["model", "app"]):
        assert view.tool_meta(visibility)["ui"] == {"resourceUri": URI, "visibility": visibility}  # type: ignore[arg-type]


def built(folder: Path) -> Path:
    files = {form: f"{form}.html" for form in ("app", "inline")}
    (folder / "manifest.json").write_text(json.dumps({"app": {"url": URL, "files": files, "_meta": META}}))
    for form, name in files.items():
        (folder / name).write_text(f"<p>{form}</p>", "utf-8")
    return folder


@pytest.mark.parametrize("form", ["app", "inline"])
@pytest.mark.parametrize("kind", [Path, str])
def test_of_a_built_folder(tmp_path: Path, form: Any, kind: Any) -> None:
    view = View(kind(built(tmp_path)), uri=URI, form=form, prefers_border=True)
    assert (view.html, view.url) == (f"<p>{form}</p>", URL if form == "app" else "")
    assert view.meta == {"ui": {**META["ui"], "prefersBorder": True}}


@pytest.mark.parametrize(
    "source",
    [
        "forecast.example",
        "ftp://tools.example/",
        "javascript:alert(1)",
        "https://",
        "https://user:word@tools.example/",
        "https://tools.example/#part",
        'https://tools.example/"><script>',
        "https://tools.example:port/",
    ],
)
def test_a_source_that_is_no_bundle(source: str) -> None:
    with pytest.raises(errors.ViewError, match=r"published bundle|neither a URL nor a folder"):
        View(source, uri=URI)


def test_a_folder_without_a_view(tmp_path: Path) -> None:
    with pytest.raises(errors.ViewError, match="mcpframe build --url"):
        View(tmp_path, uri=URI)
    (tmp_path / "manifest.json").write_text('{"app": null}')
    with pytest.raises(errors.ViewError, match="mcpframe build --url"):
        View(tmp_path, uri=URI)
    built(tmp_path)
    (tmp_path / "inline.html").unlink()
    with pytest.raises(errors.ViewError, match="mcpframe build --url"):
        View(tmp_path, uri=URI, form="inline")
    with pytest.raises(errors.ViewError, match="'app' or 'inline'"):
        View(tmp_path, uri=URI, form="both")  # type: ignore[arg-type]


@pytest.mark.parametrize("uri", ["weather/forecast", "https://weather/forecast", "ui://", "ui://a b", "ui://a\n"])
def test_a_uri_that_is_no_view_s(uri: str) -> None:
    with pytest.raises(errors.ViewError, match="ui://weather/forecast"):
        View(URL, uri=uri)


@pytest.mark.parametrize("visibility", [[], ["user"], "model", ["model", "host"]])
def test_a_visibility_that_is_none(visibility: Any) -> None:
    with pytest.raises(errors.ViewError, match="'model', 'app' or both"):
        View(URL, uri=URI).tool_meta(visibility)


def test_other_misuse() -> None:
    with pytest.raises(errors.ViewError, match="'geolocation'"):
        View(URL, uri=URI, permissions=["everything"])


def test_importing_it_imports_no_sdk_no_browser_and_nothing_of_the_tool_chain() -> None:
    program = "import sys, mcpframe.views as views; views.View; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    modules = set(done.stdout.split())
    tops = {name.partition(".")[0] for name in modules}
    assert not tops & {"mcp", "mcp_types", "pydantic", "anyio", "playwright", "typer", "rich", "starlette", "js"}
    assert not {name for name in modules if name.startswith("mcpframe.kit")}
