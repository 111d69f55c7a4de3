"""Code that was written for a process, in a page: threads, pools of them, locks, timers, limits."""

from __future__ import annotations

import pytest

BEFORE = """
import asyncio, json, os, sys, threading, time
from mcpframe.frame.compat.batching import batch_callbacks
from mcpframe.frame.compat import sdk
batch_callbacks(asyncio.get_running_loop())
sdk.prepare()
from mcpframe.frame import world
world.prepare()
world.prepare()
"""


@pytest.mark.extended
def test_a_pool_of_threads_runs_functions_in_place(selenium):
    code = """
import concurrent.futures, contextvars
from concurrent.futures import ThreadPoolExecutor, as_completed, wait

seen = contextvars.ContextVar("seen", default="nothing")
seen.set("the caller's")

def look(n):
    before = seen.get()
    seen.set("changed")
    return [before, n]

with ThreadPoolExecutor(max_workers=2) as pool:
    futures = [pool.submit(look, n) for n in range(2)]
    mapped = list(pool.map(look, range(2)))
    failed = pool.submit(int, "x")
    done, pending = wait([*futures, failed])
    results = [future.result(timeout=1) for future in futures]
    completed = len(list(as_completed(futures)))
late = None
try:
    pool.submit(look, 1)
except RuntimeError as error:
    late = str(error)
loop = asyncio.get_running_loop()
begun = []
pool = ThreadPoolExecutor(1, "name", begun.append, ("begun",))
in_executor = await loop.run_in_executor(pool, look, 5)
in_default = await loop.run_in_executor(None, look, 6)
async with asyncio.timeout(5):
    to_thread = await asyncio.to_thread(look, 7)
import anyio, anyio.to_thread, anyio.from_thread
async def answer():
    await asyncio.sleep(0.01)
    return 42
def back():
    return [anyio.from_thread.run(answer), anyio.from_thread.run_sync(len, "ab")]
from_thread = await anyio.to_thread.run_sync(back)
inside = pool.submit(asyncio.run, answer()).result()
safe = await asyncio.to_thread(lambda: asyncio.run_coroutine_threadsafe(answer(), loop).result(5))
json.dumps([results, mapped, type(failed.exception()).__name__, len(done), completed, late, in_executor, in_default,
            to_thread, from_thread, inside, safe, seen.get(), begun])
"""
    expected = [["the caller's", 0], ["the caller's", 1]]
    assert selenium.python(BEFORE + code) == [
        *(expected, expected, "ValueError", 3, 2, "cannot schedule new futures after shutdown"),
        *(["the caller's", 5], ["the caller's", 6], ["the caller's", 7], [42, 2], 42, 42, "the caller's"),
        ["begun"],
    ]


def test_each_thread_has_its_own_locals_identity_and_name(selenium):
    code = """
import logging, multiprocessing.dummy, multiprocessing.pool
from concurrent.futures import ThreadPoolExecutor
import anyio, anyio.to_thread

local = threading.local()
lock = threading.RLock()
log, held = [], []
loop = asyncio.get_running_loop()
barrier = threading.Barrier(2)

def look(n, meet=lambda: time.sleep(0.01)):
    before = getattr(local, "n", None)
    local.n = n
    with lock:
        held.append(n)
        meet()
        held.append(n)
    thread = threading.current_thread()
    time.sleep(0.01)
    assert thread is threading.current_thread() and thread in threading.enumerate()
    record = logging.LogRecord("a", 1, "b", 1, "c", (), None)
    same = thread.ident == threading.get_ident() == record.thread
    same = same and record.threadName == thread.name
    return [before, local.n, thread.ident, thread.name, same]

class Looking(threading.Thread):
    def run(self):
        self.result = look(self.name)

ways = {}
threads = [Looking(name="first"), Looking(name="second", daemon=True)]
for each in threads:
    each.start()
for each in threads:
    each.join()
ways["Thread"] = [each.result for each in threads]
with ThreadPoolExecutor(2, "mine") as pool:
    ways["submit"] = [each.result() for each in [pool.submit(look, 1), pool.submit(look, 2)]]
ways["to_thread"] = await asyncio.gather(asyncio.to_thread(look, 1), asyncio.to_thread(look, 2))
ways["executor"] = await asyncio.gather(*(loop.run_in_executor(None, look, n) for n in (1, 2)))
ways["anyio"] = await asyncio.gather(anyio.to_thread.run_sync(look, 1), anyio.to_thread.run_sync(look, 2))
def note(n):
    log.append(look(n))

processes = [multiprocessing.dummy.Process(target=note, args=[n], name=f"dummy {n}") for n in (1, 2)]
for each in processes:
    each.start()
for each in processes:
    each.join()
ways["dummy"] = log
with multiprocessing.dummy.Pool(2) as pool:
    ways["pool"] = pool.map(look, [1, 2])
fired = []
timers = [threading.Timer(0.01, lambda n: fired.append(look(n)), [n]) for n in (1, 2)]
for each in timers:
    each.start()
for each in timers:
    each.join()
ways["Timer"] = fired
main = threading.get_ident() == threading.main_thread().ident and threading.current_thread() is threading.main_thread()
gone = [each.name for each in threading.enumerate() if not each.name.startswith(("asyncio", "MainThread"))]
json.dumps([ways, main, hasattr(local, "n"), threading.get_ident(), held, gone])
"""
    ways, main, leaked, own, held, left = selenium.python(BEFORE + code)
    names = {way: [f"{name}_{n}" for n in (0, 1)] for way, name in (("submit", "mine"), ("pool", "ThreadPool"))}
    names |= {way: ["asyncio_0", "asyncio_1"] for way in ("to_thread", "executor")}
    names |= {"Thread": ["first", "second"], "dummy": ["dummy 1", "dummy 2"], "anyio": ["AnyIO worker thread"] * 2}
    for way, results in ways.items():
        (before, first, one, _, same), (before2, second, two, _, same2) = results
        assert first != second, way
        assert len({one, two, own}) == 3, way
        assert same, way
        assert same2, way
        assert sorted(each[3] for each in results) == names.get(way, sorted(each[3] for each in results)), way
        if way != "executor":  # which has the threads of `to_thread`
            assert (before, before2) == (None, None), way
    assert (main, leaked, left) == (True, False, [])
    assert held[::2] == held[1::2], "an RLock is held by one thread at a time"


