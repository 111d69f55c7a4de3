"""No changed file of a bundle runs: each in turn, whatever the web server lets browsers cache, in every engine."""

from __future__ import annotations

import fnmatch
import functools
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.sync_api import Page, sync_playwright
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mcpframe.kit.browser.chromium import ensure_chromium, launch_options
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.web.serve import serve_app
from tests.browser.engines import KINDS
from tests.bundle.conftest import SERVER, write_project
from tests.bundle.served_pages import HOST, PATIENCE
from tests.support.origins import SHORT_LIVED
from tests.support.suites import except_for, extended

CACHING = {
    "none": None,
    "no-cache": "no-cache",
    "no-store": "no-store",
    "immutable": "public, max-age=31536000, immutable",
}
SCRIPTS = ("pyodide.mjs", "pyodide.asm.mjs", "loader.*.js")
ARCHIVES = ("stdlib.zip.*.wasm", "base.zip.*.wasm", "server.zip.*.wasm")
SERVING = (
    SERVER.replace("https://chat.example", "*")
    + '''

@server.tool()
def rare() -> str:
    """Imports what no start needs."""
    import xmlrpc.client

    return xmlrpc.client.__name__


@server.tool()
def crash() -> None:
    """End Python."""
    import posix

    posix.abort()
'''
)

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".wasm": "application/wasm",
}


def changed(name: str, data: bytes, ran: str) -> bytes:
    """Return a file with an addition that has an effect, if it is used."""
    if name.endswith(("js", "mjs")):
        return f"fetch(globalThis.origin + {json.dumps(ran)});\n".encode() + data
    if name.endswith("css"):
        return data + b"\n#mcpframe-page { outline: 7px solid red }\n"
    if name.endswith("wasm"):
        return data + b"\0\1\0"  # an empty custom section: the file can be compiled
    return data + b"\n"


@dataclass
class Case:
    """One start of a page.

    Attributes:
        root: The output root of its bundle.
        caching: The header `Cache-Control`; None for none.
        name: A pattern of the changed file's name.
        first: The number of the first request that gets the changed file.
        other: The content in its place, if it is not the file with an addition.
        ran: Whether the changed script has run.
    """

    root: Path
    caching: str | None
    name: str = ""
    first: int = 1
    other: bytes | None = None
    requests: dict[str, int] = field(default_factory=dict)
    ran: bool = False


