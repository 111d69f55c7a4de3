"""The templates dashboard and copilot, end to end: on two origins, asked by clicking and typing as a person does."""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import anyio
import pytest
from playwright.async_api import BrowserContext, FrameLocator, Locator, Page, expect

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.web.host_page import bundle_module, copy_host_modules
from mcpframe.kit.web.serve import serve_folder
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import PAGES, Troubles
from tests.browser.outers import PATIENCE
from tests.browser.pairs import Chat, build_copilot, build_dashboard
from tests.contract.playing import POLL
from tests.support.built import opened_often

BOOT = BOOT_PATIENCE * 1000
expect.set_options(timeout=PATIENCE * 1000)  # Playwright's own 5 s are little where the machine is busy
PAST_PATIENCE = 50_000
"""In milliseconds: longer than the copilot waits for an answer."""

STRANGER = """<!doctype html><title>Somebody else</title><script>
parent.postMessage({ type: "MCP_TRANSPORT_HANDSHAKE", protocolVersion: "1.0" }, "*");
</script>"""
MOVED = """<!doctype html><title>Moved</title><script>
location.replace(location.href.replace("copilot.localhost", "stranger.localhost").replace("moved/", "stranger.html"));
</script>"""


@dataclass(frozen=True)
class Site:
    """The built pair, each on an origin of its own; and the host pages that the copilot talks to, too.

    Attributes:
        port: of all these origins.
        deploy: serves one more dashboard, for another copilot, and gives its address.
    """

    port: int
    deploy: Callable[[str, str], str]

    def origin(self, name: str) -> str:
        """Return one of the origins."""
        return f"http://{name}.localhost:{self.port}"

    @property
    def dashboard(self) -> str:
        """The dashboard's address."""
        return f"{self.origin('dashboard')}/dashboard/"

    @property
    def copilot(self) -> str:
        """The copilot's address."""
        return f"{self.origin('copilot')}/copilot/"


@pytest.fixture(scope="module")
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The pair, as the dashboard's README says."""
    folder = tmp_path_factory.mktemp("pair")
    with ExitStack() as stack:
        port = stack.enter_context(serve_folder(folder)).port

        def deploy(copilot: str, frame_src: str) -> str:
            other = tmp_path_factory.mktemp("other")
            work = tmp_path_factory.mktemp("project")
            build_dashboard(other, work, copilot=copilot, frame_src=frame_src, snapshot=False)
            served = stack.enter_context(serve_folder(other))
            return f"http://dashboard.localhost:{served.port}/dashboard/"

        site = Site(port, deploy)
        work = tmp_path_factory.mktemp("project")
        snapshot = opened_often(request.config)
        build_dashboard(folder, work, copilot=site.copilot, frame_src=site.origin("copilot"), snapshot=snapshot)
        build_copilot(folder, [site.origin("dashboard"), site.origin("host")], snapshot=snapshot)
        (folder / "stranger.html").write_text(STRANGER)
        (folder / "moved").mkdir()
        (folder / "moved" / "index.html").write_text(MOVED)
        shutil.copy(PAGES / "serving.html", folder)
        copy_host_modules(folder)
        page = PAGES / "serving_page.js"
        bundle_module(str(page), folder / page.name, install_locked(checkout_dir()), external=["./host.js"])
        yield site


@pytest.fixture
async def page(context: BrowserContext, troubles: Troubles) -> Page:
    return await context.new_page()