def test_what_waits_in_a_pool_lets_its_caller_go_on(selenium):
    code = """
import queue, multiprocessing, multiprocessing.pool
from concurrent.futures import ThreadPoolExecutor

def consume(todo, done=None):
    log = []
    while (item := todo.get()) is not None:
        log.append(item)
        if done:
            done.put(item * 2)
    return log

results = {}
todo = queue.Queue()
with ThreadPoolExecutor(1) as pool:
    consumed = pool.submit(consume, todo)
    running = not consumed.done()
    for n in (1, 2, None):
        todo.put(n)
    results["queue"] = [running, consumed.result(5)]
event = threading.Event()
with ThreadPoolExecutor(1) as pool:
    waited = pool.submit(event.wait)
    event.set()
    results["event"] = waited.result(5)
there, back = queue.Queue(), queue.Queue()
with ThreadPoolExecutor(2) as pool:
    doubling, reading = pool.submit(consume, there, back), pool.submit(lambda: [back.get(), back.get()])
    for n in (1, 2, None):
        there.put(n)
    results["two"] = [doubling.result(5), reading.result(5)]
simple = queue.SimpleQueue()
loop = asyncio.get_running_loop()
in_executor = loop.run_in_executor(None, simple.get)
simple.put("put")
results["executor"] = await asyncio.wait_for(in_executor, 5)
task = asyncio.create_task(asyncio.to_thread(simple.get))
await asyncio.sleep(0)
simple.put("put")
results["to_thread"] = await asyncio.wait_for(task, 5)
pool = multiprocessing.pool.ThreadPool(2)
waiting = pool.apply_async(simple.get)
try:
    waiting.get(0.01)
except multiprocessing.TimeoutError:
    results["timeout"] = True
simple.put("put")
results["ThreadPool"] = waiting.get(5)
pool.close(); pool.join()
with ThreadPoolExecutor(1) as pool:
    full = [pool.submit(time.sleep, 0.01), pool.submit(len, "never")]
    results["cancelled"] = full[1].cancel()
def failing():
    raise ValueError("no")
with ThreadPoolExecutor(1, initializer=failing) as pool:
    try:
        results["broken"] = type(pool.submit(len, "a").exception(5)).__name__
    except Exception as error:
        results["broken"] = type(error).__name__
json.dumps(results)
"""
    results = selenium.python(BEFORE + code)
    assert [results.pop(name) for name in ("queue", "event", "two")] == [[True, [1, 2]], True, [[1, 2], [2, 4]]]
    assert [results.pop(name) for name in ("executor", "to_thread", "ThreadPool")] == ["put"] * 3
    assert results == {"timeout": True, "cancelled": True, "broken": "BrokenThreadPool"}


