"""A session in the inspector, by clicking: everything that a server can do, in both protocol eras.

One page serves all tests of an era, as a person's session would.
"""

import re
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, expect

from mcpframe.kit.dev.inspector import Inspecting
from tests.browser.conftest import Troubles, new_profile, watched
from tests.browser.inspecting import BOOT, InspectorPage, ServerPart
from tests.support.suites import newest_first


@pytest.fixture(scope="module", params=newest_first(["2026-07-28", "legacy"]))
async def opened(
    request: pytest.FixtureRequest, browser: Browser, inspecting: Inspecting
) -> AsyncIterator[tuple[InspectorPage, Troubles]]:
    """The inspector with two servers, in each era."""
    async with new_profile(browser) as context, watched(context) as troubles:
        inspector = await InspectorPage.open(
            context, inspecting, inspecting.url_with(inspecting.servers["inspected"], request.param)
        )
        await inspector.button("Allow what is checked").click(timeout=BOOT)
        await inspector.server("Inspected")
        await inspector.page.goto("about:blank")
        await inspector.page.goto(inspecting.url_with(inspecting.servers["everything"], request.param))
        await inspector.server("Everything")
        yield inspector, troubles


@pytest.fixture
def inspector(opened: tuple[InspectorPage, Troubles]) -> InspectorPage:
    """The inspector."""
    return opened[0]


async def choose(inspector: InspectorPage, name: str) -> ServerPart:
    """Look at one of the two servers."""
    await inspector.servers.get_by_role("button", name=name).click()
    return await inspector.server(name)


@pytest.fixture
async def everything(inspector: InspectorPage) -> ServerPart:
    """The server that has one of everything."""
    return await choose(inspector, "Everything")


@pytest.fixture
async def inspected(inspector: InspectorPage) -> ServerPart:
    """The server that asks for what the others don't."""
    return await choose(inspector, "Inspected")


async def test_a_tool_is_called_by_its_form(everything: ServerPart) -> None:
    await everything.call("weather", city="Oslo")
    await everything.answers("-3.5")
    await expect(everything.result).to_contain_text("Structured content")
    await expect(everything.view.get_by_text("Answered in")).to_be_visible()


async def test_invisible_characters_are_shown_as_escapes(everything: ServerPart) -> None:
    await everything.call("echo", text="exe.\u202egpj")
    await everything.answers(r"exe.\u202egpj")
    assert "\u202e" not in await everything.view.inner_text()


async def test_what_is_missing_is_said_at_the_field(everything: ServerPart) -> None:
    await everything.call("echo", text="")
    await everything.choose("Tools", "compute")
    await everything.button("Call").click()
    field = everything.box("seconds")
    await expect(field).to_have_attribute("aria-invalid", "true")
    await expect(field).to_be_focused()
    await field.fill("0.01")
    await field.press("Enter")
    await everything.answers("computed True")


async def test_an_image_is_shown(everything: ServerPart) -> None:
    await everything.call("image")
    await expect(everything.result.get_by_role("img")).to_be_visible()


async def test_a_link_to_a_resource_is_followed(everything: ServerPart) -> None:
    await everything.call("link")
    await everything.result.get_by_role("button", name=re.compile("Read")).first.click()
    await everything.answers("The sky over Oslo")


async def test_a_tool_that_fails(everything: ServerPart) -> None:
    await everything.call("fail", message="out of order")
    await everything.answers("out of order")
    await expect(everything.result).to_contain_text("The tool reports an error.")


async def test_progress_is_shown_and_a_call_is_cancelled(everything: ServerPart) -> None:
    await everything.call("count", to="3")
    await everything.answers("counted to 3")
    await everything.call("wait", name="for ever")
    await expect(everything.view.get_by_role("progressbar", name="Progress")).to_be_visible()
    await expect(everything.view.get_by_text("0: waiting")).to_be_visible()
    cancel = everything.view.get_by_role("tabpanel", name="Tools").get_by_role("button", name="Cancel", exact=True)
    await cancel.press("Enter")
    await expect(everything.view.get_by_text("Cancelled.", exact=True)).to_be_visible()
    await expect(everything.view.get_by_role("progressbar", name="Progress")).to_be_hidden()
    await expect(everything.button("Call")).to_be_focused()
    await everything.call("cancelled_waits")
    await everything.answers("for ever")


