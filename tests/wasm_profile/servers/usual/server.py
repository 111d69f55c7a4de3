"""A server that does what tools usually do in Python, so that their functions are in the first WebAssembly file."""

import asyncio
import base64
import collections
import csv
import dataclasses
import datetime
import functools
import hashlib
import io
import itertools
import json
import math
import random
import re
import statistics
import textwrap
import time
import urllib.parse
import uuid
from typing import Any

from mcpframe import FrameServer

server = FrameServer("usual", version="1.0.0")


@dataclasses.dataclass(order=True)
class Item:
    """A thing with a price."""

    name: str
    price: float
    tags: list[str] = dataclasses.field(default_factory=list)


@server.tool()
def numbers(count: int = 2000) -> dict[str, Any]:
    """Compute with integers, of any size, and with floats."""
    rng = random.Random(7)
    values = [rng.uniform(-1e3, 1e3) for _ in range(count)]
    whole = [rng.randint(-(10**6), 10**6) for _ in range(count)]
    inside = sum(random.random() ** 2 + random.random() ** 2 <= 1 for _ in range(count))
    big = math.factorial(60) // 7**20 + 2**200 - 3**100
    return {
        "mean": round(statistics.fmean(values), 3),
        "median": statistics.median(values),
        "deviation": statistics.stdev(values),
        "sum": math.fsum(values) + sum(values) - sum(whole),
        "inside": inside / count + inside % 3 + (inside << 3 | 1) ** 2 - abs(-inside),
        "divided": [divmod(each, 7) for each in whole[:40]] + [divmod(-each, 1.5) for each in values[:9]],
        "big": [
            str(big),
            hex(big),
            big % 10**9,
            big.bit_length(),
            int(str(big)),
            pow(3, 100, 97),
            -big >> 3,
            big & 255,
        ],
        "math": [
            math.sqrt(2),
            math.sin(1),
            math.log(10),
            math.exp(1.5),
            math.atan2(1, 2),
            math.floor(-1.5),
            math.gcd(12, 18),
        ],
        "parsed": [
            int("42"),
            float("1e-3"),
            int("ff", 16),
            complex(1, 2).imag,
            round(2.675, 2),
            float("nan") != float("nan"),
        ],
        "shuffled": [*rng.sample(whole, 5), rng.choice(whole), *rng.choices(whole, k=3), rng.gauss(0, 1)],
        "sorted": sorted(whole, key=abs)[:5] + sorted(values, reverse=True)[:3] + [max(whole), min(values)],
    }


@server.tool()
def texts(text: str = "Grüße, Welt! The quick brown fox; 42 times.") -> dict[str, Any]:
    """Take texts apart, and put them together."""
    words = re.findall(r"\w+", text)
    table = str.maketrans("aeiou", "AEIOU")
    rows = list(csv.DictReader(io.StringIO("name,price\na,1.5\nb,2\n")))
    out = io.StringIO()
    csv.writer(out).writerows([[1, "a b", 'c"d'], [2.5, None, "é"]])
    return {
        "cases": [text.upper(), text.lower(), text.title(), text.swapcase(), text.casefold(), text.capitalize()],
        "parts": [text.split(), text.partition(","), text.rsplit(" ", 1), text.splitlines(), " ".join(words)],
        "tests": [
            text.startswith("Gr"),
            text.endswith("."),
            "fox" in text,
            text.find("x"),
            text.count("e"),
            text.isalpha(),
        ],
        "changed": [
            text.replace("e", "3"),
            text.translate(table),
            text.strip(".G"),
            text[::-1],
            text[2:9:2],
            text.zfill(60),
        ],
        "formats": [
            f"{3.14159:.2f}|{42:>6}|{1e9:,.0f}|{255:#x}|{0.25:.1%}|{'a':^5}|{text!r}",
            "%s %5.1f %d" % ("a", 2, 3),  # noqa: UP031
        ],
        "more": ["{0} {name}".format(1, name="n"), "a".ljust(4, ".") + "b".rjust(4) + "c".center(5), text.expandtabs()],
        "bytes": [text.encode().hex(), base64.b64encode(text.encode()).decode(), bytes(range(5)).decode("latin-1")],
        "back": [
            base64.b64decode("aGFsbG8=").decode(),
            bytes.fromhex("ff00").hex(),
            "é".encode("utf-16").decode("utf-16"),
        ],
        "hashes": [hashlib.sha256(text.encode()).hexdigest(), hashlib.md5(b"a").hexdigest(), str(uuid.uuid4())[:0]],
        "patterns": [
            re.sub(r"(\w+) (\w+)", r"\2 \1", text),
            re.split(r"[,;]\s*", text),
            bool(re.match(r"(?i)grü", text)),
        ],
        "urls": [
            urllib.parse.quote(text),
            urllib.parse.urlencode({"a": text}),
            urllib.parse.urlsplit("https://a.b/c?d=e"),
        ],
        "rows": [rows, out.getvalue(), textwrap.fill(text, 20), textwrap.dedent("  a\n  b")],
    }


