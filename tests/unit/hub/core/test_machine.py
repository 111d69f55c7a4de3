"""The hub as a state machine: tabs open, close, reload, come back, change tools, answer late and lie, in any order.

After every step: names are unique and never change their meaning; what is offered is what the open tabs have, and what
is cached; nothing went to a wrong tab, and no answer is lost, doubled or another's.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from mcpframe.hub.core.codec import Form
from mcpframe.hub.core.errors import HubError
from mcpframe.hub.core.messages import ToolProgress
from mcpframe.hub.core.names import ToolKey, domain_of
from mcpframe.hub.core.tools import is_cached, is_repeatable
from tests.support.fake_hub import FakePort, HubWorld, answer, text_result, tool
from tests.support.settling import SettlingLoop, settled

URLS = ["https://a.b.com/x", "https://a-b.com/", "http://localhost:3000/", "about:blank"]
NAMES = ["a-b", "a_b", "cart", "tab1_cart"]
ANNOTATIONS: list[dict[str, bool]] = [
    {},
    {"cache": True},
    {"idempotentHint": True},
    {"cache": True, "readOnlyHint": True},
]
TOOLS = st.lists(
    st.builds(
        lambda name, annotations: tool(name, **annotations), st.sampled_from(NAMES), st.sampled_from(ANNOTATIONS)
    ),
    max_size=3,
    unique_by=lambda each: each["name"],
)
INDEX = st.integers(0, 50)


@dataclass(eq=False)
class Execution:
    """A call as one page has got it."""

    port: FakePort
    id: str
    call: MadeCall
    answered: bool = False
    repeatable: bool = False


@dataclass(eq=False)
class MadeCall:
    """A call, as its caller knows it."""

    key: ToolKey
    task: asyncio.Task[Any]
    executions: list[Execution] = field(default_factory=list)
    expected: str | None = None
    cancelled: bool = False


class HubMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.loop: asyncio.AbstractEventLoop | None = None
        self.next_tab = 1
        self.live: dict[int, FakePort] = {}
        self.old: list[FakePort] = []
        self.scanned: dict[FakePort, int] = {}
        self.tools: dict[int, dict[str, Any]] = {}
        """The tools of each tab that has registered, by name."""
        self.cached: dict[str, dict[str, Any]] = {}
        self.ever_cached: set[tuple[str, str]] = set()
        self.meanings: dict[str, ToolKey] = {}
        self.calls: list[MadeCall] = []
        self.done: set[MadeCall] = set()
        self.changes = 0
        self.before: list[Any] = []
        self.replaced = False

    def run_(self, work: Any = None) -> None:
        async def act() -> None:
            if work is not None:
                await work
            await settled()

        self.loop = self.loop or SettlingLoop()
        self.loop.run_until_complete(act())

    @initialize(urls=st.lists(st.sampled_from(URLS), min_size=2, max_size=3), tools=TOOLS)
    def begin(self, urls: list[str], tools: list[Any]) -> None:
        async def begin() -> None:
            self.world = HubWorld()
            self.stop = asyncio.Event()
            self.running = asyncio.ensure_future(self.serve())

        self.run_(begin())
        for url in urls:
            self.open_tab(
                url, [tool("a-b"), tool("cart", cache=True), *(each for each in tools if each["name"] == "a_b")]
            )

    async def serve(self) -> None:
        async with self.world.hub.running():
            await self.stop.wait()

    def teardown(self) -> None:
        if self.loop is None:
            return  # given up before it began
        try:
            self.wind_up()
        finally:
            self.loop.close()

    def wind_up(self) -> None:
        for port in list(self.live.values()):
            self.world.close(port)
        self.world.tabs.urls.clear()
        self.run_(self.world.clock.pass_(2000))
        assert all(call.task.done() for call in self.calls)
        self.check_calls()
        assert self.world.transport.pending == 0
        assert self.world.clock.pending == 0
        assert not self.world.hub.waits
        self.stop.set()
        self.run_()
        assert self.running.done()
        self.running.result()

    # What tabs do

    def connect(self, tab: int, url: str, tools: list[Any], *, registers: bool = True) -> None:
        before = self.live.pop(tab, None)
        if before is not None:
            self.old.append(before)
            self.replaced = True
        self.tools.pop(tab, None)
        form: Form = "extension" if tab % 2 else "json-rpc"
        port = self.live[tab] = FakePort(self.world.transport, tab, url, form)
        if registers:
            self.register(port, tools)
        self.run_()

    def register(self, port: FakePort, tools: list[Any]) -> None:
        port.registers(*tools, {"name": "invalid"}, first=port.tab not in self.tools)
        self.tools[port.tab] = {each["name"]: each for each in tools}
        domain = domain_of(port.url)
        if domain != "unknown":
            kept = {
                name: each for name, each in self.cached.get(domain, {}).items() if name not in self.tools[port.tab]
            }
            self.ever_cached |= {(domain, each["name"]) for each in tools if is_cached(each)}
            self.cached[domain] = kept | {each["name"]: each for each in tools if is_cached(each)}

    @rule(url=st.sampled_from(URLS), tools=TOOLS)
    def open(self, url: str, tools: list[Any]) -> None:
        self.open_tab(url, tools)

    def open_tab(self, url: str, tools: list[Any]) -> None:
        tab, self.next_tab = self.next_tab, self.next_tab + 1
        self.world.tabs.urls[tab] = url
        self.connect(tab, url, tools)

    def a_port(self, index: int) -> FakePort:
        return list(self.live.values())[index % len(self.live)]

    @precondition(lambda self: self.live)
    @rule(index=INDEX, tools=TOOLS)
    def change(self, index: int, tools: list[Any]) -> None:
        self.register(self.a_port(index), tools)
        self.run_()

    @precondition(lambda self: self.live)
    @rule(index=INDEX, closes=st.booleans())
    def end(self, index: int, closes: bool) -> None:
        self.end_port(self.a_port(index), closes)

    def end_port(self, port: FakePort, closes: bool) -> None:
        del self.live[port.tab]
        self.tools.pop(port.tab, None)
        self.old.append(port)
        if closes:
            self.world.tabs.urls.pop(port.tab, None)
        port.ends()
        self.run_()

    @precondition(lambda self: self.world.tabs.urls)
    @rule(index=INDEX, url=st.none() | st.sampled_from(URLS), tools=TOOLS, registers=st.booleans())
    def load(self, index: int, url: str | None, tools: list[Any], registers: bool) -> None:
        """A tab is loaded again, goes elsewhere, or is one that the hub has opened."""
        tabs = list(self.world.tabs.urls)
        tab = tabs[-1 - index % len(tabs)]
        self.world.tabs.urls[tab] = url or self.world.tabs.urls[tab]
        self.connect(tab, self.world.tabs.urls[tab], tools, registers=registers)

    @precondition(lambda self: self.old)
    @rule(index=INDEX, tools=TOOLS, what=st.sampled_from(["ends", "registers", "answers"]))
    def come_too_late(self, index: int, tools: list[Any], what: str) -> None:
        port = self.old[index % len(self.old)]
        if what == "ends":
            port.ends()
        elif what == "registers":
            port.registers(*tools)
        elif port.calls:
            port.answers(text_result("too late"), index % len(port.calls))
        self.run_()

    # What callers do

    @precondition(lambda self: self.meanings)
    @rule(index=INDEX, domain=st.booleans())
    def call(self, index: int, domain: bool) -> None:
        self.make_call(list(self.meanings)[index % len(self.meanings)], domain)

    @precondition(lambda self: self.before)
    @rule(index=INDEX, domain=st.booleans())
    def call_what_is_offered(self, index: int, domain: bool) -> None:
        self.make_call(self.before[index % len(self.before)]["name"], domain)

    def make_call(self, name: str, domain: bool) -> None:
        key = self.meanings[name]
        if domain:  # the name without a tab, which is not in the list
            key = ToolKey(key.domain, key.tool)
            name = self.world.hub._registry._names.name(key)

        async def call() -> None:
            number = len(self.calls)
            self.calls.append(MadeCall(key, self.world.calling(name, n=number)))

        self.run_(call())

    def open_executions(self) -> list[Execution]:
        each = [execution for call in self.calls if not call.task.done() for execution in call.executions[-1:]]
        return [execution for execution in each if self.live.get(execution.port.tab) is execution.port]

    @precondition(lambda self: self.open_executions())
    @rule(index=INDEX, fails=st.booleans())
    def answer(self, index: int, fails: bool) -> None:
        executions = self.open_executions()
        execution = executions[index % len(executions)]
        text = f"answer of tab {execution.port.tab} for {execution.id}"
        self.say(execution.port, answer(execution.id, text if fails else text_result(text)))
        execution.answered = True
        execution.call.expected = text
        assert execution.call.task.done()

    @precondition(lambda self: self.open_executions())
    @rule(index=INDEX, by=INDEX)
    def lie(self, index: int, by: int) -> None:
        """A tab answers another one's call."""
        executions = self.open_executions()
        execution = executions[index % len(executions)]
        port = self.a_port(by)
        if port is not execution.port:
            self.say(port, answer(execution.id, text_result("a lie")))
            self.say(port, ToolProgress(execution.id, 1))

    @precondition(lambda self: any(call.executions for call in self.calls if call.task.done()))
    @rule(index=INDEX)
    def answer_again(self, index: int) -> None:
        executions = [each for call in self.calls if call.task.done() for each in call.executions]
        execution = executions[index % len(executions)]
        if self.live.get(execution.port.tab) is execution.port:
            self.say(execution.port, answer(execution.id, text_result("too late")))

    @precondition(lambda self: self.open_executions())
    @rule(index=INDEX, closes=st.booleans())
    def end_while_it_runs(self, index: int, closes: bool) -> None:
        executions = self.open_executions()
        self.end_port(executions[index % len(executions)].port, closes)

    @precondition(lambda self: any(not call.task.done() for call in self.calls))
    @rule(index=INDEX)
    def cancel(self, index: int) -> None:
        waiting = [call for call in self.calls if not call.task.done()]
        call = waiting[index % len(waiting)]
        call.cancelled = True
        call.task.cancel()
        self.run_()
        assert call.task.done()

    @rule(seconds=st.sampled_from([0, 0, 0.3, 2, 10, 40]), tab=st.none() | st.integers(1, 6), failing=st.integers(0, 5))
    def meanwhile(self, seconds: float, tab: int | None, failing: int) -> None:
        """Time passes, the user looks at a tab, and the network fails."""
        self.world.tabs.looked_at = tab
        self.world.tabs.failing = max(0, failing - 2)
        self.world.hub.activated(tab)
        self.run_(self.world.clock.pass_(seconds))

    def say(self, port: FakePort, message: Any) -> None:
        port.says(message)
        self.run_()

    # What holds after every step

    def scan(self) -> None:
        """Find out which calls have reached which pages."""
        for port in [*self.live.values(), *self.old]:
            calls = port.calls
            for each in calls[self.scanned.get(port, 0) :]:
                call = self.calls[each.arguments["n"]]
                execution = Execution(port, each.id, call)
                self.check_route(execution, each.tool)
                call.executions.append(execution)
            self.scanned[port] = len(calls)

    def check_route(self, execution: Execution, name: str) -> None:
        key, port = execution.call.key, execution.port
        assert (name, domain_of(port.url)) == (key.tool, key.domain)
        assert self.live[port.tab] is port
        execution.repeatable = is_repeatable(self.tools[port.tab][name])
        if key.tab is not None and key.tab != port.tab:
            assert (key.domain, key.tool) in self.ever_cached
        if execution.call.executions:
            last = execution.call.executions[-1]
            assert last.repeatable
            assert not last.answered

    @invariant()
    def holds(self) -> None:
        if not hasattr(self, "world"):
            return
        self.scan()
        definitions = self.world.hub.definitions
        names = [each["name"] for each in definitions]
        assert len(set(names)) == len(names)
        find = self.world.hub._registry.find
        found = {name: find(name) for name in names}
        for name, key in found.items():
            assert key is not None
            assert re.fullmatch(r"[a-zA-Z0-9_]{1,128}", name)
            assert self.meanings.setdefault(name, key) == key
        self.check_offered({key for key in found.values() if key is not None})
        if not self.replaced:  # else the tools went, and came again
            assert (self.world.changes > self.changes) is (definitions != self.before)
        self.replaced = False
        self.changes, self.before = self.world.changes, definitions
        self.check_calls()

    def check_offered(self, offered: set[ToolKey]) -> None:
        expected = {
            ToolKey(domain_of(self.live[tab].url), name, tab) for tab, tools in self.tools.items() for name in tools
        }
        present = {(key.domain, key.tool) for key in expected}
        expected |= {
            ToolKey(domain, name)
            for domain, tools in self.cached.items()
            for name in tools
            if (domain, name) not in present
        }
        assert offered == expected

    def check_calls(self) -> None:
        for call in self.calls:
            if not call.task.done() or call in self.done:
                continue
            self.done.add(call)
            if call.cancelled:  # by then it may have ended by itself
                continue
            error = call.task.exception()
            if error is None:
                assert call.task.result()["content"][0]["text"] == call.expected
            else:
                assert isinstance(error, HubError)
                assert call.expected is None


HubMachine.TestCase.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
TestHub = HubMachine.TestCase