async def test_elicitation_is_a_form_in_a_dialog(inspector: InspectorPage, everything: ServerPart) -> None:
    dialog = inspector.dialog
    await everything.call("book", train="night train")
    await expect(dialog).to_contain_text("How many seats on night train?")
    await dialog.get_by_role("button", name="Accept").click()
    seats = dialog.get_by_role("textbox", name="seats")
    await expect(seats).to_be_focused()  # it is missing
    await dialog.get_by_role("combobox", name="window").select_option(label="true")
    await seats.fill("2")
    await seats.press("Enter")
    await everything.answers("2 seats on night train, window True")
    await expect(dialog).to_have_count(0)

    await everything.button("Call").click()
    await dialog.get_by_role("button", name="Decline").click()
    await everything.answers("not booked: decline")
    await everything.button("Call").click()
    await dialog.get_by_role("button", name="Decline").press("Escape")
    await everything.answers("not booked: cancel")


async def test_sampling_is_answered_or_refused_by_the_person(inspector: InspectorPage, everything: ServerPart) -> None:
    dialog = inspector.dialog
    await everything.call("sample", question="Why?")
    await expect(dialog).to_contain_text("Why?")
    await dialog.get_by_role("textbox", name="Answer of the model").fill("Because.")
    await dialog.get_by_role("button", name="Send answer").click()
    await everything.answers("a-person: Because.")
    await everything.button("Call").click()
    await dialog.get_by_role("button", name="Refuse").click()
    await expect(everything.view.get_by_text("The user refused the sampling request.").first).to_be_visible()


async def test_roots_are_offered(everything: ServerPart) -> None:
    about = await everything.tab("About")
    await about.get_by_role("textbox", name="Roots").fill("file:///projects/one")
    await everything.call("roots")
    await everything.answers("file:///projects/one")


async def test_resources_are_read(everything: ServerPart) -> None:
    await everything.choose("Resources", "motto")
    await everything.button("Read").click()
    await everything.answers("Ünïcödé ✓ 🐍")
    await everything.choose("Resources", "pixel")
    await everything.button("Read").click()
    await expect(everything.result.get_by_role("img")).to_be_visible()


async def test_a_template_has_a_form_with_completions(everything: ServerPart) -> None:
    await everything.choose("Resources", "sky")
    city = everything.box("city")
    await city.press_sequentially("os")
    options = everything.view.locator("datalist option")
    await expect(options).to_have_count(2)
    assert [await option.get_attribute("value") for option in await options.all()] == ["Oslo", "Osaka"]
    await city.fill("Oslo")
    await everything.button("Read").click()
    await everything.answers("The sky over Oslo")


async def test_a_prompt_is_got_with_completions(everything: ServerPart) -> None:
    await everything.choose("Prompts", "trip")
    city = everything.box("city")
    await city.press_sequentially("pa")
    option = everything.view.get_by_role("tabpanel", name="Prompts").locator("datalist option")
    await expect(option).to_have_count(1)  # until then there are those of what was typed before
    await expect(option).to_have_attribute("value", "Paris")
    await city.fill("Paris")
    await everything.box("days").fill("3")
    await everything.button("Get").click()
    await everything.answers("Plan 3 days in Paris.")
    await expect(everything.result).to_contain_text("Gladly.")


