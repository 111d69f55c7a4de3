"""The inspector's forms and results in a page, filled and read as a person does: by label, role and keyboard."""

from __future__ import annotations

import base64
import json
import re
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.web.serve import serve_folder
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, Troubles, new_context
from tests.support.built import SERVERS, build_plain

DOT = base64.b64encode((SERVERS / "authored" / "dot.png").read_bytes()).decode()


@pytest.fixture(scope="module")
def formed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bundle]:
    """The bundle of `servers/formed` with the inspector's own modules."""
    project = tmp_path_factory.mktemp("formed")
    shutil.copytree(SERVERS / "formed", project, dirs_exist_ok=True)
    for room in ("forms", "results"):
        shutil.copytree(static_dir() / "inspector" / "inspector" / room, project / "inspector" / room)
    for name in ("forms.css", "results.css"):
        shutil.copy(static_dir() / "inspector" / name, project)
    folder = tmp_path_factory.mktemp("formed-site")
    built = build_plain(project, folder)
    assert built.warnings == ()
    with serve_folder(folder) as served:
        yield Bundle(folder, f"http://bundle.localhost:{served.port}", built.url_path)


@pytest.fixture(scope="module")
async def opened(browser: Browser, formed: Bundle) -> AsyncIterator[tuple[Page, Troubles]]:
    async with new_context(browser) as (context, troubles):
        await context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = await context.new_page()
        await page.goto(formed.url)
        await expect(page.get_by_label("Value")).to_have_text("ready", timeout=BOOT_PATIENCE * 1000)
        yield page, troubles


@pytest.fixture
def page(opened: tuple[Page, Troubles]) -> Page:
    return opened[0]


async def make(page: Page, properties: dict[str, Any], **more: Any) -> None:
    """Make a form for an object."""
    await page.get_by_label("Given").fill(json.dumps({"type": "object", "properties": properties, **more}))
    await page.get_by_role("button", name="Make form").click()
    await expect(page.get_by_label("Value", exact=True)).to_have_text("made")


async def run(page: Page) -> Any:
    """Press Run; give the value."""
    await page.get_by_role("button", name="Run").click()
    await expect(page.locator("#value")).not_to_have_text("running")
    return await value(page)


async def value(page: Page) -> Any:
    return json.loads(await page.locator("#value").inner_text())


async def wrong(page: Page, *messages: str) -> None:
    """Press Run, which finds this wrong."""
    await page.get_by_role("button", name="Run").click()
    await expect(page.locator("#value")).to_have_text(f"wrong: {' '.join(messages)}")


async def show(page: Page, result: Any) -> Locator:
    await page.get_by_label("Given").fill(json.dumps(result))
    await page.get_by_role("button", name="Show result").click()
    return page.locator("#result")


def named(page: Page, label: str) -> Locator:
    return page.get_by_role("form", name="Tool").get_by_label(label, exact=True)


# Forms


async def test_texts_and_numbers(page: Page) -> None:
    await make(
        page,
        {
            "title": {"type": "string", "description": "What it is called.", "maxLength": 20},
            "body": {"type": "string"},
            "secret": {"type": "string", "format": "password"},
            "mail": {"type": "string", "format": "email"},
            "count": {"type": "integer", "minimum": 1, "maximum": 10},
            "ratio": {"type": "number", "default": 0.5},
        },
        required=["title", "count"],
    )
    title = named(page, "title")
    await expect(title).to_have_accessible_description("What it is called. At most 20 characters")
    await expect(title).to_have_attribute("aria-required", "true")
    await expect(named(page, "ratio")).to_have_value("0.5")
    await title.fill("Notes")
    await named(page, "body").fill("two\nlines")
    await named(page, "secret").fill("hush")
    await expect(named(page, "secret")).to_have_attribute("type", "password")
    await named(page, "mail").fill("ada@example.org")
    await named(page, "count").fill("7")
    expected = {"title": "Notes", "body": "two\nlines", "secret": "hush", "mail": "ada@example.org", "count": 7}
    assert await run(page) == expected | {"ratio": 0.5}
    await named(page, "body").fill("")
    await named(page, "ratio").fill("")
    assert (await run(page)).keys() == {"title", "secret", "mail", "count"}


