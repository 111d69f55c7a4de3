"""A restored page answers its first messages from memory: what it imports then is in the snapshot.

A module that is not has the page fetch all files of the library at once, by synchronous requests.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack

import pytest
from playwright.async_api import Page, Request

from mcpframe.kit.base.data import templates_dir
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.project.project import find_project
from mcpframe.kit.web.serve import serve_folder
from tests.browser.clients import Era, PythonClient
from tests.browser.conftest import Origins, Troubles
from tests.contract.playing import POLL, held
from tests.support.built import SNAPSHOTS
from tests.support.first_calls import FAILS, FIRST_CALLS, project_of
from tests.support.suites import extended
from tests.support.wheels import use_index, write_unmodified

BEHIND_A_SETUP = {"data-analyst", "sqlite-analyst"}
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
            project = project_of(name, tmp_path_factory.mktemp("project"))
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
        assert not answer.get("isError") or name == FAILS, answer
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
