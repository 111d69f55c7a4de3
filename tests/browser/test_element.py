"""`<mcp-server>` of `@mcpframe/host`, in a page whose policy allows no inline style and no script of other origins."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import BrowserContext, Locator, Page, expect

from mcpframe.kit.base.bundled_scripts import ELEMENT_SCRIPT, bundled_script
from mcpframe.kit.base.data import checkout_dir, static_dir
from mcpframe.kit.base.node import install_locked
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, BundleOf, Origins, TemplateSite, Troubles
from tests.browser.test_accessibility import SCHEMES, complaints
from tests.contract.playing import POLL
from tests.release.host_package import bundled_file

HOSTILE = "<img src=x onerror=alert(1)>\u202e"


@pytest.fixture(scope="module")
def packed(site: Path) -> None:
    """The files of the npm package, and the modules of the element, in the pages' folder."""
    modules = install_locked(checkout_dir())
    for module in (static_dir() / "host").glob("element-*.js"):
        shutil.copy(module, site)
    (site / "element.js").write_text(bundled_script(ELEMENT_SCRIPT), "utf-8")
    (site / "bundled.js").write_text(bundled_file(modules), "utf-8")


@pytest.fixture
async def page(context: BrowserContext, troubles: Troubles, origins: Origins, packed: None) -> Page:
    page = await context.new_page()
    await page.goto(f"{origins.host}/element.html")
    await page.wait_for_function("() => window.add")
    return page


async def add(page: Page, src: str, *, picture: str = "", **attributes: str) -> Locator:
    await page.evaluate("([attributes, picture]) => add(attributes, picture)", [{"src": src, **attributes}, picture])
    return page.locator("mcp-server").last


async def start(page: Page, src: str, **attributes: str) -> Locator:
    """Add an element that starts at once, and wait until it is ready."""
    element = await add(page, src, loading="eager", **attributes)
    await ready(element)
    return element


async def ready(element: Locator) -> None:
    await element.page.wait_for_function(
        "() => document.querySelector('mcp-server:last-of-type').matches(':state(ready)')",
        polling=POLL,
        timeout=BOOT_PATIENCE * 1000,
    )


async def events(page: Page, name: str) -> list[dict[str, Any]]:
    """Return the events of a name that have reached the document."""
    found: list[dict[str, Any]] = await page.evaluate("name => events.filter((event) => event.name === name)", name)
    return found


def tool(element: Locator, name: str) -> Locator:
    return element.locator(f'details:has(> summary:text-is("{name}"))')


async def call(view: Locator, **values: str) -> Locator:
    """Open a tool, fill its form in, and call it; return the place of the result."""
    await view.evaluate("element => { element.open = true; }")
    for label, value in values.items():
        await view.get_by_label(label).fill(value)
    await view.get_by_role("button", name="Call").click()
    return view.locator("[part~=result]")


async def test_it_starts_at_a_click_and_is_used_with_the_keyboard(page: Page, templates: TemplateSite) -> None:
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    element = await add(page, templates.url("pi-calculator"), label="Pi", picture="A picture")
    await expect(element.get_by_text("A picture")).to_be_visible()
    button = element.get_by_role("button", name="Start Pi")
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme)
        assert await complaints(page) == []
    assert requested == []  # neither the server nor the official client
    assert await page.evaluate("document.querySelector('mcp-server').matches(':state(idle)')")

    await page.keyboard.press("Tab")
    await expect(button).to_be_focused()
    await page.keyboard.press("Enter")
    await ready(element)
    await expect(element.get_by_role("status")).to_have_text("Ready: 2 tools.")
    await expect(element.get_by_role("status")).to_have_css("font-style", "italic")
    await expect(element.get_by_text("A picture")).to_be_hidden()
    await expect(element.locator("iframe")).to_be_visible()
    await expect(element.locator("iframe")).to_have_attribute("title", "Pi calculator")
    assert [(each["tools"], each["composed"]) for each in await events(page, "mcp-ready")] == [
        (["calculate_pi", "reset"], True)
    ]

    view = tool(element, "calculate_pi")
    await view.locator("summary").first.press("Enter")
    number = view.get_by_label("Iterations")
    await number.press("Enter")
    await expect(number).to_be_focused()
    await expect(number).to_have_attribute("aria-invalid", "true")
    await expect(view.locator("[part=problem]")).not_to_be_empty()
    await number.fill("999")
    await expect(view.locator("[part=problem]")).to_contain_text("1000")
    await number.fill("20000")
    await expect(view.locator("[part=problem]")).to_be_hidden()
    await expect(view.locator("[part=hint]")).to_have_text("How many points to throw")
    await number.press("Enter")
    result = view.get_by_role("group", name="Result of calculate_pi")
    await expect(result).to_contain_text("20,000 points")
    await result.locator("summary").click()
    await expect(result).to_contain_text('"points": 20000')
    await expect(element.get_by_role("status")).to_have_text("calculate_pi: done.")
    [answered] = await events(page, "mcp-result")
    assert (answered["tool"], answered["args"]) == ("calculate_pi", {"iterations": 20000})
    assert answered["result"]["structuredContent"]["points"] == 20000
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme)
        assert await complaints(page) == []

    called = "document.querySelector('mcp-server').tools.calculate_pi({ iterations: 1000 })"
    assert (await page.evaluate(called))["structuredContent"]["points"] == 21000

    await page.evaluate("document.querySelector('mcp-server').show = 'page'")
    await expect(view).to_be_hidden()
    await page.evaluate("document.querySelector('mcp-server').show = 'tools'")
    await expect(view).to_be_visible()
    await expect(element.locator("iframe")).to_be_hidden()


