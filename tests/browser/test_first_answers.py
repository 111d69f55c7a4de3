"""A restored page answers its first messages from memory: what it imports then is in the snapshot.

A module that is not has the page fetch all files of the library at once, by synchronous requests.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from playwright.async_api import Page, Request

from mcpframe.kit.base.data import templates_dir
from mcpframe.kit.bundle import build
from mcpframe.kit.project.packaged import package_project
from mcpframe.kit.project.project import find_project
from mcpframe.kit.web.serve import serve_folder
from tests.browser.clients import Era, PythonClient
from tests.browser.conftest import Origins, Troubles
from tests.contract.playing import POLL, held
from tests.support.built import SNAPSHOTS
from tests.support.suites import extended
from tests.support.wheels import use_index, write_unmodified

FIRST_CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "everything": ("test_simple_text", {}),
    "forecast": ("get_forecast", {"place": "Wien"}),
    "fractal": ("draw", {"detail": 10}),
    "json-analyzer": ("evaluate_jsonpath", {"path": "$"}),
    "mermaid-editor": ("get_source", {}),
    "minimal": ("add", {"a": 1, "b": 2}),
    "pi-calculator": ("calculate_pi", {"iterations": 1000}),
    "unmodified-flashcards": ("list_cards", {"deck": "german"}),
    "unmodified-shopping": ("add_item", {"item": "milk"}),
    "unmodified-units": ("convert", {"value": 2, "from": "mile"}),
}
"""By template: the tool that is called first. One answers that the user has to choose a file first."""
BEHIND_A_SETUP = {"sqlite-analyst"}
"""Templates that answer with an error until the user has chosen files."""
WITHOUT_TOOLS = {"view"}
"""Templates whose tools are those of a server that is not framed."""
READS_A_FILE = pytest.mark.xfail(reason="it reads a data file of its package when it starts", strict=True)
USUAL = ("everything", "forecast", "pi-calculator")
"""Those of the default suite: of each kind one."""


def marks_of(name: str) -> list[pytest.MarkDecorator]:
    reads = [READS_A_FILE] if name.endswith("cards") else []
    return reads if name in USUAL else [*reads, pytest.mark.extended]


CASES = [
    *(pytest.param(name, "legacy", marks=marks_of(name)) for name in FIRST_CALLS),
    ("minimal", "modern"),
    extended("pi-calculator", "modern"),
]
LOOKED_FOR = "performance.getEntriesByType('mark').map((mark) => mark.name).filter((name) => /:files for /.test(name))"
"""What Python has looked for in files that were not there yet."""
pytestmark = pytest.mark.skipif(not SNAPSHOTS, reason="about pages from a snapshot")


@pytest.fixture(scope="module")
def url_of(origins: Origins, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """Builds a template at its first use, and returns the address of its bundle."""
    folder, index = tmp_path_factory.mktemp("bundles"), tmp_path_factory.mktemp("index")
    write_unmodified(index)
    paths: dict[str, str] = {}

    def url(name: str) -> str:
        if name not in paths:
            project = templates_dir() / name
            if not project.is_dir():
                args = ["--unit", "m"] if name == "unmodified-units" else []
                project = package_project(name, tmp_path_factory.mktemp(name) / "project", args=args)
            paths[name] = build(project, folder, allowed_origins=[origins.host], snapshot=True).url_path
        return f"http://neighbour.host.localhost:{served.port}/{paths[name]}"

    with serve_folder(folder) as served, pytest.MonkeyPatch.context() as patch:
        use_index(index, patch)
        yield url


@pytest.fixture
async def synchronous(host_page: Page) -> AsyncIterator[list[str]]:
    """The addresses of the synchronous requests that pages make."""
    found: list[str] = []

    def note(request: Request) -> None:
        if request.resource_type == "xhr":
            found.append(request.url)

    host_page.context.on("request", note)
    yield found
    host_page.context.remove_listener("request", note)


@pytest.mark.parametrize(("name", "era"), CASES)
async def test_the_first_answers_need_no_file(
    host_page: Page, troubles: Troubles, url_of: Callable[[str], str], synchronous: list[str], name: str, era: Era
) -> None:
    url = url_of(name)
    async with AsyncExitStack() as stack:
        client = PythonClient(host_page, era, stack)
        await client.open(url)
        tool, arguments = FIRST_CALLS[name]
        assert tool in [item["name"] for item in (await client.request("tools/list"))["tools"]]
        answer = await client.call(tool, **arguments)
        assert answer["content"]
        assert not answer.get("isError") or name == "json-analyzer", answer
        looked_for = await host_page.frames[-1].evaluate(LOOKED_FOR)
        assert (looked_for, synchronous) == ([], [])


async def test_a_tool_is_called_before_its_view_is_there(
    host_page: Page, troubles: Troubles, url_of: Callable[[str], str]
) -> None:
    url, view_files = url_of("forecast"), "**/view*.html"
    async with held(host_page.context, view_files) as release, AsyncExitStack() as stack:
        client = PythonClient(host_page, "legacy", stack)
        async with host_page.expect_request(view_files):
            await client.open(url)
        tool, arguments = FIRST_CALLS["forecast"]
        assert not (await client.call(tool, **arguments)).get("isError")
        release()
        view = host_page.frames[-1]
        await view.wait_for_function("() => document.querySelectorAll('[data-day]').length === 7", polling=POLL)
        assert "7 days" in str(await view.locator("#about").text_content())


def test_every_server_of_the_templates_is_here() -> None:
    files = [*templates_dir().glob("*/pyproject.toml"), *templates_dir().glob("unmodified/*/pyproject.toml")]
    folders = [file.parent for file in files]
    servers = {
        f"unmodified-{folder.name}" if folder.parent.name == "unmodified" else folder.name
        for folder in folders
        if folder.parent.name == "unmodified" or find_project(folder).config.kind == "server"
    }
    assert servers == FIRST_CALLS.keys() | BEHIND_A_SETUP | WITHOUT_TOOLS
