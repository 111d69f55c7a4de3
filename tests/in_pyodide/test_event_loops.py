"""Tools that create event loops, as synchronous code does to call async code: a page has one loop."""

from __future__ import annotations

import pytest

SERVE = """
import asyncio, json, logging, time
from mcpframe.frame.compat.batching import batch_callbacks
from mcpframe.frame.compat import sdk
batch_callbacks(asyncio.get_running_loop())
sdk.prepare()
from mcp.server.mcpserver import MCPServer
from tests.support.memory import connected, text

server = MCPServer("s")
shared = asyncio.Lock()

async def work(name):
    async with shared:
        await asyncio.sleep(0.001)
    both = await asyncio.gather(asyncio.sleep(0, "a"), asyncio.wait_for(asyncio.sleep(0.001, "b"), 5))
    return f"{name} {''.join(both)}"

@server.tool()
def new_loop() -> str:
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(work("new"))
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
        asyncio.set_event_loop(None)

@server.tool()
async def new_loop_in_async() -> str:
    loop = asyncio.new_event_loop()
    task = loop.create_task(work("async"))
    return loop.run_until_complete(asyncio.wait_for(task, 5))

@server.tool()
def run() -> str:
    return asyncio.run(work("run"))

@server.tool()
def run_in_debug() -> str:
    return asyncio.run(work("debug"), debug=True, loop_factory=asyncio.new_event_loop)

@server.tool()
def runner() -> str:
    with asyncio.Runner() as runner:
        runner.run(work("first"))
        return runner.run(work("runner"))

@server.tool()
def current() -> str:
    return asyncio.get_event_loop().run_until_complete(work("current"))

@server.tool()
async def nested() -> str:
    import nest_asyncio
    nest_asyncio.apply()
    nest_asyncio.apply(asyncio.get_running_loop())
    return asyncio.run(work("nested"))

@server.tool()
def failing() -> str:
    async def fail():
        await asyncio.sleep(0)
        raise LookupError("the key is gone")
    return asyncio.new_event_loop().run_until_complete(fail())

@server.tool()
def closed() -> str:
    loop = asyncio.new_event_loop()
    was = [loop.is_running(), loop.is_closed()]
    loop.call_soon(loop.stop)
    loop.run_forever()
    loop.close()
    try:
        loop.run_until_complete(work("closed"))
    except RuntimeError as error:
        return json.dumps([was, loop.is_closed(), str(error), asyncio.get_running_loop().is_closed()])

records = []
handler = logging.Handler()
handler.emit = lambda record: records.append(record.getMessage())
logging.getLogger("mcpframe").addHandler(handler)
"""


@pytest.mark.parametrize("era", ["2025", "2026"])
def test_a_tool_that_creates_an_event_loop_is_answered_each_time(selenium, era):
    code = f"""
tools = ["new_loop", "new_loop_in_async", "run", "run_in_debug", "runner", "current", "nested", "failing", "closed"]
async with connected(server, {era!r}) as client:
    answers = {{}}
    for _ in range(5):
        async with asyncio.timeout(30):
            called = await asyncio.gather(*(client.call_tool(name) for name in tools))
        for name, result in zip(tools, called):
            answers.setdefault(name, []).append(text(result))
left = len(asyncio.all_tasks())
json.dumps([answers, [each for each in records if "nest_asyncio" in each], left])
"""
    answers, said, left = selenium.python(SERVE + code)
    assert answers.pop("failing") == ["Error executing tool failing: the key is gone"] * 5
    assert answers.pop("closed") == ['[[false, false], true, "Event loop is closed", false]'] * 5
    names = {"new_loop": "new", "new_loop_in_async": "async", "run_in_debug": "debug"}
    assert answers == {tool: [f"{names.get(tool, tool)} ab"] * 5 for tool in answers}
    assert len(answers) == 7
    assert len(said) <= 1
    assert left == 1


def test_without_stack_switching_a_coroutine_runs_until_it_has_to_wait(selenium):
    code = """
from mcpframe.frame.browser import stack
was = stack.is_there, stack.can_wait
stack.is_there = stack.can_wait = lambda: False

async def quick():
    await asyncio.sleep(0)
    return "quick"

async def cleaning():
    try:
        await asyncio.sleep(1)
    finally:
        said.append("cleaned up")

async def stubborn():
    while True:
        try:
            await asyncio.sleep(1)
        except RuntimeError:
            said.append("caught")

said = []
def attempt(act):
    try:
        said.append(act())
    except RuntimeError as error:
        said.append(str(error))
try:
    attempt(lambda: asyncio.run(quick()))
    with asyncio.Runner() as runner:
        attempt(lambda: runner.run(quick()))
    attempt(lambda: asyncio.new_event_loop().run_until_complete(cleaning()))
    attempt(lambda: asyncio.run(stubborn()))
    async with connected(server, "2026") as client:
        said.append(text(await client.call_tool("new_loop")))
finally:
    stack.is_there, stack.can_wait = was
json.dumps(said)
"""
    quick, again, cleaned, error, caught, other, answer = selenium.python(SERVE + code)
    assert (quick, again, cleaned, caught) == ("quick", "quick", "cleaned up", "caught")
    assert error == other
    assert "no stack switching" in error
    assert "Write an async function" in error
    assert error in answer