async def test_the_example_of_the_documentation(
    page: Page, site: Path, origins: Origins, templates: TemplateSite
) -> None:
    example = checkout_dir() / "docs" / "examples" / "element" / "index.html"
    text = example.read_text("utf-8").replace("https://tools.example/pi-calculator/", templates.url("pi-calculator"))
    (site / "article.html").write_text(text, "utf-8")
    await page.goto(f"{origins.host}/article.html")
    element = page.locator("mcp-server")
    await element.get_by_role("button", name="Start Pi calculator").click()
    await ready(element)
    await expect(element.locator("iframe")).to_have_css("height", "480px")
    await expect(element).to_have_css("border-color", "rgb(102, 51, 153)")
    await call(tool(element, "calculate_pi"), Iterations="1000")
    await expect(page.locator("output")).to_have_text("1000")
    await expect(element.get_by_role("button", name="Call").first).to_have_css("border-radius", "16px")


async def test_results_are_text_and_calls_are_stopped(page: Page, everything: Bundle, typescript_client: None) -> None:
    element = await start(page, everything.url, show="tools")
    result = await call(tool(element, "echo"), Text=HOSTILE)
    await expect(result).to_contain_text("<img src=x onerror=alert(1)>\\u202e")
    assert await result.locator("img").count() == 0
    await expect((await call(tool(element, "weather"), City="Oslo")).locator("pre")).to_contain_text('"degrees": -3.5')
    await expect((await call(tool(element, "image"))).get_by_role("img")).to_have_js_property("naturalWidth", 1)
    failed = await call(tool(element, "fail"), Message="no such thing")
    await expect(failed).to_contain_text("no such thing")
    await expect(failed).to_have_attribute("part", "result failed")

    waiting = tool(element, "wait")
    await waiting.evaluate("element => { element.open = true; }")
    await waiting.get_by_label("Name").fill("me")
    await waiting.get_by_label("Name").press("Enter")  # the focus stays where it is
    stop = waiting.get_by_role("button", name="Stop")
    await expect(waiting.locator("[part=message]")).to_have_text("waiting")
    await expect(waiting.get_by_role("progressbar")).to_be_visible()
    await stop.focus()
    await stop.press("Enter")
    await expect(waiting.locator("[part~=result]")).to_have_text("Stopped.")
    await expect(waiting.get_by_role("button", name="Call")).to_be_focused()
    await expect(await call(tool(element, "cancelled_waits"))).to_contain_text("me")

    # Tools that the server adds are shown, and those that it had keep what was entered.
    await tool(element, "echo").get_by_label("Text").fill("kept")
    await call(tool(element, "grow"), Name="grown")
    await expect(tool(element, "grown")).to_be_visible()
    await expect(tool(element, "echo").get_by_label("Text")).to_have_value("kept")
    assert await events(page, "mcp-error") == []


