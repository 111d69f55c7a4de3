"""A server for the official SDK alone: what it does in a page is compared with plain CPython."""

import asyncio
import bz2
import collections
import concurrent.futures
import contextlib
import contextvars
import csv
import datetime
import decimal
import enum
import fractions
import functools
import gzip
import hashlib
import inspect
import io
import itertools
import json
import logging
import math
import multiprocessing
import os
import pathlib
import pickle
import platform
import queue
import random
import re
import shelve
import signal
import socket
import sqlite3
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import uuid
import zlib
import zoneinfo
from dataclasses import dataclass
from typing import Any, Literal

from mcp.server.mcpserver import Context, Image, MCPServer
from pydantic import BaseModel, Field

server = MCPServer("compared", version="1.0", instructions="Each tool, twice.")
number: contextvars.ContextVar[int] = contextvars.ContextVar("number", default=0)
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c626001000000050001a5f645400000000049454e44ae426082"
)


class Color(enum.Enum):
    """Two of them."""

    RED = "red"
    GREEN = "green"


class Place(BaseModel):
    """Where something is."""

    name: str = Field(description="What it is called")
    at: tuple[float, float]
    color: Color = Color.RED


@dataclass
class Pair:
    """Two numbers."""

    left: int
    right: float | None = None


# Values


@server.tool()
def text(value: str = "é🐍\u2028 \\ \x00 \u202e") -> str:
    return value


@server.tool()
def long_text() -> str:
    return "äöü " * 100_000


@server.tool()
def integer() -> int:
    return 2**53 - 1


@server.tool()
def large_integer() -> int:
    return 10**400


@server.tool()
def real() -> float:
    return 0.1 + 0.2


@server.tool()
def not_a_number() -> float:
    return math.nan


@server.tool()
def infinite() -> dict[str, float]:
    return {"a": math.inf}


@server.tool()
def infinite_without_a_type():
    return {"a": [1.0, -math.inf]}


@server.tool()
def nothing() -> None:
    return None


@server.tool()
def maybe(given: str | None = None) -> str | None:
    return given


@server.tool()
def moment() -> datetime.datetime:
    return datetime.datetime(2026, 2, 3, 4, 5, 6, 7, tzinfo=zoneinfo.ZoneInfo("Europe/Vienna"))


@server.tool()
def various() -> dict[str, Any]:
    return {
        "decimal": decimal.Decimal("1.10"),
        "uuid": uuid.UUID(int=5),
        "path": pathlib.PurePosixPath("/a/b"),
        "set": {1},
        "tuple": (1, 2),
        "date": datetime.date(2026, 1, 2),
        "delta": datetime.timedelta(seconds=90),
        "enum": Color.GREEN,
        "bytes": b"text",
        "deque": collections.deque([1, 2]),
    }


@server.tool()
def place(at: Place) -> Place:
    return at.model_copy(update={"name": at.name.upper()})


@server.tool()
def places() -> list[Place]:
    return [Place(name="a", at=(1, 2)), Place(name="b", at=(3, 4.5), color=Color.GREEN)]


@server.tool()
def pair(left: int, right: float = 1) -> Pair:
    return Pair(left, right)


@server.tool()
def choice(which: Literal["a", "b"], many: list[int], more: dict[str, bool] | None = None) -> dict[str, Any]:
    return {"which": which, "many": many, "more": more}


@server.tool()
def body(given: str | None = None) -> str:
    return repr(given)


@server.tool()
def integer_keys() -> dict[int, str]:
    return {10: "ten", 2: "two"}


@server.tool()
def integer_names() -> dict[str, str]:
    return {"b": "first", "10": "ten", "2": "two"}


@server.tool()
def nested(levels: int = 40) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@server.tool()
def blob() -> bytes:
    return b"\xff\xfe"


@server.tool()
def picture() -> Image:
    return Image(data=PIXEL, format="png")


@server.tool()
def mixed() -> list[Any]:
    return ["text", Image(data=PIXEL, format="png"), {"a": 1}]


# Errors


@server.tool()
def raises() -> str:
    raise ValueError("no such thing")


