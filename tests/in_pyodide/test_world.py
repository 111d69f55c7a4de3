"""Code that was written for a process, in a page: threads, pools of them, locks, timers, limits."""

from __future__ import annotations

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
