"""Batched callbacks on Pyodide's own event loop: order, suspension by `run_sync`, timers, and many tasks at once."""

from __future__ import annotations

import pytest

CODE = """
import asyncio, json
from pyodide.ffi import run_sync
from mcpframe.frame.compat.batching import batch_callbacks

batch_callbacks(asyncio.get_running_loop())
order = []

async def step(name):
    for number in range(3):
        order.append(f"{name}{number}")
        await asyncio.sleep(0)

await asyncio.gather(step("a"), step("b"))

going = asyncio.Event()

async def release():
    going.set()

def suspended():
    # Its own callback is in the middle of a trip; what it waits for has to run meanwhile, and what came after it too.
    run_sync(asyncio.wait_for(going.wait(), 10))
    order.append("resumed")

async def suspend():
    suspended()

later = asyncio.create_task(suspend())
others = [asyncio.create_task(step("c")), asyncio.create_task(release())]
await asyncio.gather(later, *others)

total = 0

async def count():
    global total
    for _ in range(20):
        await asyncio.sleep(0)
        total += 1

await asyncio.gather(*(count() for _ in range(100)))

try:
    await asyncio.wait_for(asyncio.Event().wait(), 0.01)
except TimeoutError:
    order.append("timed out")

async def generator():
    yield 1
    yield 2

async for number in generator():
    order.append(str(number))
    break

json.dumps([order, total])
"""


@pytest.mark.extended
def test_pyodides_loop_with_batches(selenium):
    order, total = selenium.python(CODE)
    assert order[:6] == ["a0", "b0", "a1", "b1", "a2", "b2"]
    assert order.index("c0") < order.index("resumed") < order.index("timed out")
    assert order[-2:] == ["timed out", "1"]
    assert total == 2000


EXITS = """
import asyncio, json
from mcpframe.frame.compat.batching import batch_callbacks

loop = asyncio.get_running_loop()
batch_callbacks(loop)
reported, awaited = [], []
loop.set_exception_handler(lambda _, context: reported.append(context["message"]))

async def leave(error):
    raise error(1)

def stop(error):
    raise error(1)

for error in (SystemExit, KeyboardInterrupt):
    task = asyncio.create_task(leave(error))
    loop.call_soon(stop, error)
    timer = loop.create_future()
    loop.call_later(0.001, stop, error)
    loop.call_later(0.002, timer.set_result, None)
    await asyncio.wait([task])
    await timer
    awaited.append(type(task.exception()).__name__)
loop.set_exception_handler(None)
json.dumps([awaited, reported])
"""


def test_what_would_end_the_process_is_reported_and_the_loop_goes_on(selenium):
    """In CPython a task's SystemExit ends the program, as asyncio has it; a page has none to end."""
    awaited, reported = selenium.python(EXITS)
    assert awaited == ["SystemExit", "KeyboardInterrupt"]
    for name in awaited:
        assert len([message for message in reported if name in message]) == 3


SPARED = """
import asyncio, json
from pyodide.ffi import can_run_sync
from mcpframe.frame.browser import stack
from mcpframe.frame.compat.batching import batch_callbacks

batch_callbacks(asyncio.get_running_loop(), is_spared=stack.is_spared)
could = []

async def waits():
    could.append(can_run_sync())
    async with stack.spared():
        await asyncio.sleep(0.001)
        could.append(can_run_sync())
        await asyncio.sleep(0)
        could.append(can_run_sync())
    could.append(can_run_sync())

await asyncio.create_task(waits())
json.dumps(could)
"""


def test_what_runs_while_stacks_are_spared_cannot_wait_and_what_follows_can(selenium):
    assert selenium.python(SPARED) == [True, False, False, True]