async def test_it_ends_with_its_place_and_starts_again_at_another(page: Page, everything: Bundle) -> None:
    element = await add(page, "")
    await page.evaluate("void (window.element = document.querySelector('mcp-server'))")
    assert "no src" in await page.evaluate("element.start().catch(({ message }) => message)")
    await page.evaluate("element.close(); events.length = 0; element.src = 'javascript:alert(1)'")
    assert await page.evaluate("element.start().then(() => 'ready', ({ message }) => message)") != "ready"
    assert await page.evaluate("element.matches(':state(failed)') && element.client === null")
    [failed] = await events(page, "mcp-error")
    await expect(element.locator("iframe")).to_be_hidden()
    await expect(element.get_by_role("status")).to_have_text(failed["error"])

    await page.evaluate("src => { element.src = src; }", everything.url)  # it was started, so it starts again
    await ready(element)
    first = await page.evaluate("element.sessionId")
    await expect(await call(tool(element, "echo"), Text="here")).to_contain_text("here")
    await page.evaluate("document.querySelector('main').append(document.createElement('section'))")
    await page.evaluate("document.querySelector('section').append(element)")
    await expect(element.get_by_role("status")).to_have_text("Starting…")
    await ready(element)
    assert await page.evaluate("element.sessionId") == first
    await page.evaluate("document.querySelector('main').moveBefore(element, null)")  # keeps the page, and the session
    await expect(await call(tool(element, "echo"), Text="moved")).to_contain_text("moved")

    await page.evaluate("element.shadowRoot.querySelector('iframe').src = 'about:blank'")
    await expect(element.get_by_role("status")).to_contain_text("reloaded or navigated away")
    await element.get_by_role("button", name="Start again").click()
    await ready(element)
    assert await page.evaluate("element.sessionId") == first
    calls = """async () => {
        const { tools } = element;
        const failed = await tools.fail({ message: "no such thing" }).catch((error) => [error.name, error.message]);
        return [(await tools.echo({ text: "typed" })).content[0].text, failed, typeof (await tools)];
    }"""
    text, (kind, message), awaited = await page.evaluate(calls)
    assert (text, kind, awaited) == ("typed", "ToolError", "object")
    assert "no such thing" in message

    await page.evaluate("element.remove()")
    assert await page.evaluate("[element.state, element.shadowRoot.querySelector('iframe')]") == ["idle", None]
    assert len(await events(page, "mcp-error")) == 2

    await page.evaluate("element.loading = 'visible'; element.close(); element.style.marginTop = '300vh'")
    await page.evaluate("src => { element.src = src; document.body.append(element); }", f"{everything.url}#other")
    assert await page.evaluate("[element.state, element.sessionId]") == ["idle", None]
    await element.scroll_into_view_if_needed()
    await ready(element)
    assert await page.evaluate("element.sessionId") != first


async def test_a_page_without_an_origin_gets_no_session_id(page: Page, everything: Bundle) -> None:
    element = await start(page, everything.url, opaque="", show="tools")
    await expect(element.locator("iframe")).to_have_attribute("sandbox", "allow-scripts")
    await expect(await call(tool(element, "echo"), Text="here")).to_contain_text("here")
    assert await page.evaluate("document.querySelector('mcp-server').sessionId") is None


@pytest.mark.extended
async def test_a_server_that_hangs_is_started_again(page: Page, bundle_of: BundleOf) -> None:
    element = await start(page, bundle_of("everything", at="bundle").url, show="tools")
    session = await page.evaluate("document.querySelector('mcp-server').sessionId")
    await call(tool(element, "compute"), Seconds="600")
    await expect(element.get_by_role("status")).to_have_text("The server does not answer.")
    await element.get_by_role("button", name="Start again").click()
    await ready(element)
    assert await page.evaluate("document.querySelector('mcp-server').sessionId") == session
    await expect(await call(tool(element, "echo"), Text="again")).to_contain_text("again")


async def test_a_server_is_set_up_where_it_asks_for_it(page: Page, bundle_of: BundleOf, troubles: Troubles) -> None:
    troubles.expect("The setup was cancelled.")
    authored = bundle_of("authored", at="neighbour.host")
    element = await add(page, authored.url, loading="eager", setup="", permissions="clipboard-write", show="tools")
    frame = element.frame_locator("iframe")
    await frame.locator("#name").fill("first")
    await frame.locator("#name").press("Enter")
    await ready(element)
    await expect(element.get_by_role("status")).to_have_text("Saved")
    await expect(element.locator("iframe")).to_be_hidden()
    session = await page.evaluate("document.querySelector('mcp-server').sessionId")

    await call(tool(element, "need_setup"), Reason="AUTH_EXPIRED")
    await expect(element.get_by_role("status")).to_contain_text("Please sign in")
    await element.get_by_role("button", name="Set up").click()
    await frame.locator("#cancel").click()
    await expect(element.get_by_role("button", name="Start again")).to_be_visible()
    await page.evaluate("void document.querySelector('mcp-server').setup()")
    await frame.locator("#name").fill("second")
    await frame.locator("#name").press("Enter")
    await ready(element)
    assert await page.evaluate("document.querySelector('mcp-server').sessionId") == session


