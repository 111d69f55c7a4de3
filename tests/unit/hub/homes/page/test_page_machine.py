"""Tabs of a hub that open, close, reload, hang and are frozen in any order: one leads, and each port is in its hub.

The hub itself is left out: what is drawn is who leads, and which ports it has.
"""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from mcpframe.hub.core.limits import NUMBER_SECONDS, PING_SECONDS, PING_STRIKES
from mcpframe.hub.homes.page.dialing import Dialled
from mcpframe.hub.homes.page.election import Election
from mcpframe.hub.homes.page.switchboard import PagePort, Switchboard
from mcpframe.hub.homes.page.wire import ChannelNames
from tests.support.fake_tabs import FakeBrowser, FakeTab

NAMES = ChannelNames("drawn")


class DrawnTab:
    """A tab with a part in the election, and a port of tools that it dials."""

    def __init__(self, browser: FakeBrowser, *, leads: bool, session: dict[str, str]) -> None:
        self.place = FakeTab(browser, session=session)
        self.leads = leads
        self.frozen = False
        self.board: Switchboard | None = None
        self.ports: list[PagePort] = []
        self.heard: list[str] = []
        self.answers: list[str] = []
        self.opened = self.lost = 0
        self.election = Election(self.place, NAMES, self._lead, self._resign)
        self.port = Dialled(self.place, NAMES, "tools")
        self.port.on_open = self._opened
        self.port.on_lost = self._lost
        self.port.on_message = self.heard.append
        if leads:
            self.port.on_unresponsive = self.election.usurp
        self.place.watch(lambda: None, self._away, self._back)
        self._back()

    def _lead(self, hub: str) -> None:
        assert self.board is None
        self.board = Switchboard(self.place, NAMES, self._accept)
        self.board.open(hub)

    def _resign(self) -> None:
        if self.board is not None:
            self.board.close()
            assert not self.ports
        self.board = None

    def _accept(self, port: PagePort) -> None:
        def heard(text: str) -> None:
            self.answers.append(text)
            port.post(f"{text} is heard")

        self.ports.append(port)
        port.on_message = heard
        port.on_close = lambda: self.ports.remove(port)

    def _opened(self) -> None:
        self.opened += 1
        assert self.opened == self.lost + 1

    def _lost(self) -> None:
        self.lost += 1
        assert self.opened == self.lost

    def _away(self) -> None:
        self._resign()
        self.election.stop()
        self.port.pause()

    def _back(self) -> None:
        if self.leads:
            self.election.start()
        self.port.start()


INDEX = st.integers(0, 20)


class PageMachine(RuleBasedStateMachine):
    """The tabs, and what happens to them."""

    def __init__(self) -> None:
        super().__init__()
        self.browser = FakeBrowser()
        self.tabs: list[DrawnTab] = []
        self.numbers: dict[int, dict[str, str]] = {}
        """What each tab that was given a number remembers: a reload has the same object."""
        self.texts = 0

    @rule(leads=st.booleans())
    def opens(self, leads: bool) -> None:
        self.tabs.append(DrawnTab(self.browser, leads=leads, session={}))

    @precondition(lambda self: self.tabs)
    @rule(index=INDEX)
    def is_copied(self, index: int) -> None:
        tab = self.tabs[index % len(self.tabs)]
        self.tabs.append(DrawnTab(self.browser, leads=True, session=dict(tab.place.session)))
        # Until then it cannot be told from the same tab, loaded again.
        self.browser.pass_time(NUMBER_SECONDS + 0.1)

    @precondition(lambda self: self.tabs)
    @rule(index=INDEX)
    def ends(self, index: int) -> None:
        self.tabs.pop(index % len(self.tabs)).place.end()

    @precondition(lambda self: self.tabs)
    @rule(index=INDEX, early=st.booleans())
    def is_loaded_again(self, index: int, early: bool) -> None:
        old = self.tabs.pop(index % len(self.tabs))
        if not early:
            old.place.end()
        self.tabs.append(DrawnTab(self.browser, leads=old.leads, session=old.place.session))
        if early:
            self.browser.settle()
            old.place.end()

    @precondition(lambda self: self.tabs)
    @rule(index=INDEX)
    def hangs(self, index: int) -> None:
        self.tabs[index % len(self.tabs)].place.hung = True

    @precondition(lambda self: self.tabs)
    @rule(index=INDEX)
    def is_frozen(self, index: int) -> None:
        tab = self.tabs[index % len(self.tabs)]
        if not tab.place.hung:
            tab.frozen = True
            tab.place.freeze()

    @precondition(lambda self: self.tabs)
    @rule(index=INDEX)
    def responds(self, index: int) -> None:
        tab = self.tabs[index % len(self.tabs)]
        if tab.place.hung:
            (tab.place.thaw if tab.frozen else tab.place.respond)()
            tab.frozen = False

    @rule(seconds=st.sampled_from([0.5, NUMBER_SECONDS, PING_SECONDS, PING_SECONDS * (PING_STRIKES + 2)]))
    def time_passes(self, seconds: float) -> None:
        self.browser.pass_time(seconds)

    @precondition(lambda self: self.tabs)
    @rule(index=INDEX)
    def speaks(self, index: int) -> None:
        tab = self.tabs[index % len(self.tabs)]
        if tab.place.hung or not tab.port.post(text := f"text {self.texts}"):
            return
        self.texts += 1
        self.browser.settle()
        hubs = [each for each in self.tabs if each.election.hub == tab.port.hub and not each.place.hung]
        assert [each for each in self.tabs if text in each.answers] == hubs
        assert [each for each in self.tabs if f"{text} is heard" in each.heard] == ([tab] if hubs else [])
        assert tab.heard.count(f"{text} is heard") == len(hubs)

    @invariant()
    def one_leads_and_has_the_ports(self) -> None:
        self.browser.settle()
        running = [tab for tab in self.tabs if not tab.place.hung]
        leading = [tab for tab in running if tab.board is not None]
        assert len(leading) <= 1
        assert all((tab.board is not None) == (tab.election.hub is not None) for tab in running)
        hubs = {tab.election.hub: tab for tab in self.tabs if tab.election.hub is not None}
        assert all(tab.port.hub in hubs for tab in running if tab.port.hub is not None)
        for tab in leading:
            numbers = [port.tab for port in tab.ports]
            assert len(set(numbers)) == len(numbers)
        there = [id(tab.place.session) for tab in self.tabs]
        for tab in running:
            if tab.port.hub is not None:
                owner, own = self.numbers.get(self.number(tab)), tab.place.session
                assert owner is own or owner is None or id(owner) not in there, "two tabs have one number"
                self.numbers[self.number(tab)] = own

    def number(self, tab: DrawnTab) -> int:
        return int(tab.place.session[NAMES.key("number:tools")])

    def teardown(self) -> None:
        """In the end, all who run are in one hub, if anybody can lead."""
        for tab in self.tabs:
            if tab.frozen:
                tab.place.thaw()
                tab.frozen = False
        self.browser.pass_time(PING_SECONDS * (PING_STRIKES + 2) * 2)
        self.one_leads_and_has_the_ports()
        running = [tab for tab in self.tabs if not tab.place.hung]
        if any(tab.leads for tab in running):
            [leader] = [tab for tab in running if tab.board is not None]
            assert {tab.port.hub for tab in running} == {leader.election.hub}
            assert {port.tab for port in leader.ports} >= {self.number(tab) for tab in running}
        for tab in self.tabs:
            tab.place.end()
        self.browser.settle()
        assert not self.browser.channels
        assert not self.browser.holding


PageMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestApp = PageMachine.TestCase
