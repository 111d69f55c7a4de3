"""The inspector's layout, measured: nothing is cut or overflows, on a phone's width as on a desk's."""

from __future__ import annotations

from typing import Any

from playwright.async_api import Page, expect

from tests.browser.inspecting import BOOT, InspectorPage, ServerPart

SIZES = ((390, 844), (768, 1024), (1280, 800))
TABS = ("Tools", "Resources", "Prompts", "Logs", "Wire", "Timeline", "About")
TABLE = "\n".join(["region | " + "sum of all that was sold " * 5, "-------+-----", "north | 3"])

# What is wider than its own box or than the window, of what can be seen.
OVERFLOWS = """() => {
  const width = document.documentElement.clientWidth;
  const name = (element) => `${element.tagName}.${element.className}`;
  const seen = [...document.querySelectorAll("#insp *")].filter(
    (element) => element.checkVisibility() && !element.closest(".insp-hidden, .wire-table thead"));
  const cut = seen.filter((element) => {
    const box = element.getBoundingClientRect();
    return box.width && box.height && (box.right > width + 1 || box.left < -1);
  });
  const scrolled = [document.documentElement, ...seen.filter((element) => element.matches(
    "#insp-side, .insp-tabs, .insp-panel, .wire-area, .insp-dialog-body"))]
    .filter((element) => element.scrollWidth > element.clientWidth);
  return [...cut, ...scrolled].map(name);
}"""


async def fits(page: Page) -> None:
    """Check that nothing overflows, at any size."""
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        overflowing: list[Any] = await page.evaluate(OVERFLOWS)
        assert overflowing == [], width


async def test_an_empty_inspector_fits_its_window_and_on_a_phone_leaves_room(inspector: InspectorPage) -> None:
    page = inspector.page
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        root = page.locator("html")
        assert await root.evaluate("root => root.scrollHeight <= root.clientHeight"), width
    await fits(page)
    await page.set_viewport_size({"width": 390, "height": 844})
    side, address = page.locator("#insp-side"), page.get_by_label("Server address")
    assert await side.evaluate("side => side.offsetHeight") < 400
    for width in (390, 1280):
        await page.set_viewport_size({"width": width, "height": 844})
        await address.evaluate("input => { input.value = input.placeholder; }")
        assert await address.evaluate("input => input.scrollWidth <= input.clientWidth"), width
    await address.fill("")


async def test_an_example_that_is_added_is_listed_once(inspector: InspectorPage) -> None:
    example = inspector.page.get_by_role("region", name="Examples").get_by_role("button", name="Pi calculator")
    await example.click()
    await expect(example).to_have_count(0)
    entry = inspector.servers.get_by_role("button", name="Pi calculator")
    await expect(entry).to_be_focused()
    server = await inspector.server("Pi calculator")
    await server.tab("Wire")
    await inspector.page.set_viewport_size({"width": 390, "height": 844})
    tops = [await server.button(name).evaluate("button => button.offsetTop") for name in ("Pause", "Clear", "Export")]
    assert len(set(tops)) == 1
    await inspector.page.get_by_role("button", name="Remove").first.click()
    await expect(example).to_be_visible()


async def leaves_room_on_a_phone(inspector: InspectorPage, server: ServerPart) -> None:
    """Check that a server has most of a phone, that another one can be added, and that notices cover nothing."""
    page = inspector.page
    await page.set_viewport_size({"width": 390, "height": 844})
    tabs, address = server.view.get_by_role("tablist"), page.get_by_label("Server address")
    below = "element => element.getBoundingClientRect().bottom"
    assert await tabs.evaluate("tabs => new Set([...tabs.children].map((tab) => tab.offsetTop)).size") <= 2
    assert await tabs.evaluate(below) < 260
    await expect(address).to_be_hidden()
    adding = inspector.button("Add a server")
    await adding.click()
    await expect(address).to_be_focused()
    await expect(inspector.button("Clear all")).to_be_visible()
    await adding.click()
    await expect(address).to_be_hidden()
    await page.evaluate(
        """() => { const toast = document.createElement("div"); toast.className = "insp-toast";
            toast.textContent = "A notice"; document.getElementById("insp-toasts").append(toast); }"""
    )
    covered = await page.evaluate(
        """() => { const toast = document.querySelector(".insp-toast").getBoundingClientRect();
            return [...document.querySelectorAll("#insp :is(input, select, textarea, button)")].filter((control) => {
                const box = control.getBoundingClientRect();
                return box.height && box.bottom > toast.top && box.top < toast.bottom;
            }).length; }"""
    )
    await page.evaluate("() => document.querySelector('.insp-toast').remove()")
    assert covered == 0


async def test_every_panel_fits_and_says_what_is_there(inspector: InspectorPage) -> None:
    page = inspector.page
    await inspector.add(inspector.site.servers["everything"])
    view = page.locator(".insp-server")
    await expect(view.get_by_role("tabpanel", name="Tools")).to_contain_text("Not known before")
    server = await inspector.server("Everything")
    await server.call("echo", text=TABLE)
    await server.answers("north | 3")
    for tab in TABS:
        await server.tab(tab)
        await fits(page)
    await leaves_room_on_a_phone(inspector, server)
    await server.tab("Wire")
    await page.set_viewport_size({"width": 390, "height": 844})
    await server.view.get_by_role("button", name="tools/call").last.click()
    await fits(page)
    await server.tab("Tools")
    table = server.result.locator("pre")  # its lines stay whole, and it scrolls by itself
    assert await table.evaluate("pre => pre.scrollWidth > pre.clientWidth")
    await server.choose("Tools", "image")
    await expect(server.view.get_by_text("Nothing to fill in.")).to_be_visible()
    await expect(server.view.get_by_role("button", name="Add property")).to_have_count(0)


async def test_a_setup_fits_and_has_one_cancel_the_pages_own(inspector: InspectorPage) -> None:
    await inspector.button("JSON analyzer").click()
    await inspector.dialog_frame.locator("#file").wait_for(timeout=BOOT)
    await fits(inspector.page)
    await expect(inspector.dialog.get_by_text("Cancel")).to_have_count(0)
    await inspector.button("Cancel setup").click()
    await expect(inspector.page.get_by_text("The setup was cancelled.")).to_be_visible()