class ChangingSite:
    """The ASGI application: each case is in a folder of its own, so that nothing of another one is in the cache."""

    def __init__(self) -> None:
        self.cases: list[Case] = []
        self._lock = threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request (ASGI)."""
        await self._answer(Request(scope))(scope, receive, send)

    def _answer(self, request: Request) -> Response:
        number, _, path = request.url.path.removeprefix("/").partition("/")
        if not number.isdecimal():
            return Response(status_code=404)
        case = self.cases[int(number)]
        if path == "ran":
            case.ran = True
            return Response(status_code=204)
        file = case.root / (f"{path}index.html" if path.endswith("/") else path)
        if not file.is_file():
            return Response(status_code=404)
        data = file.read_bytes()
        with self._lock:
            case.requests[file.name] = count = case.requests.get(file.name, 0) + (request.method == "GET")
        if case.name and fnmatch.fnmatch(file.name, case.name) and count >= case.first:
            data = changed(file.name, data, f"/{number}/ran") if case.other is None else case.other
        caching = {} if case.caching is None else {"cache-control": case.caching}
        kind = TYPES.get(file.suffix, "application/octet-stream")
        return Response(data, media_type=kind, headers={"access-control-allow-origin": "*", **caching})


OUTCOME = """
const frame = document.querySelector("iframe");
const part = (name) => frame.contentDocument.getElementById(`mcpframe-${name}`);
const settled = () => {
    if (frame.contentDocument.readyState !== "complete" || !part("page")) return false;
    return document.title.startsWith("{") || !part("error").hidden || part("page").dataset.state === "loading";
};
const until = performance.now() + 60_000;
while (!settled()) {
    if (performance.now() > until) throw new Error(`not in time: ${frame.contentDocument.body.innerText}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
}
return {
    answer: document.title.startsWith("{") ? JSON.parse(document.title).structuredContent?.result ?? null : null,
    error: part("error").hidden ? "" : part("error-title").textContent,
    state: part("page").dataset.state,
    styled: frame.contentWindow.getComputedStyle(part("page")).outlineWidth === "7px",
    restored: frame.contentWindow.performance.getEntriesByName("mcpframe:restored").length,
};
"""


class Browser(Protocol):
    """What a case needs of a browser."""

    def open(self, url: str) -> None:
        """Open a page and wait until it is loaded."""

    def run(self, script: str) -> Any:
        """Run the body of an async function in it, and return what it returns."""


@dataclass
class Chromium:
    """Chromium as such a browser."""

    page: Page

    def open(self, url: str) -> None:
        self.page.goto(url)

    def run(self, script: str) -> Any:
        return self.page.evaluate(f"async () => {{ {script} }}")


@contextmanager
def running(name: str, folder: Path) -> Iterator[Browser]:
    """Run a browser for the duration of the block; the test is skipped where it is not installed."""
    if name == "chromium":
        with sync_playwright() as playwright:
            options = launch_options(ensure_chromium())
            options["args"].append(SHORT_LIVED)
            with playwright.chromium.launch(**options) as browser:
                page = browser.new_page()
                page.set_default_timeout(PATIENCE)
                yield Chromium(page)
        return
    [kind] = [kind for kind in KINDS if kind.name == name]
    if (program := kind.find()) is None:
        pytest.skip(f"no {kind.title} is installed, and none could be: install {kind.package}")
    with kind.running(program, folder / "profile") as engine:
        yield engine


Bundles = Callable[[str], Path]


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Bundles:
    """Returns the output root of a server in its page or in a worker, with a snapshot or without. Not to be changed."""
    folder = tmp_path_factory.mktemp("changing")

    @functools.cache
    def root(place: str) -> Path:
        table = f'runs_in = "{place.partition(",")[0]}"'
        project = write_project(folder / "projects" / place, table, SERVING)
        build(project, folder / place, snapshot="plain" not in place)
        (folder / place / "host.html").write_text(HOST)
        return folder / place

    return root


@pytest.fixture(scope="module")
def site() -> Iterator[tuple[ChangingSite, str]]:
    """The web server, and its origin."""
    app = ChangingSite()
    with serve_app(app) as served:
        yield app, served.origin


@pytest.fixture(scope="module", params=["chromium", extended("firefox"), extended("webkit")])
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Each browser, one for all cases."""
    with running(request.param, tmp_path_factory.mktemp("engine")) as engine:
        yield engine


Play = Callable[..., Any]


@pytest.fixture
def play(engine: Browser, site: tuple[ChangingSite, str]) -> Play:
    """Starts the page of a case and calls its tool; returns the outcome."""
    app, origin = site

    def start(case: Case, tool: str = 'add&arguments={"a":2,"b":3}') -> Any:
        app.cases.append(case)
        engine.open(f"{origin}/{len(app.cases) - 1}/host.html?frame=adder/&tool={tool}")
        return engine.run(OUTCOME)

    return start


PLACES = except_for(["page", "worker", "page, plain", "worker, plain"], "page")


@pytest.mark.parametrize("caching", except_for(CACHING, "no-store"))
@pytest.mark.parametrize("place", PLACES)
def test_a_changed_script_never_runs(bundles: Bundles, play: Play, place: str, caching: str) -> None:
    for script in SCRIPTS:
        case = Case(bundles(place), CACHING[caching], script)
        outcome = play(case)
        assert not case.ran, script
        assert outcome["answer"] is None
        if script.startswith("loader"):  # the script of the page itself
            assert outcome["state"] == "loading"
        else:
            assert script in outcome["error"]
            assert "upload the whole folder" in outcome["error"]


@pytest.mark.parametrize("caching", except_for(CACHING, "no-store"))
@pytest.mark.parametrize("place", except_for(PLACES[:2], PLACES[1]))
def test_a_script_that_changes_between_two_requests_never_runs(
    bundles: Bundles, play: Play, place: str, caching: str
) -> None:
    for script in SCRIPTS:
        case = Case(bundles(place), CACHING[caching], script, first=2)
        outcome = play(case)
        assert not case.ran, script
        assert outcome["answer"] == 5 or "is not the file that was built" in outcome["error"]


@pytest.mark.extended
@pytest.mark.parametrize("caching", CACHING)
@pytest.mark.parametrize("place", ["page, plain", "worker, plain"])
@pytest.mark.parametrize("first", [1, 2])
def test_a_changed_archive_is_not_used(bundles: Bundles, play: Play, place: str, caching: str, first: int) -> None:
    for archive in ARCHIVES:
        outcome = play(Case(bundles(place), CACHING[caching], archive, first))
        told = archive.partition("*")[0] in outcome["error"] and "is not the file that was built" in outcome["error"]
        if first == 1:
            assert (outcome["answer"], told) == (None, True)
        else:  # the worker's own request, if it is not answered from the cache
            assert outcome["answer"] == 5 or told


@pytest.mark.extended
@pytest.mark.parametrize("caching", CACHING)
@pytest.mark.parametrize("place", ["page", "worker"])
def test_a_changed_snapshot_or_style_sheet_is_not_used(bundles: Bundles, play: Play, place: str, caching: str) -> None:
    for layer in ("layer.*.bin", "snapshot.*.bin"):
        outcome = play(Case(bundles(place), CACHING[caching], layer))
        assert (outcome["answer"], outcome["restored"]) == (5, 0), layer
    outcome = play(Case(bundles(place), CACHING[caching], "frame.*.css"))
    assert (outcome["answer"], outcome["styled"]) == (5, False)


@pytest.mark.extended
@pytest.mark.parametrize("place", ["page", "worker"])
def test_files_of_two_bundles_are_not_mixed(bundles: Bundles, play: Play, place: str) -> None:
    """Each file of one bundle in the place of one of another, or of another kind."""
    root = bundles(place)
    there = {name: next(root.rglob(name)).read_bytes() for name in (*SCRIPTS, *ARCHIVES, "snapshot.*.bin")}
    for name, other in (
        ("pyodide.mjs", "loader.*.js"),
        ("loader.*.js", "pyodide.mjs"),
        ("pyodide.asm.mjs", "pyodide.mjs"),
    ):
        outcome = play(Case(root, "no-store", name, other=there[other]))
        assert outcome["answer"] is None
        assert outcome["error"] or outcome["state"] == "loading"
    outcome = play(Case(root, "no-store", "snapshot.*.bin", other=there["stdlib.zip.*.wasm"]))
    assert (outcome["answer"], outcome["restored"]) == (5, 0)
    for name, other in (("server.zip.*.wasm", "base.zip.*.wasm"), ("stdlib.zip.*.wasm", "server.zip.*.wasm")):
        outcome = play(Case(bundles(f"{place}, plain"), "no-store", name, other=there[other]))
        assert outcome["answer"] is None
        assert "is not the file that was built" in outcome["error"]


CALLED = """
const frame = document.querySelector("iframe");
const id = Math.floor(Math.random() * 2 ** 40);
const answered = new Promise((resolve) => addEventListener("message", ({ data }) => {
    if (data.payload?.id === id) resolve(JSON.stringify(data.payload.result ?? data.payload.error));
}));
say({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "NAME", arguments: ARGUMENTS } });
const shown = () => new Error(frame.contentDocument.body.innerText);
const late = new Promise((_, reject) => setTimeout(() => reject(shown()), 60_000));
return Promise.race([answered, late]);
"""


COMPLETE = "await document.querySelector('iframe').contentWindow.mcpframeComplete();"


def called(engine: Browser, name: str, arguments: str = "{}") -> str:
    """Call a tool of the page that is open; its result, or its error, as JSON."""
    return str(engine.run(CALLED.replace("NAME", name).replace("ARGUMENTS", arguments)))


@pytest.mark.extended
@pytest.mark.parametrize("place", ["page", "worker"])
def test_a_page_outlives_two_deploys(bundles: Bundles, play: Play, engine: Browser, tmp_path: Path, place: str) -> None:
    """All files of the open page are gone from the web server: it goes on, and reports what it then cannot have."""
    case = Case(bundles(place), "no-store")
    assert play(case)["answer"] == 5
    engine.run(COMPLETE)  # what a page says without them: `tests/browser/test_second_files.py`
    for deploy in ("first", "second"):
        case.root = tmp_path / deploy
        case.root.mkdir()
        # The page has its late files by now; the worker, with late files of its own, ends and says so.
        # Where no file is split, it stays and reports the module.
        rare = '"result":"xmlrpc.client"' if place == "page" else 'The worker of this server was ended|"isError":true'
        assert re.search(rare, called(engine, "rare"))
        assert '"result":7' in called(engine, "add", '{ "a": 3, "b": 4 }')
        if place == "worker":
            assert "while it handled this request" in called(engine, "crash")
            assert '"result":9' in called(engine, "add", '{ "a": 4, "b": 5 }')


@pytest.mark.extended
@pytest.mark.parametrize("name", [*SCRIPTS[:2], "loader.*.js"])
def test_a_worker_whose_script_is_missing_is_reported(bundles: Bundles, play: Play, name: str) -> None:
    """The page has its own; what the worker is made of comes with a request of its own, and is empty, or cut off."""
    for other in (b"", next(bundles("worker").rglob(name)).read_bytes()[:1000]):
        outcome = play(Case(bundles("worker"), "no-store", name, first=2, other=other))
        assert outcome["answer"] is None
        assert f"{name.partition('*')[0]}" in outcome["error"]