async def test_enter_submits_where_the_line_breaks_with_shift(page: Page) -> None:
    await make(page, {"query": {"type": "string"}, "any": {}, "body": {"type": "string", "format": "markdown"}})
    keys, given = page.keyboard, page.locator("#value")
    for name in ("query", "any"):
        await expect(named(page, name)).to_have_accessible_description(re.compile("Enter submits, Shift.Enter breaks"))
    await expect(named(page, "body")).to_have_accessible_description("Ctrl+Enter submits")
    await named(page, "query").click()
    await keys.type("fin")
    await named(page, "query").dispatch_event("keydown", {"key": "Enter", "isComposing": True, "cancelable": True})
    await expect(given).to_have_text("made")
    await keys.press("Enter")
    await expect(given).to_have_text('{"query": "fin"}')
    await keys.press("Shift+Enter")
    await keys.type("al")
    await keys.press("Enter")
    await expect(given).to_have_text(r'{"query": "fin\nal"}')
    await named(page, "any").click()
    await keys.type("7")
    await keys.press("Enter")
    await expect(given).to_have_text(r'{"query": "fin\nal", "any": 7}')
    await named(page, "body").click()
    await keys.type("one")
    await keys.press("Enter")
    await keys.type("two")
    await keys.press("Control+Enter")
    await expect(given).to_have_text(r'{"query": "fin\nal", "any": 7, "body": "one\ntwo"}')


@pytest.mark.parametrize(
    ("pattern", "right", "wrong_"),
    [
        ("^a+$", "aa", "ba"),
        (r"^\d{3}-\d{4}$", "555-1234", "٣٣٣-1234"),
        (r"^\p{Lu}\P{L}$", "Ä1", "ä1"),
        (r"^(?<year>\d{4})$", "2026", "26"),
        (r"^(a)\1(?<!b)$", "aa", "ab"),
    ],
)
async def test_a_pattern_is_one_of_ecma_262(page: Page, pattern: str, right: str, wrong_: str) -> None:
    await make(page, {"text": {"type": "string", "pattern": pattern, "default": wrong_}})
    await expect(named(page, "text")).to_have_value("")  # a default that does not match is left out
    await named(page, "text").fill(wrong_)
    await wrong(page, f"text must match the pattern {pattern}.")
    await named(page, "text").fill(right)
    await expect(named(page, "text")).not_to_have_attribute("aria-invalid", "true")
    await page.get_by_role("button", name="Run").click()
    await expect(page.locator("#value")).to_have_text(json.dumps({"text": right}, ensure_ascii=False))


@pytest.mark.parametrize("pattern", ["(a+)+$", "^(a|a)*$", "((a*)*)*b", "(?=(a+)+$)", "(?:(?:a{1,9}){9})*b$"])
async def test_a_pattern_that_backtracks_for_years_neither_freezes_the_page_nor_prevents_sending(
    page: Page, pattern: str
) -> None:
    attack = "a" * 100 + "!"
    await make(
        page,
        {
            "odd": {"type": "string", "pattern": pattern, "default": attack},
            "plain": {"type": "string", "pattern": "^b$"},
        },
    )
    await named(page, "odd").fill(attack + "!")
    await named(page, "plain").fill("c")
    await wrong(page, "plain must match the pattern ^b$.")  # matched after the worker was terminated
    await named(page, "plain").fill("b")
    await page.get_by_role("button", name="Run").click()
    await expect(page.locator("#value")).to_have_text(json.dumps({"odd": attack + "!", "plain": "b"}))
    await expect(named(page, "odd")).to_have_accessible_description("odd could not be checked in time.")
    await expect(named(page, "odd")).not_to_have_attribute("aria-invalid", "true")


async def test_what_is_wrong_is_said_beside_the_field_and_has_the_focus(page: Page) -> None:
    await make(
        page,
        {
            "name": {"type": "string"},
            "count": {"type": "integer", "minimum": 1},
            "day": {"type": "string", "format": "date"},
        },
        required=["name"],
    )
    await named(page, "count").fill("many")
    await named(page, "day").fill("31.1.2026")
    await wrong(page, "name is required.", "count must be a whole number.", "day must be a date such as 2026-01-31.")
    name, count = named(page, "name"), named(page, "count")
    await expect(name).to_be_focused()
    await expect(name).to_have_attribute("aria-invalid", "true")
    await expect(name).to_have_accessible_description(re.compile("^name is required\\. Enter submits"))
    await expect(count).to_have_accessible_description("count must be a whole number. At least 1")
    await count.fill("0")
    await expect(count).to_have_accessible_description("count must be at least 1. At least 1")
    await count.fill("3")
    await expect(count).to_have_accessible_description("At least 1")
    await expect(count).not_to_have_attribute("aria-invalid", "true")
    await name.fill("x")
    await named(page, "Pick day").fill("2026-01-31")
    await expect(named(page, "day")).to_have_value("2026-01-31")
    assert await run(page) == {"name": "x", "count": 3, "day": "2026-01-31"}