@server.tool()
def raises_a_group() -> str:
    raise ExceptionGroup("several", [ValueError("one"), KeyError("two")])


@server.tool()
def exits() -> str:
    try:
        sys.exit("over")
    except SystemExit as error:
        return f"exits with {error.code}"


@server.tool()
def recurses() -> str:
    def deeper(levels: int) -> int:
        return deeper(levels + 1)

    try:
        return str(deeper(0))
    except RecursionError as error:
        return type(error).__name__


@server.tool()
def shows_a_traceback() -> str:
    try:
        json.loads("{")
    except ValueError:
        return traceback.format_exc().splitlines()[-1]
    return ""


# The standard library


@server.tool()
def digests() -> dict[str, str]:
    data = b"some text"
    return {
        **{name: hashlib.new(name, data).hexdigest() for name in ("md5", "sha1", "sha256", "sha3_256", "blake2b")},
        "pbkdf2": hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 1000).hex(),
        "crc": str(zlib.crc32(data)),
    }


@server.tool()
def scrypt() -> str:
    return hashlib.scrypt(b"password", salt=b"salt", n=16, r=8, p=1).hex()


@server.tool()
def packs() -> dict[str, int]:
    data = b"some text" * 100
    return {
        "zlib": len(zlib.decompress(zlib.compress(data))),
        "gzip": len(gzip.decompress(gzip.compress(data))),
        "bz2": len(bz2.decompress(bz2.compress(data))),
        "struct": struct.unpack("<I", struct.pack("<I", 7))[0],
        "pickle": pickle.loads(pickle.dumps({"a": 1}))["a"],
    }


@server.tool()
def database() -> list[Any]:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE numbers (n INTEGER, name TEXT)")
        connection.executemany("INSERT INTO numbers VALUES (?, ?)", [(1, "one"), (2, "two")])
        return [list(row) for row in connection.execute("SELECT name, n * 2 FROM numbers ORDER BY n DESC")]


@server.tool()
def calculates() -> dict[str, str]:
    source = random.Random(7)
    return {
        "fraction": str(fractions.Fraction(1, 3) + fractions.Fraction(1, 6)),
        "decimal": str(decimal.Decimal(1) / 7),
        "median": str(statistics.median([3, 1, 2])),
        "random": str([source.randrange(100) for _ in range(5)]),
        "product": str(list(itertools.product("ab", repeat=2))[-1]),
        "uuid5": str(uuid.uuid5(uuid.NAMESPACE_DNS, "a.example")),
        "regex": str(re.findall(r"(?<=a)\w", "abacad")),
        "power": str(pow(3, 10**6, 10**9 + 7)),
    }


@server.tool()
def csv_text() -> str:
    out = io.StringIO()
    csv.writer(out).writerows([["a", "b, c"], [1, 'd"']])
    return out.getvalue()


@server.tool()
def files() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "sub" / "file.txt"
        path.parent.mkdir()
        path.write_text("é\n", "utf-8")
        path.chmod(0o600)
        found = [each.name for each in pathlib.Path(folder).rglob("*.txt")]
        return {"found": found, "size": path.stat().st_size, "mode": path.stat().st_mode & 0o777}


@server.tool()
def missing_file() -> str:
    return pathlib.Path("no-such-file.txt").read_text()


@server.tool()
def variable() -> str | None:
    return os.environ.get("COMPARED_WITH_CPYTHON")


@server.tool()
def own_source() -> str:
    return inspect.getsource(pair)


@server.tool()
def own_file() -> str:
    return pathlib.Path(__file__).name


@server.tool()
def keeps_values() -> str:
    with tempfile.TemporaryDirectory() as folder, shelve.open(str(pathlib.Path(folder) / "kept")) as kept:
        kept["a"] = 1
        return str(kept["a"])


@server.tool()
def zone() -> str:
    return str(datetime.datetime(2026, 7, 1, tzinfo=zoneinfo.ZoneInfo("America/New_York")).utcoffset())


@server.tool()
def which_platform() -> list[str]:
    return [sys.platform, platform.system(), os.name]


@server.tool()
@functools.cache
def cached() -> str:
    return "once"


# Tasks and threads


