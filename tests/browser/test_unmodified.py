"""The servers of templates/unmodified, built by their packages' names and called by the official clients."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from playwright.async_api import BrowserContext

from mcpframe.frame.boot.serving import BOOT_CAPABILITY
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.project.packaged import PackageOptions, package_project
from mcpframe.kit.web.serve import serve_folder
from tests.browser.clients import Era, McpClient, PythonClient, TypeScriptClient
from tests.browser.conftest import Bundle, Origins, Troubles
from tests.support.built import opened_often
from tests.support.suites import except_for, extended
from tests.support.wheels import use_index, write_unmodified

ARGUMENTS = {"shopping": [], "units": ["--unit", "m"], "flashcards": []}
HANDSHAKE, NEWEST = "2025-11-25", "2026-07-28"


@pytest.fixture(scope="module")
def bundles(
    request: pytest.FixtureRequest, origins: Origins, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Bundle]]:
    """The bundles, side by side."""
    folder, index = tmp_path_factory.mktemp("bundles"), tmp_path_factory.mktemp("index")
    write_unmodified(index)
    built = {}
    with pytest.MonkeyPatch.context() as patch:
        use_index(index, patch)
        for name, args in ARGUMENTS.items():
            at = tmp_path_factory.mktemp(name) / "project"
            project = package_project(
                f"unmodified-{name}", at, options=PackageOptions(args=args, allowed_origins=[origins.host])
            )
            snapshot = (
                opened_often(request.config) and name == "shopping"
            )  # for the others it would cost more than it saves
            built[name] = build(project, folder, snapshot=snapshot)
    with serve_folder(folder) as served:
        yield {
            name: Bundle(folder, f"http://bundle.localhost:{served.port}", result.url_path)
            for name, result in built.items()
        }


@pytest.fixture(params=["python", extended("typescript")])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def era() -> Era:
    """What the client begins with, unless a test has others."""
    return "legacy"


@pytest.fixture
async def client(
    language: str,
    era: Era,
    context: BrowserContext,
    troubles: Troubles,
    origins: Origins,
    typescript_client: None,
) -> AsyncIterator[McpClient]:
    """An official client."""
    page = await context.new_page()
    await page.goto(f"{origins.host}/client.html")
    async with AsyncExitStack() as stack:
        yield PythonClient(page, era, stack) if language == "python" else TypeScriptClient(page, era)


def text_of(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


async def test_a_shopping_list(
    client: McpClient, bundles: dict[str, Bundle], troubles: Troubles, pytestconfig: pytest.Config
) -> None:
    await client.open(bundles["shopping"].url)
    assert client.version == HANDSHAKE
    boot = (await client.capabilities())["experimental"][BOOT_CAPABILITY]
    assert boot["start"] == ("snapshot" if opened_often(pytestconfig) else "plain")
    assert text_of(await client.call("add_item", item=" Brot & Käse ")) == "1 on the list."
    await client.set_log_level("info")
    assert (await client.call("show_list"))["structuredContent"] == {"result": ["Brot & Käse"]}
    assert (await client.next("log"))["data"] == "Reading the list"
    read = await client.request("resources/read", {"uri": "shopping://list"})
    assert read["contents"][0]["text"] == "Brot & Käse"
    prompt = await client.request("prompts/get", {"name": "plan", "arguments": {"meal": "soup"}})
    assert prompt["messages"][0]["content"]["text"] == "What do I have to buy for soup?"
    troubles.expect("The item has no name.")
    failed = await client.call("add_item", item=" ")
    assert failed["isError"]
    assert text_of(failed) == "Error executing tool add_item: The item has no name."


async def test_units(client: McpClient, bundles: dict[str, Bundle]) -> None:
    await client.open(bundles["units"].url)
    assert client.version == HANDSHAKE
    assert text_of(await client.call("convert", **{"value": 2, "from": "mile"})) == "3218.69 m"
    wrong = await client.call("convert", **{"value": 2, "from": "parsec"})
    assert wrong["isError"]
    assert "parsec" in text_of(wrong)
    assert "There is no tool weigh." in text_of(await client.call("weigh"))


@pytest.mark.parametrize("era", [extended("legacy"), "auto"])
async def test_flashcards(client: McpClient, bundles: dict[str, Bundle], troubles: Troubles) -> None:
    await client.open(bundles["flashcards"].url)
    assert client.version == (NEWEST if client.era == "auto" else HANDSHAKE)
    cards = (await client.call("list_cards", deck="german"))["structuredContent"]["result"]
    assert [card["back"] for card in cards] == ["bread"]
    assert (await client.call("spelling_same", one="A  b", other="a B"))["structuredContent"] == {"result": True}
    read = await client.request("resources/read", {"uri": "flashcards://german"})
    assert "Brot" in read["contents"][0]["text"]
    prompt = await client.request("prompts/get", {"name": "practise", "arguments": {"deck": "german"}})
    assert "deck german" in prompt["messages"][0]["content"]["text"]
    troubles.expect("There is no card 'x'")
    assert "There is no card 'x'." in text_of(await client.call("answer", front="x", back="y"))


async def test_flashcards_ask_the_user(client: McpClient, bundles: dict[str, Bundle]) -> None:
    await client.open(bundles["flashcards"].url)
    await client.answer("elicitation/create", {"action": "accept", "content": {"value": "water"}})
    assert text_of(await client.call("quiz")) == "pain is bread."
    assert (await client.next("asked"))["params"]["message"] == "What is eau (french)?"
    assert [(await client.next("progress"))["progress"] for _ in range(2)] == [0, 1]


@pytest.mark.extended  # the newest is spoken in all of the above
@pytest.mark.parametrize("revision", ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
@pytest.mark.parametrize(
    ("name", "tool", "arguments", "answer"),
    [
        ("shopping", "add_item", {"item": "milk"}, "1 on the list."),
        ("units", "convert", {"value": 1, "from": "ft"}, "0.3048 m"),
        ("flashcards", "answer", {"front": "eau", "back": "Water"}, "true"),
    ],
)
async def test_every_revision_with_a_handshake_is_spoken(
    client: McpClient,
    bundles: dict[str, Bundle],
    revision: str,
    name: str,
    tool: str,
    arguments: dict[str, Any],
    answer: str,
) -> None:
    await client.open(bundles[name].url, revision)
    assert client.version == revision
    assert text_of(await client.call(tool, **arguments)) == answer


@pytest.mark.parametrize("name", except_for(["shopping", "units", "flashcards"], "shopping"))
async def test_sessions_one_after_the_other(client: McpClient, bundles: dict[str, Bundle], name: str) -> None:
    lists = []
    for _ in range(3):
        await client.open(bundles[name].url)
        lists.append([tool["name"] for tool in (await client.request("tools/list"))["tools"]])
        await client.close()
    assert lists[0] == lists[1] == lists[2] != []