async def test_choices_and_pickers(page: Page) -> None:
    await make(
        page,
        {
            "mode": {"enum": ["fast", "slow"]},
            "size": {"oneOf": [{"const": 1, "title": "Small"}, {"const": 2, "title": "Large"}], "default": 1},
            "sure": {"type": "boolean"},
            "agreed": {"type": "boolean"},
            "parts": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True, "minItems": 1},
            "note": {"type": ["string", "null"]},
            "at": {"type": "string", "format": "date-time"},
            "clock": {"type": "string", "format": "time"},
            "tint": {"type": "string", "format": "color"},
        },
        required=["agreed", "parts"],
    )
    await named(page, "mode").select_option("slow")
    await expect(named(page, "size")).to_have_value("0")
    await named(page, "sure").select_option("false")
    await named(page, "agreed").check()
    await wrong(page, "parts must have at least 1 item.")
    parts = page.get_by_role("group", name="parts")
    await parts.get_by_label("c", exact=True).check()
    await parts.get_by_label("a", exact=True).check()
    await named(page, "note is null").check()
    await named(page, "Pick at").fill("2026-01-31T13:45")
    await named(page, "Pick clock").fill("13:45:10")
    await named(page, "Pick tint").fill("#2557b8")
    assert await run(page) == {
        "mode": "slow",
        "size": 1,
        "sure": False,
        "agreed": True,
        "parts": ["a", "c"],
        "note": None,
        "at": "2026-01-31T13:45:00Z",
        "clock": "13:45:10",
        "tint": "#2557b8",
    }


NESTED: dict[str, Any] = {
    "people": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "ages": {"type": "array", "items": {"type": "integer"}}},
            "required": ["name"],
        },
    },
    "id": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    "pet": {
        "oneOf": [
            {
                "title": "Cat",
                "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}},
                "required": ["kind"],
            },
            {"title": "Dog", "properties": {"kind": {"const": "dog"}}, "required": ["kind"]},
        ]
    },
    "weights": {"type": "object", "additionalProperties": {"type": "number"}},
}


async def test_groups_lists_and_unions(page: Page) -> None:
    await make(page, NESTED)
    button = page.get_by_role("button", name="Add people")
    await button.click()
    await page.get_by_role("button", name="Add item to people").click()
    await page.get_by_role("button", name="Add item to people").click()
    first, second = (page.get_by_role("group", name=f"people {at}", exact=True) for at in (1, 2))
    await first.get_by_label("name", exact=True).fill("Ada")
    await second.get_by_label("name", exact=True).fill("Bob")
    await (
        second.get_by_role("button", name="Add people 2 ages", exact=False)
        .or_(second.get_by_role("button", name="Add ages"))
        .click()
    )
    await second.get_by_role("button", name="Add item to ages").click()
    await second.get_by_label("ages 1", exact=True).fill("41")
    await named(page, "Kind of id").select_option("text")
    await named(page, "id: text").fill("007")
    await named(page, "Kind of pet").select_option("Dog")
    await page.get_by_role("button", name="Add weights").click()
    await page.get_by_role("button", name="Add property to weights").click()
    await expect(named(page, "weights property 1 name")).to_be_focused()
    await named(page, "weights property 1 name").fill("kg")
    await named(page, "weights property 1").fill("1.5")
    assert await run(page) == {
        "people": [{"name": "Ada"}, {"name": "Bob", "ages": [41]}],
        "id": "007",
        "pet": {"kind": "dog"},
        "weights": {"kg": 1.5},
    }
    await page.get_by_role("button", name="Remove people 1").click()
    await expect(first.get_by_label("name", exact=True)).to_have_value("Bob")
    await expect(second).to_have_count(0)
    await page.get_by_role("button", name="Leave out weights").click()
    assert await run(page) == {"people": [{"name": "Bob", "ages": [41]}], "id": "007", "pet": {"kind": "dog"}}