class Dashboard:
    """The dashboard as a person uses it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.copilot = page.get_by_role("complementary", name="Copilot")
        self.status = self.copilot.get_by_role("status")
        self.frame: FrameLocator = page.frame_locator("iframe")
        self.chat = Chat(self.frame)

    async def open(self, url: str) -> None:
        await self.page.goto(url)
        await expect(self.copilot).to_be_visible(timeout=BOOT)

    async def connected(self) -> None:
        await expect(self.chat.status).to_have_text("Connected to Dashboard.", timeout=BOOT)
        await expect(self.status).to_contain_text("can read this dashboard")

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    async def session(self) -> str:
        """What tells one session's frame from another's."""
        name = await self.page.locator("iframe").get_attribute("name")
        assert name
        return name


@pytest.fixture
async def dashboard(page: Page, pair: Site) -> Dashboard:
    """The dashboard, open, and its copilot connected."""
    dashboard = Dashboard(page)
    await dashboard.open(pair.dashboard)
    await dashboard.connected()
    return dashboard


async def test_a_person_asks_and_the_copilot_answers_from_the_dashboard(dashboard: Dashboard, pair: Site) -> None:
    page, chat = dashboard.page, dashboard.chat
    await expect(dashboard.status).to_contain_text(pair.origin("copilot"))
    assert await page.locator("iframe").get_attribute("sandbox") == (
        "allow-scripts allow-same-origin allow-forms allow-downloads"
    )
    assert not await page.locator("iframe").get_attribute("allow")
    await expect(chat.last).to_contain_text("I answer from what the page around me offers")

    await chat.button("Who am I?").click()
    shown = await page.get_by_role("group", name="Signed in").locator("strong").inner_text()
    await expect(chat.last).to_contain_text(f"You are {shown}")
    await expect(chat.last.locator("code")).to_have_text("get_current_user()")

    await chat.ask("Which projects are overdue?")
    await expect(chat.last.locator("code")).to_have_text('get_user_projects({"overdue_only": true})')
    late = page.get_by_role("list", name="Projects").get_by_role("listitem").filter(has_text="overdue")
    await expect(chat.last.get_by_role("listitem")).to_have_count(await late.count())
    for name in await late.locator("strong").all_inner_texts():
        await expect(chat.last).to_contain_text(f"{name}: overdue")

    await chat.button("How is the system?").click()
    await expect(chat.last).to_contain_text("The system is degraded: Payments and Mail.")
    await expect(chat.last.get_by_role("listitem")).to_have_count(2)

    await chat.ask("team stats")
    open_tasks = await page.locator("#team-open").inner_text()
    await expect(chat.last).to_contain_text(f"Platform: {open_tasks} open tasks")

    await chat.ask("the projects of u-3")  # which the tool refuses
    await expect(chat.last).to_have_class(re.compile("problem"))
    await expect(chat.last).to_contain_text("u-3")
    await expect(chat.last.locator("code")).to_have_text('get_user_projects({"user_id": "u-3"})')

    await chat.button("Help").click()
    await expect(chat.last).to_contain_text("Ask me who you are")
    attack = "<img src=x> <b>What is the weather?</b>"
    await chat.ask(attack)
    await expect(chat.log.locator("div.you").last).to_contain_text(attack)
    await expect(chat.log.locator("img, b")).to_have_count(0)
    await expect(chat.last).to_contain_text("I have no rule for that.")

    await dashboard.copilot.locator("summary").click()
    calls = page.get_by_role("list", name="The copilot's calls").get_by_role("listitem")
    assert await calls.all_inner_texts() == [
        'get_user_projects({"user_id": "u-3"})',
        "get_team_stats()",
        "get_system_health()",
        'get_user_projects({"overdue_only": true})',
        "get_current_user()",
    ]


@pytest.mark.extended
async def test_what_the_person_does_is_in_the_next_answer_and_is_kept(dashboard: Dashboard, pair: Site) -> None:
    page, chat = dashboard.page, dashboard.chat
    await chat.ask("what's overdue")
    await expect(chat.last).to_contain_text("Billing migration: overdue")

    await dashboard.button("Mark done: Billing migration").focus()
    await page.keyboard.press("Enter")
    await expect(chat.last).to_have_text("Dashboard: Changed: Projects")
    await expect(dashboard.button("Reopen: Billing migration")).to_be_focused()  # where the list is a new one
    await chat.ask("what's overdue")
    await expect(chat.last).to_contain_text("1 project, 1 overdue:")
    await expect(chat.last).not_to_contain_text("Billing")

    await dashboard.button("Acknowledge Payments: One call in ten is slow").click()
    await expect(chat.last).to_have_text("Dashboard: Changed: System health")
    await chat.ask("any alerts?")
    await expect(chat.last).to_contain_text("Payments: One call in ten is slow; Ada Moreno is on it")
    await expect(chat.last).to_contain_text("Mail: The queue is growing; nobody looks after it yet")

    await dashboard.button("Reopen: Audit log").click()
    await chat.ask("my projects")
    await expect(chat.last).to_contain_text("Audit log: overdue, 80 %")

    # An address in the link does not change the copilot.
    await page.goto(f"{pair.dashboard}?copilot={pair.origin('stranger')}/stranger.html")
    await dashboard.connected()
    assert await page.locator("iframe").get_attribute("src") == pair.copilot
    await expect(dashboard.button("Reopen: Billing migration")).to_be_visible()
    await chat.ask("any alerts?")
    await expect(chat.last).to_contain_text("Ada Moreno is on it")


@pytest.mark.extended
async def test_a_copilot_that_reloads_gets_a_fresh_session(dashboard: Dashboard) -> None:
    before = await dashboard.session()
    await dashboard.chat.ask("who am I?")
    await expect(dashboard.chat.last).to_contain_text("You are")
    await dashboard.chat.log.evaluate("() => location.reload()")
    await expect(dashboard.page.locator(f"iframe[name='{before}']")).to_have_count(0, timeout=BOOT)
    await dashboard.connected()
    assert await dashboard.session() != before
    await expect(dashboard.page.locator("iframe")).to_have_count(1)
    await dashboard.chat.ask("who am I?")
    await expect(dashboard.chat.last).to_contain_text("You are Ada Moreno")


@pytest.mark.extended
async def test_one_that_only_ever_reloads_is_stopped_until_the_person_starts_it(dashboard: Dashboard) -> None:
    for _ in range(2):
        before = await dashboard.session()
        await dashboard.chat.log.evaluate("() => location.reload()")
        await expect(dashboard.page.locator(f"iframe[name='{before}']")).to_have_count(0, timeout=BOOT)
        await dashboard.connected()
    await dashboard.chat.log.evaluate("() => location.reload()")
    await expect(dashboard.status).to_have_text("The copilot ended its session, again and again.", timeout=BOOT)
    await expect(dashboard.page.locator("iframe")).to_have_count(0)
    await dashboard.button("Start it again").click()
    await dashboard.connected()
    await expect(dashboard.button("Start it again")).to_be_hidden()


@pytest.mark.extended
async def test_a_copilot_that_leads_elsewhere_is_refused(page: Page, pair: Site) -> None:
    moved = f"{pair.origin('copilot')}/moved/"
    dashboard = Dashboard(page)
    await dashboard.open(pair.deploy(moved, "http:"))  # all too wide: the messages' gate is left
    await expect(dashboard.status).to_contain_text(f"{moved} leads to another origin", timeout=BOOT)
    await expect(dashboard.status).to_contain_text(pair.origin("stranger"))
    await expect(page.locator("iframe")).to_have_count(0)
    await expect(dashboard.button("Start it again")).to_be_visible()


@pytest.mark.extended
async def test_opened_by_itself_the_copilot_explains_itself(page: Page, pair: Site) -> None:
    await page.goto(pair.copilot)
    await expect(page.get_by_text("This page is an assistant for the page that frames it")).to_be_visible(timeout=BOOT)
    await expect(page.get_by_role("log")).to_be_hidden()
    await expect(page.get_by_role("button")).to_have_count(0)


@pytest.mark.extended  # it waits for 20 seconds
async def test_a_page_that_has_hung_up_is_said_to_be_gone(page: Page, pair: Site) -> None:
    await page.goto(f"{pair.origin('host')}/serving.html")
    await page.wait_for_function("() => window.lab", polling=POLL)
    chat = Chat(page.frame_locator("iframe"))
    with anyio.fail_after(BOOT_PATIENCE):
        await page.evaluate("url => lab.serve(url)", pair.copilot)
    await expect(chat.status).to_have_text("Connected to Studio.", timeout=BOOT)
    await page.evaluate("lab.hangUp()")
    await chat.ask("who am I?")
    await expect(chat.last).to_contain_text("did not answer within 20 seconds", timeout=PAST_PATIENCE)
    await expect(chat.status).to_contain_text("did not answer within 20 seconds")
    await expect(chat.button("Ask")).to_be_disabled()
    await expect(chat.button("Connect again")).to_be_visible()
