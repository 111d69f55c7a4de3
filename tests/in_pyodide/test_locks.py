"""The browser's locks, as `browser_storage` uses them: a page that never lets go, a lease, a wait that is given up."""

from __future__ import annotations

PRELUDE = """
import asyncio, json
import anyio, js
from pyodide.code import run_js
from mcpframe.frame.browser.storage import PageLocks, page_locks
from mcpframe.frame.core.errors import StorageError

async def state(name):
    found = await js.navigator.locks.query()
    return [sum(lock.name == name for lock in getattr(found, kind)) for kind in ("held", "pending")]

async def held(name):
    while (await state(name))[0] == 0:
        pass

async def free(name):
    while await state(name) != [0, 0]:
        pass
"""

STUCK = """
run_js('navigator.locks.request("stuck", () => new Promise((resolve) => { globalThis.letGo = resolve; })), 0')
await held("stuck")
answers = []
try:
    async with PageLocks(js.navigator.locks, wait=0.05).held("stuck"):
        answers.append("held")
except StorageError as error:
    answers.append(str(error))
answers.append(await state("stuck"))
with anyio.move_on_after(0.05):
    async with page_locks().held("stuck"):
        answers.append("held")
answers.append(await state("stuck"))
js.letGo()
async with page_locks().held("stuck"):
    answers.append("held")
    answers.append(await state("stuck"))
await free("stuck")
json.dumps(answers)
"""

LEASED = """
order = []
async def hang():
    async with PageLocks(js.navigator.locks, lease=0.05).held("leased"):
        order.append("first")
        await anyio.sleep_forever()

task = asyncio.create_task(hang())
await held("leased")
async with page_locks().held("leased"):
    order.append("second")
    task.cancel()
    await asyncio.wait([task])
    order.append(await state("leased"))
await free("leased")
json.dumps(order)
"""

NONE = """
json.dumps(run_js("Object.defineProperty(navigator, 'locks', { value: undefined, configurable: true }), 0") or
           [page_locks() is None, run_js("delete navigator.locks"), page_locks() is not None])
"""


def test_a_lock_that_another_page_holds_is_waited_for_until_a_deadline(selenium):
    told, waiting, given_up, *then = selenium.python(PRELUDE + STUCK)
    assert told == (
        "Another page of this session has been changing its values for 0.05 seconds: close it, or try again."
    )
    assert waiting == given_up == [1, 0]
    assert then == ["held", [1, 0]]


def test_a_lock_is_let_go_after_its_lease(selenium):
    assert selenium.python(PRELUDE + LEASED) == ["first", "second", [1, 0]]


def test_a_browser_without_locks(selenium):
    assert selenium.python(PRELUDE + NONE) == [True, True, True]