async def test_with_the_keyboard_only(page: Page) -> None:
    await make(
        page,
        {"tags": {"type": "array", "items": {"type": "string"}}, "sure": {"type": "boolean"}, "n": {"type": "integer"}},
        required=["sure"],
    )
    keys = page.keyboard
    await page.get_by_label("Given").focus()
    for _ in range(5):  # the page's own four buttons, then the form
        await keys.press("Tab")
    await expect(page.get_by_role("button", name="Add tags")).to_be_focused()
    await keys.press("Enter")
    await expect(page.get_by_role("group", name="tags")).to_be_focused()
    await keys.press("Tab")
    await expect(page.get_by_role("button", name="Leave out tags")).to_be_focused()
    await keys.press("Tab")
    await keys.press("Space")
    await expect(named(page, "tags 1")).to_be_focused()
    await keys.type("one")
    await keys.press("Tab")
    await expect(page.get_by_role("button", name="Remove tags 1")).to_be_focused()
    await keys.press("Tab")
    await keys.press("Tab")
    await keys.press("Enter")
    await expect(named(page, "tags 2")).to_be_focused()
    await keys.press("Tab")
    await keys.press("Enter")
    await expect(named(page, "tags 1")).to_be_focused()
    for _ in range(4):
        await keys.press("Tab")
    await expect(named(page, "sure")).to_be_focused()
    await keys.press("Space")
    await keys.press("Tab")
    await keys.type("42")
    await keys.press("Enter")
    await expect(page.locator("#value")).to_have_text('{"tags": ["one"], "sure": true, "n": 42}')
    await named(page, "tags 1").focus()
    await keys.press("End")
    await keys.type("!")
    await keys.press("Control+Enter")
    await expect(page.locator("#value")).to_have_text('{"tags": ["one!"], "sure": true, "n": 42}')


async def test_raw_json_and_back(page: Page) -> None:
    await make(page, {"n": {"type": "integer"}, "s": {"type": "string"}})
    await named(page, "n").fill("twelve")
    switch = page.get_by_role("button", name="Raw JSON")
    await switch.click()
    await expect(switch).to_have_attribute("aria-pressed", "true")
    raw = named(page, "Arguments as JSON")
    await expect(raw).to_have_value('{\n  "n": "twelve"\n}')
    await raw.fill('{"n": 12,\n "s": "a\\nb" "x"}')
    await switch.click()
    await expect(raw).to_be_focused()
    await expect(raw).to_have_accessible_description(
        "Arguments is not JSON: expecting ',' delimiter at line 2, column 14. Ctrl+Enter submits"
    )
    await expect(raw).to_have_value('{"n": 12,\n "s": "a\\nb" "x"}')
    await raw.fill('{"n": 12,\n "s": "a\\nb", "x": [1]}')
    assert await run(page) == {"n": 12, "s": "a\nb", "x": [1]}
    await switch.click()
    await expect(named(page, "n")).to_have_value("12")
    await expect(named(page, "s")).to_have_value("a\nb")
    await expect(named(page, "Arguments property 1 name")).to_have_value("x")
    assert await run(page) == {"n": 12, "s": "a\nb", "x": [1]}


async def test_a_file_is_chosen(page: Page, tmp_path: Path) -> None:
    await make(page, {"data": {"type": "string", "contentEncoding": "base64"}})
    (tmp_path / "a.txt").write_text("hi")
    await page.get_by_label("Choose a file for data").set_input_files(tmp_path / "a.txt")
    await expect(named(page, "data")).to_have_value("aGk=")
    assert await run(page) == {"data": "aGk="}
    (tmp_path / "b").write_bytes(bytes(300_000))
    await page.get_by_label("Choose a file for data").set_input_files(tmp_path / "b")
    await expect(named(page, "data")).to_have_attribute(
        "placeholder", "400,000 characters of base64; type to replace them"
    )
    assert len((await run(page))["data"]) == 400_000


async def test_completions(page: Page) -> None:
    await make(page, {"city": {"type": "string"}})
    await page.get_by_role("button", name="Complete city").click()
    city = named(page, "city")
    await expect(city).to_have_role("combobox")
    await city.press_sequentially("P")
    options = page.locator(f"datalist#{await city.get_attribute('list')} option")
    await expect(options).to_have_count(3)
    await city.press_sequentially("ra")
    await expect(options).to_have_count(1)
    assert await options.get_attribute("value") == "Prague"
    await city.fill("Prague")
    assert await run(page) == {"city": "Prague"}


