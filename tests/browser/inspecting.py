"""The inspector, used as a person uses it: what can be seen is found by its role and its name."""

from __future__ import annotations

from typing import Self

from playwright.async_api import BrowserContext, FrameLocator, Locator, Page, expect

from mcpframe.kit.dev.inspector import Inspecting
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.outers import PATIENCE

BOOT = BOOT_PATIENCE * 1000
"""How long a page may take to boot, in milliseconds, on a busy machine."""


expect.set_options(timeout=PATIENCE * 1000)  # as a context's own, whose pages these are


class InspectorPage:
    """The inspector in a page.

    Attributes:
        page: Playwright's page.
        site: what is served.
    """

    def __init__(self, page: Page, site: Inspecting) -> None:
        """Use a page that has the inspector in it; see `open`."""
        self.page = page
        self.site = site

    @classmethod
    async def open(cls, context: BrowserContext, site: Inspecting, address: str = "") -> Self:
        """Open the inspector in a new page, at its address or another one, and wait until it can be used."""
        inspector = cls(await context.new_page(), site)
        await inspector.page.goto(address or site.url)
        await inspector.ready()
        return inspector

    async def ready(self) -> None:
        """Wait until it has booted and shows its examples."""
        await self.page.locator("#insp-example-list li").first.wait_for(state="attached", timeout=BOOT)

    def button(self, name: str) -> Locator:
        """Return a button by its name."""
        return self.page.get_by_role("button", name=name, exact=True)

    @property
    def servers(self) -> Locator:
        """The entries of the list of servers."""
        return self.page.get_by_role("region", name="Servers").get_by_role("listitem")

    @property
    def dialog(self) -> Locator:
        """The dialog that is open."""
        return self.page.get_by_role("dialog")

    @property
    def dialog_frame(self) -> FrameLocator:
        """The page in the dialog that is open."""
        return self.dialog.frame_locator("iframe")

    async def add(self, url: str) -> None:
        """Add a server by its address."""
        await self.page.get_by_label("Server address").fill(url)
        await self.button("Add").click()

    async def wait_for_at_most(self, seconds: int) -> None:
        """Have the servers that are added from now on answer within so many seconds."""
        field = self.page.get_by_label("Seconds to wait")
        if not await field.is_visible():
            await self.page.get_by_text("Options", exact=True).click()
        await field.fill(str(seconds))

    async def server(self, name: str) -> ServerPart:
        """Wait for the view of a server that is connected."""
        part = ServerPart(self.page.get_by_role("region", name=name, exact=True))
        await expect(part.state).to_contain_text("Connected", timeout=BOOT)
        return part


class ServerPart:
    """The view of one server.

    Attributes:
        view: where it is in the page.
    """

    def __init__(self, view: Locator) -> None:
        """Use a view."""
        self.view = view

    @property
    def state(self) -> Locator:
        """What its state is said to be."""
        return self.view.locator(".insp-state")

    @property
    def frame(self) -> FrameLocator:
        """The server's own page."""
        return self.view.frame_locator("iframe")

    @property
    def result(self) -> Locator:
        """The result of the last request."""
        return self.view.get_by_role("region", name="Result")

    def button(self, name: str) -> Locator:
        """Return a button by its name."""
        return self.view.get_by_role("button", name=name, exact=True)

    def box(self, name: str) -> Locator:
        """Return a text field by its name."""
        return self.view.get_by_role("textbox", name=name, exact=True).or_(
            self.view.get_by_role("combobox", name=name, exact=True)
        )

    async def tab(self, name: str) -> Locator:
        """Go to a tab, and give its panel."""
        await self.view.get_by_role("tab", name=name).click()
        return self.view.get_by_role("tabpanel", name=name)

    async def choose(self, kind: str, name: str) -> None:
        """Choose one of the things that are listed, such as a tool."""
        await self.tab(kind)
        await self.view.get_by_role("navigation", name=kind).get_by_role("button", name=name).first.click()

    async def call(self, tool: str, **arguments: str) -> None:
        """Choose a tool, fill in its form, and press its button."""
        await self.tab("Tools")
        listed = self.view.get_by_role("navigation", name="Tools")
        await listed.get_by_role("button", name=tool, exact=True).click()
        for name, value in arguments.items():
            await self.box(name).fill(value)
        await self.button("Call").click()

    async def answers(self, text: str) -> None:
        """Wait for a result with this text."""
        await expect(self.result).to_contain_text(text, timeout=PATIENCE * 1000)

    async def session_id(self) -> str:
        """Read the session's id off the panel about the server."""
        about = await self.tab("About")
        term = about.get_by_text("Session", exact=True)
        return str(await term.evaluate("term => term.nextElementSibling.textContent"))