@server.tool()
def collected(count: int = 200) -> dict[str, Any]:
    """Keep things in every kind of collection."""
    items = [Item(f"item {number % 7}", number * 1.5, ["x"] * (number % 3)) for number in range(count)]
    groups: dict[str, list[Item]] = collections.defaultdict(list)
    for item in items:
        groups[item.name].append(item)
    queue = collections.deque(range(10), maxlen=5)
    queue.rotate(2)
    queue.appendleft(queue.pop())
    names = {item.name for item in items}
    lists = [*range(5)]
    lists.insert(1, 9)
    lists.extend([3, 4])
    lists.remove(3)
    del lists[0]
    lists.sort(reverse=True)
    lists.reverse()

    @functools.lru_cache
    def fibonacci(number: int) -> int:
        return number if number < 2 else fibonacci(number - 1) + fibonacci(number - 2)

    nested = {"a": [1, {"b": None, "c": [True, 1.5, "é\n"]}], "d": {str(number): number for number in range(30)}}
    return {
        "groups": {name: sum(each.price for each in group) for name, group in sorted(groups.items())},
        "counted": collections.Counter("mississippi").most_common(2),
        "sets": sorted(names & {"item 1"} | {"z"} - names ^ {"q"}),
        "lists": [lists, lists[1:3], lists * 2 == lists, lists.index(9), [*lists.copy(), 1], tuple(lists)],
        "dicts": [{"a": 1, "b": 2} | {"c": 3}, dict(zip("ab", (1, 2), strict=True)), list({"a": 1}.items())],
        "deque": list(queue),
        "items": [dataclasses.asdict(max(items)), repr(items[0]), items[0] == items[1], sorted(items)[0].name],
        "tools": [list(itertools.chain([1], [2])), list(itertools.islice(itertools.count(), 3)), fibonacci(30)],
        "more": [list(itertools.product("ab", [1, 2]))[:3], list(map(str, filter(None, [0, 1]))), any([0]), all([1])],
        "json": [json.loads(json.dumps(nested)), json.dumps(nested, indent=1, sort_keys=True)],
    }


@server.tool()
async def timed(seconds: float = 0.01) -> dict[str, Any]:
    """Wait, and tell the time."""
    start = time.perf_counter()
    results = await asyncio.gather(asyncio.sleep(seconds, "a"), asyncio.sleep(0, "b"))
    event = asyncio.Event()
    asyncio.get_running_loop().call_later(seconds, event.set)
    await asyncio.wait_for(event.wait(), 5)
    day = datetime.datetime(2026, 11, 27, 12, 30, tzinfo=datetime.UTC)
    found = []
    for action in (lambda: 1 / 0, lambda: {}["a"], lambda: int("x"), lambda: [][0], lambda: None.a):  # type: ignore[attr-defined]
        try:
            action()
        except (ArithmeticError, LookupError, ValueError, AttributeError) as error:
            found.append(f"{type(error).__name__}: {error}")
    return {
        "results": [*results, time.perf_counter() > start, time.time() > 0],
        "dates": [day.isoformat(), day.strftime("%d.%m.%Y %H:%M"), str(day + datetime.timedelta(days=40, hours=3))],
        "more": [
            str(datetime.date.fromisoformat("2026-01-31")),
            day.weekday(),
            (day - day).total_seconds(),
            day.timestamp(),
        ],
        "errors": found,
    }