async def test_labels_are_text_whatever_the_schema_says(page: Page) -> None:
    evil = "<img src=x onerror='window.hit=1'>"
    await make(
        page,
        {
            evil: {"type": "string", "description": evil, "title": evil},
            "e": {"enum": [evil, "b"]},
            "d": {"default": evil},
        },
    )
    await named(page, evil).fill("x")
    await named(page, "e").select_option(evil)
    assert await run(page) == {evil: "x", "e": evil, "d": evil}
    assert await page.evaluate("window.hit") is None
    await expect(page.locator("#place img")).to_have_count(0)


# Results


async def test_texts_and_errors(page: Page) -> None:
    result = await show(page, {"content": [{"type": "text", "text": "one\ntwo"}], "isError": True})
    await expect(result.locator("pre")).to_have_text("one\ntwo")
    await expect(result).to_contain_text("The tool reports an error.")
    await result.get_by_role("button", name="Copy text").click()
    await expect(result.get_by_role("status")).to_have_text("Copied.")
    assert await page.evaluate("navigator.clipboard.readText()") == "one\ntwo"
    result = await show(page, {"content": []})
    await expect(result).to_have_text("The result is empty.")
    result = await show(page, {"content": [{"type": "text", "text": "x" * 200_000}]})
    await result.get_by_role("button", name="Show all (200,000 characters)").click()
    assert len(await result.locator("pre").inner_text()) == 200_000


async def test_structured_content_is_a_tree(page: Page) -> None:
    data = {"name": "Ada", "items": [{"n": at} for at in range(250)], "none": None, "deep": {"er": {"est": True}}}
    text = {"type": "text", "text": json.dumps(data)}
    result = await show(page, {"content": [text], "structuredContent": data, "_meta": {"took": 3}})
    tree = result.get_by_role("group", name="Structured content")
    await expect(tree).to_contain_text('name: "Ada"')
    await expect(result.get_by_text("As JSON")).to_have_count(0)  # it is the same
    items = tree.get_by_text("items: [250 items]")
    await items.focus()
    await page.keyboard.press("Enter")
    await expect(tree.get_by_text("99: {n}", exact=True)).to_be_visible()
    await expect(tree.get_by_text("100: {n}", exact=True)).to_have_count(0)
    await tree.get_by_role("button", name="Show more (150 left)").click()
    await expect(tree.get_by_text("100: {n}", exact=True)).to_be_focused()
    await tree.get_by_role("button", name="Show more (50 left)").click()
    await expect(tree.get_by_text("249: {n}", exact=True)).to_be_visible()
    await result.get_by_role("button", name="Copy Structured content").click()
    await expect(tree.get_by_role("status")).to_have_text("Copied.")
    assert json.loads(await page.evaluate("navigator.clipboard.readText()")) == data
    await result.get_by_text("More of the result").click()
    more = result.get_by_role("group", name="More of the result")
    await more.get_by_text("_meta: {took}", exact=True).click()
    await expect(more).to_contain_text("took: 3")


async def test_five_megabytes_of_structure_are_shown_at_once(page: Page) -> None:
    data = {f"key {at}": ["x" * 40] * 100 for at in range(1000)}
    await page.get_by_label("Given").evaluate(
        "(element, text) => { element.value = text }", json.dumps({"content": [], "structuredContent": data})
    )
    await page.get_by_role("button", name="Show result").click()
    tree = page.get_by_role("group", name="Structured content")
    await expect(tree.locator("summary")).to_have_count(1)
    await tree.locator("summary").click()
    await expect(tree.locator("summary")).to_have_count(101)
    assert await page.evaluate("document.querySelectorAll('#result *').length") < 1000