def test_many_threads_keep_their_context_variables(selenium):
    code = """
import contextvars
from concurrent.futures import ThreadPoolExecutor
seen = contextvars.ContextVar("seen")
local = threading.local()
def look(n):
    local.n = n
    time.sleep(0.01 if n % 2 else 0.001)
    before = seen.get()
    seen.set(-1)
    return before, local.n
async def call(n):
    seen.set(n)
    return [await asyncio.to_thread(look, n), seen.get()]
called = await asyncio.gather(*(call(n) for n in range(20)))
json.dumps(called)
"""
    assert selenium.python(BEFORE + code) == [[[n, n], n] for n in range(20)]


def test_functions_run_in_place_without_stack_switching_and_say_why_they_cannot_wait(selenium):
    code = """
import queue, multiprocessing.dummy
from concurrent.futures import ThreadPoolExecutor
from mcpframe.frame.browser import stack
was = stack.is_there, stack.can_wait
stack.is_there = stack.can_wait = lambda: False
local = threading.local()
local.n = "main"
def look():
    before = getattr(local, "n", None)
    local.n = "worker"
    return [before, threading.current_thread().name, threading.get_ident() == threading.current_thread().ident]
try:
    pool = ThreadPoolExecutor(2, "mine")
    results = [pool.submit(look).result(), pool.submit(look).result()]
    todo = queue.Queue()
    errors = [str(pool.submit(each).exception()) for each in (todo.get, threading.Event().wait)]
    with multiprocessing.dummy.Pool(2) as dummy:
        mapped = dummy.map(len, ["a", "bc"]), list(dummy.imap_unordered(len, ["a"]))
    tasks = [await asyncio.to_thread(look), local.n]
finally:
    stack.is_there, stack.can_wait = was
json.dumps([results, errors, mapped, tasks])
"""
    results, errors, mapped, tasks = selenium.python(BEFORE + code)
    assert results == [[None, "mine_0", True], ["worker", "mine_0", True]]
    assert all("wait for ever" in each and "no stack switching" in each for each in errors)
    assert (mapped, tasks) == ([[1, 2], [1]], [[None, "asyncio_0", True], "main"])


def test_threads_run_while_other_code_waits(selenium):
    code = """
import queue
log = []
stop = threading.Event()
todo = queue.Queue()

def refresh():
    while not stop.wait(0.01):
        log.append(threading.current_thread().name)

def work():
    while (item := todo.get()) is not None:
        todo.task_done()
        log.append(item)

background = threading.Thread(target=refresh, name="refresh", daemon=True)
worker = threading.Thread(target=work)
background.start(); worker.start()
alive = [background.is_alive(), worker.is_alive()]
todo.put("first")
todo.join()
time.sleep(0.1)
stop.set()
todo.put(None)
for thread in (background, worker):
    thread.join()
alive += [background.is_alive(), worker.is_alive()]
twice = None
try:
    worker.start()
except RuntimeError as error:
    twice = str(error)
errors = []
threading.excepthook = lambda args: errors.append([args.exc_type.__name__, args.thread.name])
failing = threading.Thread(target=lambda: 1 / 0, name="failing")
failing.start()
failing.join(5)
threading.excepthook = threading.__excepthook__
slow = threading.Thread(target=time.sleep, args=[1])
slow.start()
slow.join(0.01)
still = slow.is_alive()
slow.join()
json.dumps([alive, "first" in log, "refresh" in log, twice, errors, still, threading.current_thread().name])
"""
    assert selenium.python(BEFORE + code) == [
        *(
            [True, True, False, False],
            True,
            True,
            "threads can only be started once",
            [["ZeroDivisionError", "failing"]],
        ),
        *(True, "MainThread"),
    ]


def test_locks_exclude_and_time_out(selenium):
    code = """
lock = threading.Lock()
log = []

def hold(name):
    with lock:
        log.append(f"{name} in")
        time.sleep(0.02)
        log.append(f"{name} out")

threads = [threading.Thread(target=hold, args=[name]) for name in "ab"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
lock.acquire()
timed_out = lock.acquire(timeout=0.01)
not_blocking = lock.acquire(blocking=False)
lock.release()
condition = threading.Condition()
with condition:
    notified = condition.wait(0.01)
json.dumps([log, timed_out, not_blocking, lock.locked(), notified])
"""
    assert selenium.python(BEFORE + code) == [["a in", "a out", "b in", "b out"], False, False, False, False]


