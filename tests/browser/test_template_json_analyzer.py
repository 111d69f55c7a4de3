"""The template json-analyzer, end to end: a person chooses a document, then the tools answer from it."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Frame

from tests.browser.conftest import TemplateSite, Troubles
from tests.browser.dropping import drop
from tests.browser.hosts import Host


@pytest.fixture
def template() -> str:
    return "json-analyzer"


@pytest.fixture
def people(tmp_path: Path) -> Path:
    file = tmp_path / "people.json"
    file.write_text(json.dumps({"people": [{"name": "Ada", "age": 36}, {"name": "Linus", "age": 28}]}))
    return file


async def chosen(frame: Frame, text: str) -> None:
    """Wait until the page says what was chosen, and confirm it."""
    await frame.wait_for_selector(f"#chosen >> text={text}")
    await frame.click("#use")


def values(result: dict[str, Any]) -> list[Any]:
    return [match["value"] for match in result["structuredContent"]["matches"]]


async def test_a_file_is_chosen_and_answers_come_from_it(host: Host, people: Path) -> None:
    async with host.setup() as setting_up:
        frame = setting_up.frame
        assert await frame.is_disabled("#use")
        await frame.set_input_files("#file", people)
        await frame.wait_for_selector("#preview >> text=$.people[*].name: string, 2 times")
        assert not await frame.locator("html").evaluate("html => html.scrollWidth > html.clientWidth")
        await chosen(frame, "people.json")
        assert await setting_up.result() == {
            "title": "JSON analyzer: people.json",
            "visibility": "hidden",
            "message": "Loaded people.json",
            "error": None,
        }
    async with host.connect() as server:
        assert values(await server.ok("evaluate_jsonpath", path="$.people[?@.age > 30].name")) == ["Ada"]
        assert values(await server.ok("search", text="linus")) == ["Linus"]
        summary = await server.ok("schema_summary")
        assert "$.people[*].age: integer, 2 times; 28 to 36" in summary["content"][0]["text"]
        wrong = await server.call("evaluate_jsonpath", path="people[")
        assert wrong["isError"]
        assert "not a JSONPath" in wrong["content"][0]["text"]
    async with host.connect() as server:  # as when the host's page is opened again
        assert values(await server.ok("evaluate_jsonpath", path="$..age")) == [36, 28]


async def test_the_example_with_the_keyboard_alone_and_then_another_document(host: Host, people: Path) -> None:
    async with host.setup() as setting_up:
        frame = setting_up.frame
        await frame.focus("#file")
        await frame.page.keyboard.press("Tab")
        assert await frame.evaluate("document.activeElement.id") == "example"
        await frame.page.keyboard.press("Enter")
        await frame.wait_for_selector("#use:enabled")
        for _ in range(3):
            await frame.page.keyboard.press("Tab")
        assert await frame.evaluate("document.activeElement.id") == "use"
        await frame.page.keyboard.press("Enter")
        assert (await setting_up.result())["error"] is None
    async with host.connect() as server:
        path = "$.store.books[?@.price < 10].title"
        assert values(await server.ok("evaluate_jsonpath", path=path)) == ["Sayings of the Century", "Moby Dick"]
    async with host.setup() as setting_up:
        await setting_up.frame.wait_for_selector("#chosen >> text=example.json")  # the one before
        await setting_up.frame.set_input_files("#file", people)
        await chosen(setting_up.frame, "people.json")
        await setting_up.result()
    async with host.connect() as server:
        assert values(await server.ok("evaluate_jsonpath", path="$.people[0].name")) == ["Ada"]


async def test_where_the_browser_keeps_nothing_the_document_is_chosen_at_run_time(
    host: Host, templates: TemplateSite, people: Path
) -> None:
    host.retarget(templates.url("json-analyzer", stored=False))
    async with host.setup() as setting_up:
        result = await setting_up.result()
    assert result["visibility"] == "required"
    assert "keeps nothing" in result["message"]
    async with host.connect() as server:
        await server.frame.set_input_files("#file", people)
        await chosen(server.frame, "people.json")
        await server.frame.wait_for_selector("#chosen >> text=people.json, ")
        assert values(await server.ok("evaluate_jsonpath", path="$..age")) == [36, 28]


async def test_cancelling(host: Host, troubles: Troubles) -> None:
    troubles.expect("The setup was cancelled.")
    async with host.setup() as setting_up:
        await setting_up.frame.click("#cancel")
        assert (await setting_up.result())["error"] == "USER_CANCELLED"
    async with host.connect() as server:
        result = await server.call("evaluate_jsonpath", path="$")
        assert result["isError"]
        assert "run this server's setup" in result["content"][0]["text"]


async def test_what_is_no_json_is_said_and_another_file_is_dropped(host: Host, tmp_path: Path, people: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"a": 1,\n "b" 2}')
    async with host.setup() as setting_up:
        await setting_up.frame.set_input_files("#file", broken)
        await setting_up.frame.wait_for_selector("#chosen.bad >> text=line 2, column 6")
        assert await setting_up.frame.is_disabled("#use")
        await drop(setting_up.frame, ".drop", people)
        await chosen(setting_up.frame, "people.json")
        assert (await setting_up.result())["message"] == "Loaded people.json"


@pytest.mark.extended  # tests/browser/test_hostile_app_host.py has 50 MB
async def test_a_document_of_20_megabytes(host: Host, tmp_path: Path) -> None:
    chance = random.Random(7)
    rows = [
        {"id": number, "name": f"person {number}", "score": chance.random(), "tags": ["a", "b"], "note": "x" * 40}
        for number in range(150_000)
    ]
    file = tmp_path / "large.json"
    file.write_text(json.dumps({"rows": rows}))
    assert file.stat().st_size > 20_000_000
    async with host.setup() as setting_up:
        await setting_up.frame.set_input_files("#file", file)
        await setting_up.frame.wait_for_selector("#chosen >> text=large.json, 2", timeout=60_000)
        await chosen(setting_up.frame, "large.json")
        await setting_up.result()
    async with host.connect() as server:
        last = await server.ok("evaluate_jsonpath", path="$.rows[-1].name")
        assert values(last) == ["person 149999"]
        many = await server.ok("evaluate_jsonpath", path="$..name", limit=10)
        assert len(values(many)) == 10
        assert many["structuredContent"]["count"] > 10
        assert "Only the first 10 are returned" in many["content"][0]["text"]
        whole = await server.ok("evaluate_jsonpath", path="$.rows")
        assert values(whole) == ["<array of 150,000 items: too large to return, ask for a part of it>"]
        found = await server.ok("search", text="person 149999")
        assert [match["path"] for match in found["structuredContent"]["matches"]] == ["$.rows[149999].name"]
        summary = await server.ok("schema_summary")
        assert summary["structuredContent"]["places"][1]["lengths"] == [150_000, 150_000]