async def test_images_sounds_and_files(page: Page) -> None:
    wave = base64.b64encode(b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0@\x1f\0\0\1\0\x08\0data\0\0\0\0").decode()
    result = await show(
        page,
        {
            "content": [
                {"type": "image", "data": DOT, "mimeType": "image/png"},
                {"type": "audio", "data": wave, "mimeType": "audio/wav"},
                {"type": "resource", "resource": {"uri": "file:///a/b.bin", "blob": "aGk=", "mimeType": "x/y"}},
                {"type": "resource", "resource": {"uri": "note://1", "text": "a note", "mimeType": "text/plain"}},
            ]
        },
    )
    image = result.get_by_role("img", name="Image (image/png")
    assert await image.evaluate("async (image) => { await image.decode(); return image.naturalWidth }") == 1
    await expect(result.get_by_label("Sound (audio/wav, 44 bytes)")).to_be_visible()
    await expect(result.locator("pre")).to_have_text("a note")
    async with page.expect_download() as downloading:
        await result.get_by_role("button", name="Download b.bin").click()
    download = await downloading.value
    assert download.suggested_filename == "b.bin"
    assert (await download.path()).read_bytes() == b"hi"


async def test_linked_resources_are_read(page: Page) -> None:
    links = [{"type": "resource_link", "name": name, "uri": f"note://{name}"} for name in ("there", "absent")]
    result = await show(page, {"content": links})
    await result.get_by_role("button", name="Read there").click()
    await expect(result.locator("pre")).to_have_text("the text of note://there")
    await result.get_by_role("button", name="Read absent").click()
    await expect(result.get_by_role("alert")).to_have_text("absent could not be read: there is no such resource")


async def test_prompts(page: Page) -> None:
    messages = [
        {"role": "user", "content": {"type": "text", "text": "Who?"}},
        {"role": "assistant", "content": {"type": "image", "data": DOT, "mimeType": "image/png"}},
    ]
    result = await show(page, {"description": "Asks", "messages": messages})
    await expect(result).to_contain_text("Asks")
    await expect(result.locator(".result-title")).to_have_text(["user", "assistant"])
    await expect(result.get_by_role("img")).to_have_count(1)


async def test_hostile_results(page: Page, opened: tuple[Page, Troubles]) -> None:
    script = "<script>window.hit = 1</script><img src=x onerror='window.hit = 1'>"
    svg = f"<svg xmlns='http://www.w3.org/2000/svg' onload='window.hit = 1' width='9' height='9'>{script}</svg>"
    drawn = base64.b64encode(svg.encode()).decode()
    broken = base64.b64encode(b"no image").decode()
    result = await show(
        page,
        {
            "content": [
                {"type": "text", "text": script},
                {"type": "image", "data": drawn, "mimeType": "image/svg+xml"},
                {"type": "image", "data": broken, "mimeType": "image/png"},
                {"type": "image", "data": drawn, "mimeType": "text/html"},
                {"type": "image", "data": DOT, "mimeType": 'image/png;x" onerror="window.hit=1'},
                {"type": "image", "data": "' onload=window.hit=1", "mimeType": "image/png"},
                {"type": "image", "data": 7},
                {"type": "resource_link", "name": script, "uri": "javascript:window.hit=1", "description": script},
                {"type": "resource_link", "name": "b", "uri": "JAVASCRIPT:window.hit=1"},
                {"type": "resource_link", "name": "c", "uri": "data:text/html,x"},
                {"type": "resource_link", "name": "d", "uri": "https://example.org/x"},
                {"type": "resource", "resource": {"uri": "javascript:1/../../evil\u202egpj.exe", "blob": "aGk="}},
                {"type": script, "x": script},
                script,
                None,
                {"type": "resource", "resource": None},
                {"type": "text", "text": {"a": 1}},
            ],
            "structuredContent": {script: [script, {"__proto__": script}]},
            "isError": "yes",
            script: script,
        },
    )
    await expect(result.locator("script, svg, iframe, object, embed")).to_have_count(0)
    await expect(result.locator("img")).to_have_count(3)
    await expect(result.get_by_text("The browser can't show this image.")).to_have_count(1 + 2)
    await expect(result.get_by_text("This image is not base64.")).to_have_count(2)
    await expect(result.get_by_text("This is not content that MCP describes.")).to_have_count(5)
    links = result.get_by_role("link")
    await expect(links).to_have_count(1)
    await expect(links).to_have_attribute("href", "https://example.org/x")
    await expect(links).to_have_attribute("rel", "noopener noreferrer")
    await expect(result.get_by_role("button", name="Download evil_gpj.exe")).to_be_visible()
    folded = result.locator("details:not([open]) > summary")
    while await folded.count():
        await folded.first.click()
    await result.locator("img").first.evaluate("(image) => image.decode().catch(() => {})")
    assert await page.evaluate("window.hit") is None
    for odd in (None, 3, "x", [], {}, {"content": script}, {"messages": [1, {"role": 2}]}, {"contents": {}}):
        await show(page, odd)
    assert await page.evaluate("window.hit") is None
