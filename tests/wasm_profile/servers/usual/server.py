"""A server that does what tools usually do in Python, so that their functions are in the first WebAssembly file."""

import asyncio
import base64
import collections
import csv
import dataclasses
import datetime
import enum
import functools
import hashlib
import io
import itertools
import json
import math
import pathlib
import random
import re
import statistics
import tempfile
import textwrap
import time
import urllib.parse
import uuid
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import js
from pydantic import BaseModel, ConfigDict, Field, ValidationError, computed_field, field_validator
from pyodide.code import run_js
from pyodide.ffi import JsException, create_once_callable, create_proxy, to_js

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


class Kind(enum.StrEnum):
    """A kind of order."""

    EXPRESS = "express"
    USUAL = "usual"


class Position(BaseModel):
    """A line of an order."""

    name: str = Field(min_length=1, max_length=80, pattern=r"^\w")
    count: int = Field(default=1, ge=1, le=1000, multiple_of=1)
    price: float = 1.5


class Order(BaseModel):
    """An order."""

    model_config = ConfigDict(populate_by_name=True, str_strip_whitespace=True)
    positions: list[Position] = []
    kind: Kind = Kind.USUAL
    day: datetime.date = datetime.date(2026, 11, 27)
    time: datetime.datetime | None = None
    weights: dict[str, float] = {}
    place: tuple[float, float] = (0.0, 0.0)
    tags: set[str] = set()
    state: Literal["new", "sent"] = "new"
    either: int | str | bool | None = Field(default=None, alias="anyOfThese")
    more: Any = None

    @field_validator("tags")
    @classmethod
    def _lower(cls, tags: set[str]) -> set[str]:
        return {tag.lower() for tag in tags}

    @computed_field  # type: ignore[prop-decorator]
    @property
    def total(self) -> float:
        """The price of all."""
        return sum(each.count * each.price for each in self.positions)


class Summary(TypedDict):
    """What was ordered."""

    names: list[str]
    total: float
    orders: NotRequired[list[Order]]


@server.tool()
def ordered(order: Order, count: Annotated[int, Field(ge=0, le=9)] = 2, note: str | None = None) -> Order:
    """Take an order, and return it."""
    found = Order.model_validate_json(order.model_dump_json(by_alias=True, exclude={"total"}))
    return found.model_copy(update={"more": [note, count, {"x": [1, 2.5, None]}]})


@server.tool()
def summed(orders: list[Order], factor: float = 1.0, flags: dict[str, bool] | None = None) -> Summary:
    """Sum up orders, of which wrong ones are refused."""
    refused = []
    for wrong in ({"positions": [{"name": "", "count": 0}]}, {"kind": "?"}, {"day": "no"}, {"either": [1]}):
        try:
            Order.model_validate(wrong)
        except ValidationError as error:
            refused.append(str(error.errors()[0]["type"]))
    right = Order.model_validate(
        {
            "positions": [{"name": "a", "count": "3"}],
            "time": "2026-11-27T10:00:00Z",
            "weights": {"a": 1},
            "place": [1, 2],
            "tags": ["A"],
            "anyOfThese": "x",
        }
    )
    return Summary(names=[*refused, right.kind], total=factor * sum(each.total for each in orders), orders=[right])


@server.tool()
def item(name: str, price: float = 1.0, tags: list[str] | None = None) -> Item:
    """Return a thing with a price."""
    return Item(name, price, tags or [])


@server.tool()
def files(text: str = "a text") -> dict[str, Any]:
    """Write files, one of which is kept for the next visit, and read them."""
    home = pathlib.Path.home()
    folder = home / "folder"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "texts.txt"
    path.write_text(f"{text}\n", "utf-8")
    with path.open("a+", encoding="utf-8") as file:
        file.writelines([text, "\n"])
        file.seek(0)
        lines = file.read().splitlines()
    (folder / "bytes").write_bytes(bytes(range(256)))
    (folder / "bytes").rename(folder / "renamed")
    (home / "kept.txt").write_text(text)
    found = sorted(str(each.relative_to(home)) for each in home.rglob("*"))
    sizes = [each.stat().st_size for each in folder.iterdir()]
    (folder / "renamed").unlink()
    try:
        (home / "none.txt").read_text()
    except OSError as error:
        found.append(f"{type(error).__name__}: {error}")
    with tempfile.TemporaryDirectory() as temporary:
        pathlib.Path(temporary, "data.json").write_text(json.dumps({"a": 1}))
    return {"lines": lines, "found": found, "sizes": sizes, "exists": [path.exists(), folder.is_dir(), path.suffix]}


@server.tool()
async def javascript() -> dict[str, Any]:
    """Use what the browser has, also where that fails."""
    found = []
    attempts = (
        lambda: js.JSON.parse("{"),
        lambda: js.document.querySelector("#"),
        lambda: run_js("({ get a() { throw new TypeError('no'); } })").a,
        lambda: js.URL.new("none"),
        lambda: run_js("(function* () { throw 1; })()").next(),
        lambda: js.noSuchThing,
        lambda: list(run_js("({})")),
        lambda: run_js("(f) => f()")(create_once_callable(lambda: 1 / 0)),
    )
    for attempt in attempts:
        try:
            attempt()
        except (JsException, AttributeError, TypeError, ZeroDivisionError) as error:
            found.append(f"{type(error).__name__}: {error}")
    for text in ("Promise.reject(new Error('no'))", "new Promise((done) => setTimeout(done, 1))"):
        try:
            await run_js(text)
        except JsException as error:
            found.append(str(error))
    element = js.document.createElement("p")
    element.textContent = "a text"
    element.dataset.key = "value"
    heard: list[str] = []
    listener = create_proxy(lambda event: heard.append(event.type))
    element.addEventListener("click", listener)
    element.click()
    element.removeEventListener("click", listener)
    listener.destroy()
    values = {"a": [1, 2.5, None, True, "é"], "b": {"c": b"bytes"}}
    copied = to_js(values, dict_converter=js.Object.fromEntries)
    array = js.Uint8Array.new(to_js([1, 2, 3]))
    array.assign(b"abc")
    return {
        "errors": found,
        "element": [element.outerHTML, heard, element == element.cloneNode(True), bool(element), repr(element)],
        "values": [js.JSON.stringify(copied), copied.to_py()["a"], list(copied.a)[:2], len(copied.a), copied.a[0]],
        "bytes": [array.to_bytes().decode(), array.to_py().tolist(), js.Math.max(1, 2), js.Date.now() > 0],
        "tests": ["a" in js.Object.keys(copied), dir(copied)[:0], js.Array.isArray(copied.a), hash(element) != 0],
    }
