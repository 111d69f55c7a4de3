"""Python's HTTP libraries in Firefox, with stack switching and without: then synchronous code cannot wait for fetch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.web.serve import serve_folder
from tests.browser.firefox import Firefox, ensure_firefox, running
from tests.browser.test_http import ERRORS, make_project
from tests.bundle.served_pages import HOST
from tests.support.other_origin import ALL_BYTES, other_origin

ANSWERED = """
while (!document.title.startsWith("{")) await new Promise(requestAnimationFrame);
return JSON.parse(document.title);
"""
STACK_SWITCHING = "return typeof WebAssembly.Suspending"
RESTORED = "return performance.getEntriesByName('mcpframe:restored').length"
_SETTING = "javascript.options.wasm_js_promise_integration"


@pytest.fixture(params=[True, False], ids=["switching", "without"])
def switches(request: pytest.FixtureRequest) -> bool:
    """Whether Firefox has stack switching."""
    return bool(request.param)


@pytest.fixture
def firefox(tmp_path: Path, switches: bool) -> Iterator[Firefox]:
    program = ensure_firefox()
    if program is None:
        pytest.skip("no Firefox is installed, and none could be: install firefox or firefox-esr")
    with running(program, tmp_path / "profile", settings={_SETTING: switches}) as firefox:
        yield firefox


@pytest.mark.extended
def test_every_library_answers(firefox: Firefox, tmp_path: Path, switches: bool) -> None:
    pages, bundles = tmp_path / "pages", tmp_path / "bundles"
    pages.mkdir()
    bundles.mkdir()
    (pages / "index.html").write_text(HOST)
    libraries = [library for library in ERRORS if library != "aiohttp"]
    with serve_folder(pages) as page, serve_folder(bundles) as frame, other_origin() as world:
        build(make_project(tmp_path / "fetching", [world.origin], '"urllib3"'), bundles, allowed_origins=[page.origin])
        paths = {
            "echo": {"url": f"{world.origin}/echo", "method": "POST", "options": {"json": {"a": 1}, "timeout": 60}},
            "binary": {"url": f"{world.origin}/binary"},
            "moved": {"url": f"{world.origin}/moved"},
            "missing": {"url": f"{world.origin}/nowhere"},
            "blocked": {"url": f"{world.blocked}/echo"},
            "closed": {"url": f"{world.origin}/closed"},
        }
        arguments = quote(json.dumps({"libraries": libraries, "requests": list(paths.values())}))
        firefox.open(f"{page.origin}/?frame={frame.origin}/fetching/&tool=ask_all&arguments={arguments}")
        assert firefox.run(STACK_SWITCHING, "iframe") == ("function" if switches else "undefined")
        result = firefox.run(ANSWERED)
        assert firefox.run(RESTORED, "iframe") == 1
        assert not result.get("isError"), result
        for library in libraries:
            found = dict(zip(paths, result["structuredContent"][library], strict=True))
            assert '"method": "POST"' in found["echo"]["text"], library
            assert found["binary"]["sha256"] == hashlib.sha256(ALL_BYTES).hexdigest(), library
            assert (found["moved"]["status"], found["moved"]["url"]) == (200, f"{world.origin}/echo?moved"), library
            assert found["missing"]["status"] == 404, library
            assert ERRORS[library][0] in found["blocked"]["kinds"], library
            assert f'csp = {{ connect_src = ["{world.origin}", "{world.blocked}"] }}' in found["blocked"]["error"]
            assert "CORS" in found["closed"]["error"], library
            assert [item["imported"] for item in found.values()] == [[]] * len(found), library