FORM = """async (text) => {
    const schema = JSON.parse(text);
    const { makeForm } = await import("./element-form.js");
    window.form = makeForm(schema, "form");
    document.querySelector("main").replaceChildren(form.element);
}"""
SCHEMA = {
    "properties": {
        "name": {"type": "string", "title": "Your name", "description": HOSTILE, "minLength": 2},
        "count": {"anyOf": [{"type": "integer", "exclusiveMinimum": 0}, {"type": "null"}], "default": None},
        "share": {"type": "number", "minimum": 0.5, "default": 0.75},
        "sure": {"type": "boolean"},
        "loud": {"type": "boolean", "default": True},
        "size": {"$ref": "#/$defs/Size"},
        "level": {"oneOf": [{"const": 1, "title": "Low"}, {"const": 2, "title": "High"}], "default": 2},
        "tags": {"type": "array", "items": {"type": "string"}},
        "extra": {"type": "object", "default": {"a": 1}},
        "any": {},
        "day": {"type": "string", "format": "date"},
        "loop": {"$ref": "#/properties/loop"},
        "__proto__": {"type": "string", "pattern": "(a+)+$"},
    },
    "required": ["name", "tags", "size"],
    "$defs": {"Size": {"enum": ["small", "large"], "type": "string"}},
}


async def test_forms_are_made_from_schemas(page: Page) -> None:
    await page.evaluate(FORM, json.dumps(SCHEMA))
    form = page.locator("form")
    await expect(form.get_by_label("share")).to_have_value("0.75")
    await expect(form.get_by_label("loud")).to_be_checked()
    await expect(form.get_by_label("level")).to_have_value("1")  # its place among the choices
    await expect(form.get_by_label("level").locator("option")).to_have_text(["", "Low", "High"])
    await expect(form.locator("[part=hint]").first).to_have_text("<img src=x onerror=alert(1)>\\u202e")
    await expect(form.get_by_text("(optional)")).to_have_count(10)
    assert await page.evaluate("form.read()") is None
    problems = form.locator("[part=problem]:visible")
    await expect(problems).to_have_count(3)  # the required ones
    await expect(form.get_by_label("Your name")).to_be_focused()
    await expect(form.get_by_label("Your name")).to_have_accessible_description(
        "<img src=x onerror=alert(1)>\\u202e " + await problems.first.inner_text()
    )

    await form.get_by_label("Your name").fill("Ada")
    await form.get_by_label("size").select_option("large")
    await form.get_by_label("count").fill("0")
    await form.get_by_label("tags").fill('{"not": "a list"}')
    await form.get_by_label("any").fill("[1,")
    assert await page.evaluate("form.read()") is None
    await expect(problems).to_have_count(3)
    await expect(problems.nth(1)).to_have_text("A JSON array, such as [1, 2].")
    await form.get_by_label("count").fill("3")
    await form.get_by_label("tags").fill('["a"]')
    await form.get_by_label("any").fill("[1]")
    await form.get_by_label("day").fill("2026-11-28")
    await form.get_by_label("__proto__").fill("own")
    await expect(problems).to_have_count(0)
    assert json.loads(await page.evaluate("JSON.stringify(form.read())")) == {
        "name": "Ada",
        "count": 3,
        "share": 0.75,
        "loud": True,
        "size": "large",
        "level": 2,
        "tags": ["a"],
        "extra": {"a": 1},
        "any": [1],
        "day": "2026-11-28",
        "__proto__": "own",
    }
    many = {"properties": {f"p{at}": {} for at in range(201)}, "required": ["p1"]}
    await page.evaluate(FORM, json.dumps(many))
    await page.get_by_label("arguments").fill('{"p1": 2}')
    assert await page.evaluate("form.read()") == {"p1": 2}
    await page.evaluate(FORM, "null")
    assert await page.evaluate("form.read()") == {}