async def test_logs_come_from_the_level_that_is_asked_for(everything: ServerPart) -> None:
    await everything.call("shout", text="unasked")
    await everything.answers("UNASKED")
    logs = await everything.tab("Logs")
    await expect(logs.get_by_role("combobox", name="Level to ask for")).to_have_value("info")
    await expect(logs.get_by_role("listitem").filter(has_text="printed unasked")).to_have_count(1)
    await logs.get_by_role("button", name="Clear").click()
    await logs.get_by_role("combobox", name="Level to ask for").select_option("warning")
    await expect(logs.get_by_role("status")).not_to_be_empty()
    await everything.call("log", text="one")
    await everything.answers("logged")
    await everything.tab("Logs")
    entries = logs.get_by_role("log").get_by_role("listitem")
    await expect(entries.filter(has_text="warning")).to_have_count(1)
    await expect(entries.filter(has_text='{"heard": "one"}')).to_have_count(1)
    await expect(entries.filter(has_text="debug one")).to_have_count(0)
    await logs.get_by_role("combobox", name="Level to ask for").select_option("debug")
    await everything.call("log", text="two")
    await everything.tab("Logs")
    await expect(entries.filter(has_text="debug two")).to_have_count(1)
    await logs.get_by_role("combobox", name="Show from level").select_option("warning")
    await expect(entries.filter(has_text="debug two", visible=True)).to_have_count(0)
    await expect(entries.filter(has_text="two", visible=True)).to_have_count(1)
    await logs.get_by_role("combobox", name="Show from level").select_option("all")
    await logs.get_by_role("button", name="Clear").click()
    await expect(entries).to_have_count(0)


async def test_a_resource_is_followed(inspected: ServerPart) -> None:
    await inspected.choose("Resources", "note")
    following = inspected.view.get_by_role("tabpanel", name="Resources")
    await inspected.button("Subscribe").click()
    await inspected.button("Unsubscribe").wait_for()
    await inspected.call("write", text="Something new")
    await inspected.answers("written")
    await inspected.tab("Resources")
    await expect(following.get_by_text("Updated 1 time.")).to_be_visible()
    await inspected.button("Read").click()
    await inspected.answers("Something new")
    await inspected.button("Unsubscribe").click()
    await inspected.button("Subscribe").wait_for()
    await inspected.call("write", text="Unseen")
    await inspected.answers("written")
    await inspected.tab("Resources")
    await expect(following.get_by_text("Updated 1 time.")).to_be_visible()


async def test_a_visit_to_another_page_is_a_link(inspector: InspectorPage, inspected: ServerPart) -> None:
    await inspected.call("visit")
    link = inspector.dialog.get_by_role("link", name="https://sign-in.example/")
    assert await link.get_attribute("rel") == "noopener noreferrer"
    await inspector.dialog.get_by_role("button", name="Accept").click()
    await inspected.answers("the user answered accept")


async def test_tabs_by_the_keyboard(everything: ServerPart) -> None:
    await everything.tab("Tools")
    tab = everything.view.get_by_role("tab")
    await tab.nth(0).press("ArrowRight")
    await expect(tab.nth(1)).to_be_focused()
    await expect(tab.nth(1)).to_have_attribute("aria-selected", "true")
    await expect(everything.view.get_by_role("tabpanel", name="Resources")).to_be_visible()
    await tab.nth(1).press("End")
    await expect(tab.last).to_be_focused()
    await tab.last.press("ArrowRight")
    await expect(tab.nth(0)).to_be_focused()
    assert [await one.get_attribute("tabindex") for one in await tab.all()].count("0") == 1


async def test_lists_by_the_keyboard(everything: ServerPart) -> None:
    await everything.choose("Tools", "echo")
    listed = everything.view.get_by_role("navigation", name="Tools").get_by_role("button")
    await listed.nth(0).press("ArrowDown")
    await expect(listed.nth(1)).to_be_focused()
    await expect(listed.nth(1)).to_have_attribute("aria-current", "true")
    await expect(everything.view.get_by_role("heading", name="weather")).to_be_visible()
    await listed.nth(1).press("ArrowUp")
    await expect(listed.nth(0)).to_be_focused()


async def test_lists_that_change_are_shown_anew(everything: ServerPart) -> None:
    await everything.call("grow", name="grown")
    await everything.answers("grown")
    listed = everything.view.get_by_role("navigation", name="Tools")
    await expect(listed.get_by_role("button", name="grown")).to_be_visible()
    await everything.answers("grown")  # what was shown is still there