@server.tool()
async def gathers() -> list[int]:
    async def later(value: int) -> int:
        await asyncio.sleep(0.01 * value)
        number.set(value)
        return value + number.get()

    return [*await asyncio.gather(later(3), later(1), later(2)), number.get()]


@server.tool()
async def times_out() -> str:
    try:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(5)
    except TimeoutError as error:
        return type(error).__name__
    return "slept"


@server.tool()
async def to_a_thread() -> int:
    number.set(4)
    return await asyncio.to_thread(lambda: number.get() + sum(range(100)))


@server.tool()
def own_loop() -> int:
    async def add(left: int, right: int) -> int:
        await asyncio.sleep(0.01)
        return left + right

    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(add(2, 3))
    finally:
        loop.close()


@server.tool()
def runs() -> int:
    async def value() -> int:
        await asyncio.sleep(0.01)
        return 6

    return asyncio.run(value())


@server.tool()
def threads() -> dict[str, Any]:
    own = threading.local()
    seen: queue.Queue[tuple[int, str, bool]] = queue.Queue()

    def work(value: int) -> None:
        own.value = value
        time.sleep(0.01)
        seen.put((own.value, threading.current_thread().name, threading.get_ident() == main))

    main = threading.get_ident()
    started = [threading.Thread(target=work, args=(each,), name=f"worker {each}") for each in range(3)]
    for each in started:
        each.start()
    for each in started:
        each.join()
    return {"seen": sorted(seen.get() for _ in started), "alive": any(each.is_alive() for each in started)}


@server.tool()
def pool() -> list[Any]:
    waiting: queue.Queue[int] = queue.Queue()
    event = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(2, thread_name_prefix="pool") as workers:
        consumer = workers.submit(lambda: waiting.get(timeout=5) * 2)
        waits = workers.submit(event.wait, 5)
        waiting.put(21)
        event.set()
        return [consumer.result(5), waits.result(5), list(workers.map(abs, [-1, -2]))]


@server.tool()
def timer() -> str:
    done = threading.Event()
    threading.Timer(0.01, done.set).start()
    return str(done.wait(5))


@server.tool()
def locks() -> str:
    lock = threading.Lock()
    with lock:
        return str(lock.acquire(blocking=False))


# What a page does not have


@server.tool()
def runs_a_program() -> str:
    return subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True, text=True, check=True).stdout


@server.tool()
def runs_a_command() -> int:
    return os.system("exit 0")


@server.tool()
def forks() -> str:
    child = os.fork()
    if child == 0:
        os._exit(0)
    return str(os.waitpid(child, 0)[1])


@server.tool()
def processes() -> list[int]:
    with multiprocessing.get_context("fork").Pool(1) as workers:
        return workers.map(abs, [-1, -2])


@server.tool()
def listens() -> str:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        with socket.create_connection(sock.getsockname(), timeout=5):
            return "connected"


@server.tool()
def alarm() -> str:
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.alarm(0)
    return "set"


# The client


@server.tool()
async def progress(ctx: Context) -> str:
    for step in range(3):
        await ctx.report_progress(step + 1, 3, f"step {step + 1}")
    return "done"


@server.tool()
def logs() -> str:
    logging.getLogger("compared").warning("to the server's log")
    print("to the server's log", file=sys.stderr)
    return "logged"


@server.tool(title="Annotated", description="It has all that a tool can have.")
def annotated(
    first: int = Field(ge=1, le=5, description="From 1 to 5"), second: list[Place] | None = None
) -> dict[str, int]:
    return {"first": first, "second": len(second or [])}


@server.resource("text://motto", mime_type="text/plain")
def motto() -> str:
    return "Ünïcödé ✓"


@server.resource("data://pixel", mime_type="image/png")
def pixel() -> bytes:
    return PIXEL


@server.resource("data://numbers")
def numbers() -> dict[str, list[int]]:
    return {"all": [1, 2]}


@server.resource("places://{name}/at/{number}")
def named(name: str, number: int) -> str:
    return f"{name} {number}"


@server.prompt()
def trip(city: str, days: str = "2") -> str:
    """Plan a trip."""
    return f"Plan {days} days in {city}."


if __name__ == "__main__":
    server.run()