def test_a_timer_fires_once_unless_it_is_cancelled(selenium):
    code = """
fired = asyncio.Event()
log = []
timer = threading.Timer(0.01, lambda name: (log.append(name), fired.set()), ["fired"])
other = threading.Timer(0.01, log.append, ["never"])
timer.start(); other.start()
other.cancel()
await asyncio.wait_for(fired.wait(), 5)
timer.join(); other.join()
json.dumps([log, timer.is_alive(), other.is_alive()])
"""
    assert selenium.python(BEFORE + code) == [["fired"], False, False]


def test_what_a_browser_without_stack_switching_cannot_do_is_an_error(selenium):
    code = """
import logging
from mcpframe.frame.browser import stack
stack.is_there = stack.can_wait = lambda: False
records = []
handler = logging.Handler()
handler.emit = lambda record: records.append(record.getMessage())
logging.getLogger("mcpframe").addHandler(handler)
said = []
def attempt(act):
    try:
        act()
        said.append(None)
    except RuntimeError as error:
        said.append(str(error))
attempt(threading.Thread(target=print, name="loop").start)
daemon = threading.Thread(target=print, name="side", daemon=True)
attempt(daemon.start)
attempt(daemon.join)
lock = threading.Lock()
lock.acquire()
attempt(lock.acquire)
import anyio.from_thread
attempt(lambda: anyio.from_thread.run(asyncio.sleep, 0))
json.dumps([said, records, daemon.is_alive()])
"""
    (loop, side, joined, lock, from_thread), [logged], alive = selenium.python(BEFORE + code)
    assert "'loop' cannot run" in loop
    assert "asyncio.create_task" in loop
    assert (side, joined, alive) == (None, None, False)
    assert "'side' cannot run" in logged
    assert "wait for ever" in lock
    assert "no stack switching" in from_thread


def test_sleeping_lets_other_tasks_go_on(selenium):
    code = """
log = []

async def sleep(name, seconds):
    log.append(f"{name} sleeps")
    time.sleep(seconds)
    log.append(f"{name} is awake")

await asyncio.gather(sleep("first", 1), sleep("second", 0.02))
json.dumps(log)
"""
    assert selenium.python(BEFORE + code) == ["first sleeps", "second sleeps", "second is awake", "first is awake"]


def test_what_a_page_does_not_have_says_so(selenium):
    code = """
import atexit, errno, resource, signal, socket, subprocess
said = []
def attempt(act):
    try:
        act()
    except OSError as error:
        said.append([error.errno, error.strerror.partition(":")[0]])
attempt(lambda: socket.create_connection(("127.0.0.1", 80)))
attempt(lambda: socket.socket().bind(("127.0.0.1", 80)))
attempt(lambda: subprocess.run(["ls"]))
attempt(lambda: os.system("ls"))
attempt(os.fork)
signal.signal(signal.SIGTERM, lambda *_: None)
asyncio.get_running_loop().add_signal_handler(signal.SIGINT, print)
atexit.register(print)
resource.setrlimit(resource.RLIMIT_AS, (1000, resource.RLIM_INFINITY))
limits = [resource.getrlimit(resource.RLIMIT_AS), resource.getrlimit(resource.RLIMIT_CPU)]
usage = resource.getrusage(resource.RUSAGE_SELF)
json.dumps([said, errno.ENETUNREACH, errno.ENOENT, errno.ENOSYS, limits, usage.ru_utime >= 0, usage.ru_maxrss])
"""
    said, unreachable, missing, unknown, limits, has_time, memory = selenium.python(BEFORE + code)
    sockets, processes = [unreachable, "A page has no sockets"], [unknown, "A page has no processes"]
    program = [missing, "A page has no processes"]
    assert said == [sockets, sockets, program, processes, processes]
    assert (limits, has_time, memory) == ([[1000, -1], [-1, -1]], True, 0)


def test_names_of_public_hosts_have_public_addresses(selenium):
    code = """
import ipaddress, socket
loop = asyncio.get_running_loop()
found = {
    host: [socket.gethostbyname(host), socket.getaddrinfo(host, 443, type=socket.SOCK_STREAM)[0][4][0],
           (await loop.getaddrinfo(host, 443))[0][4][0]]
    for host in ("page.example", "127.0.0.1", "nas.local")
}
are_global = {host: [ipaddress.ip_address(each).is_global for each in each_of] for host, each_of in found.items()}
json.dumps([are_global, socket.gethostbyname_ex("page.example")])
"""
    are_global, both = selenium.python(BEFORE + code)
    assert are_global == {"page.example": [True] * 3, "127.0.0.1": [False] * 3, "nas.local": [False] * 3}
    assert both == ["page.example", [], ["192.0.43.8"]]
