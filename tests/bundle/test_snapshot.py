"""Snapshots: a page that starts from one is the page that it would be without, and no secret of anybody is in one."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from mcpframe.kit.base.cache import cache_dir
from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.browser.devtools.driven_page import ConsoleLine, DevToolsPage
from mcpframe.kit.bundle import first_imports
from mcpframe.kit.bundle.output_root import BuildResult
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.bundle.snapshot import build_browser, snapshot_page, time_limits
from mcpframe.kit.bundle.snapshot.memory import filled, zstd
from tests.bundle.conftest import write_project
from tests.bundle.served_pages import PATIENCE, Serving, call, copied
from tests.support.suites import except_for, extended

SERVER = '''
import asyncio
import contextvars
import logging
import random

from pydantic import BaseModel, ValidationError

from mcpframe import FrameServer
from mcpframe.frame.compat.request_state import HandleCodec

server = FrameServer("state", allowed_origins=["*"])
greeting = {"words": ["hello"]}
place = contextvars.ContextVar("place", default="nowhere")
place.set("at import")
logging.getLogger("probe").setLevel(logging.INFO)


class Point(BaseModel):
    x: int


def fail() -> None:
    raise ValueError("on purpose")


@server.tool()
async def state() -> str:
    """What must not depend on how the page has started."""
    import json, locale, os, sys, time, traceback
    from importlib.metadata import distributions

    loop = asyncio.get_running_loop()
    root = logging.getLogger()
    try:
        Point(x="one")
    except ValidationError as error:
        invalid = str(error)
    try:
        fail()
    except ValueError:
        trace = traceback.format_exc()
    try:
        import does_not_exist
    except ImportError as error:
        missing = str(error)
    from pyodide.ffi import can_run_sync, run_sync

    async def later() -> str:
        await asyncio.sleep(0)
        return "later"

    return json.dumps(
        {
            "tools": [tool.model_dump(mode="json") for tool in await server.list_tools()],
            "globals": sorted(name for name in globals() if not name.startswith("__")),
            "greeting": greeting,
            "loop": [type(loop).__name__, loop.is_running(), len(asyncio.all_tasks())],
            "logging": [root.level, len(root.handlers), logging.getLogger("probe").level, logging.root.manager.disable],
            "context": [place.get(), sorted(var.name for var in contextvars.copy_context())],
            "invalid": invalid,
            "trace": trace,
            "missing": missing,
            "environ": dict(os.environ),
            "locale": locale.setlocale(locale.LC_CTYPE),
            "zone": [time.timezone, time.altzone, time.daylight, time.tzname, time.strftime("%Z")],
            "year": time.gmtime().tm_year,
            "path": sys.path,
            "folder": os.getcwd(),
            "installed": sorted(found.name for found in distributions()),
            "here": sorted(os.listdir(".")),
            "finders": [getattr(finder, "__name__", type(finder).__name__) for finder in sys.meta_path],
            "browser": sys._emscripten_info.runtime,
            "run_sync": run_sync(later()) if can_run_sync() else None,
            "streams": [sys.stdin.encoding, sys.stdout.encoding, sys.stdout.line_buffering],
        },
        sort_keys=True,
    )


@server.tool()
def documented() -> str:
    """The documentation of what a page has at its start, before and after somebody reads it."""
    import contextlib, inspect, io, json, textwrap

    import anyio
    from mcp.server.mcpserver import MCPServer

    read = [json.JSONDecoder.raw_decode, MCPServer.list_tools, anyio.abc.TaskGroup, textwrap]
    before = [each.__doc__ is None for each in read]
    tools = [textwrap.shorten.__doc__, random.randint.__doc__]
    text = inspect.getdoc(MCPServer.list_tools)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        help(json.JSONDecoder)
    after = [each.__doc__.strip().splitlines()[0] for each in read]
    return json.dumps([before, tools, text, "Decode a JSON document from" in printed.getvalue(), after])


@server.tool()
def collected() -> str:
    """Whether there are many objects that are never collected, all are tracked, and cycles are collected among them."""
    import gc, json, weakref

    class Cycle:
        pass

    frozen = gc.get_freeze_count()
    gc.unfreeze()
    tracked = len(gc.get_objects())
    cycle = Cycle()
    cycle.itself, gone = cycle, weakref.ref(cycle)
    del cycle
    gc.collect()
    return json.dumps([frozen > 50_000, tracked >= frozen, gone() is None, len(gc.get_objects()) > 50_000])


@server.tool()
async def asked() -> str:
    """What a client of the SDK in this page gets, and whether that was imported before."""
    import json, sys
    import mcp

    before = "mcp.client.client" in sys.modules
    async with mcp.Client(server) as client:
        result = await client.call_tool("age", {})
    session = mcp.client.session.ClientSession.__name__
    return json.dumps([before, result.is_error, session, "httpx" in sys.modules])


@server.tool()
def used() -> str:
    """Which modules that no start runs are there before one is used, and what they are then."""
    import asyncio.base_events
    import inspect, json, sys

    from mcpframe.frame.compat.later_modules import NAMES

    before = sorted(name for name in NAMES if name in sys.modules)
    flag = inspect.dis.COMPILER_FLAG_NAMES[1]
    import html, locale, subprocess, sysconfig, tempfile, zipfile
    from pyodide._package_loader import NamedTemporaryFile, ZipFile

    with tempfile.TemporaryDirectory() as folder:
        with ZipFile(f"{folder}/some.zip", "w") as packed:
            packed.writestr("text", "some")
        is_zip = zipfile.is_zipfile(f"{folder}/some.zip")
    with NamedTemporaryFile() as file:
        file.write(b"some")
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    is_same = asyncio.base_events.subprocess is subprocess and type(packed) is zipfile.ZipFile
    known = [html.unescape("&eacute;"), locale.normalize("de_AT"), inspect.getmodule(tempfile.mkdtemp).__name__]
    return json.dumps([before, flag, is_zip, suffix, is_same, known])


@server.tool()
def chance() -> list[str]:
    """What has to be another one for everybody."""
    import os, secrets, uuid

    generated = random.Random()
    return [
        str(uuid.uuid4()),
        secrets.token_hex(),
        os.urandom(16).hex(),
        str(random.random()),
        str(generated.random()),
        HandleCodec().seal(b""),
    ]


@server.tool()
def age() -> float:
    """How many seconds the log believes to have run."""
    record = logging.LogRecord("probe", logging.INFO, "", 0, "", (), None)
    return record.relativeCreated / 1000
'''

SECRET = '''
import secrets

from mcpframe import FrameServer

server = FrameServer("secretive", allowed_origins=["*"])
TOKEN = secrets.token_hex()


@server.tool()
def token() -> str:
    """The secret of this visit."""
    return TOKEN
'''


SECRETLESS = SECRET.replace("secrets.token_hex()", '"none"')


CHANCE_OF_NATIVE_CODE = '''
import random

from pydantic import BaseModel, Field

from mcpframe import FrameServer

server = FrameServer("lucky", allowed_origins=["*"])


class Draw(BaseModel):
    number: float = Field(default_factory=random.random)


DRAWN = Draw()


@server.tool()
def token() -> str:
    """The luck of this visit."""
    return str(DRAWN.number)
'''


SQLITE = """
import sqlite3

from mcpframe import FrameServer

server = FrameServer("numbers", allowed_origins=["*"])
base = sqlite3.connect(":memory:")
{at_import}


@server.tool()
def number() -> str:
    \"\"\"A number by chance, as SQLite's own generator gives it.\"\"\"
    return base.execute("select hex(randomblob(16))").fetchone()[0]
"""

CTYPES = '''
import ctypes

from mcpframe import FrameServer

server = FrameServer("ctypes", allowed_origins=["*"])
{at_import}


@server.tool()
def call() -> int:
    """Calls a function of Python as native code does."""
    return ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 7)()
'''

NATIVE = '''
import json
{at_import}
import msgspec

from mcpframe import FrameServer, load

server = FrameServer("native", allowed_origins=["*"])


class Point(msgspec.Struct):
    x: int


@server.tool()
async def decode(text: str) -> str:
    """Decodes a point with one native library, and hashes it with another that comes only now."""
    await load("xxhash")
    import xxhash

    return f"{msgspec.json.decode(text, type=Point).x} {xxhash.xxh32(b"abc").hexdigest()}"
'''


def built(folder: Path, server: str, *, snapshot: bool = True) -> BuildResult:
    return build(write_project(folder / "project", server=server), folder / "out", snapshot=snapshot)


@pytest.fixture(scope="module")
def stateful(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output root of `SERVER`, with a snapshot. Not to be changed."""
    folder = tmp_path_factory.mktemp("stateful")
    result = built(folder, SERVER)
    assert result.manifest["start"] == "starts from a snapshot with the server imported"
    return folder / "out"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output root of `SERVER`, without a snapshot. Not to be changed."""
    folder = tmp_path_factory.mktemp("plain")
    built(folder, SERVER, snapshot=False)
    return folder / "out"


def answer(text: str) -> Any:
    result = json.loads(text)
    assert not result.get("isError"), result
    return json.loads(result["content"][0]["text"])


def starts(page: Page) -> set[str]:
    """The marks that the framed page has set."""
    frame = page.frames[1]
    return set(frame.evaluate("() => performance.getEntriesByType('mark').map(({ name }) => name)"))


RESTORED = "mcpframe:restored"


@pytest.fixture
def abroad(browser: Browser) -> Iterator[Page]:
    """A page of a visitor whose language and time zone are not those of the build."""
    context = browser.new_context(locale="de-AT", timezone_id="Australia/Adelaide")
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


OLD_IPHONE = """
for (const name of ["Suspending", "promising", "Function"]) delete WebAssembly[name];
Object.defineProperty(navigator, "userAgent", { value: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)" });
"""
"""Chromium without stack switching, and in which Python does without its call trampoline."""


@pytest.mark.parametrize("changes", ["", extended(OLD_IPHONE)], ids=["Chromium", "an old iPhone"])
def test_the_state_is_the_one_of_a_plain_start(
    abroad: Page, host: str, serving: Serving, stateful: Path, plain: Path, changes: str
) -> None:
    page = abroad
    page.add_init_script(changes)
    restored = answer(call(page, host, f"{serving(stateful)}/adder/", "state"))
    assert RESTORED in starts(page)
    expected = answer(call(page, host, f"{serving(plain)}/adder/", "state"))
    assert RESTORED not in starts(page)
    assert restored == expected
    assert restored["run_sync"] == (None if changes else "later")
    assert restored["environ"]["LANG"] == "de_AT.UTF-8"
    assert restored["zone"][0] == -34200


def test_docstrings_of_libraries_come_back_when_they_are_read(
    page: Page, host: str, serving: Serving, stateful: Path, plain: Path
) -> None:
    restored = answer(call(page, host, f"{serving(stateful)}/adder/", "documented"))
    assert RESTORED in starts(page)
    before, tools, text, printed, after = restored
    assert before == [True] * 4, "the snapshot has none that nothing but help reads"
    assert [text.split()[0] for text in tools] == ["Collapse", "Return"], "an author may make tools of these"
    assert text == after[1] == "List all available tools."
    assert printed
    assert [text.split()[0] for text in after] == ["Decode", "List", "Groups", "Text"]
    assert answer(call(page, host, f"{serving(plain)}/adder/", "documented")) == restored


def test_objects_are_collected(page: Page, host: str, serving: Serving, stateful: Path) -> None:
    assert answer(call(page, host, f"{serving(stateful)}/adder/", "collected")) == [True] * 4
    assert RESTORED in starts(page)
    [layer] = stateful.glob("_mcpframe/layer.*.bin")
    content = zstd.decompress(layer.read_bytes())
    size = 4 + int.from_bytes(content[:4], "little")
    assert json.loads(content[4:size])["links"], "the list of them is stored as distances"


def test_what_earlier_objects_left_behind_others_is_in_no_layer(stateful: Path) -> None:
    """A string is behind its block's size, and its references, type, length, hash and state: see `zeroed_malloc`."""
    [layer] = stateful.glob("_mcpframe/layer.*.bin")
    memory = filled(layer.read_bytes(), b"")
    rests: list[bytes] = []
    for name in sorted(sys.stdlib_module_names):
        for match in re.finditer(rb"%b\0" % name.encode(), memory):
            block = match.start() - 20
            size, _, _, length, _, state = struct.unpack_from("<6I", memory, block - 4)
            rest = memory[match.end() : block + (size & ~7) - 4]
            if block % 4 == 0 and size & 6 == 2 and length == len(name) and state & 0x60 == 0x60 and len(rest) < 28:
                rests.append(rest)
    assert sum(map(any, rests)) < len(rests) / 50, "of a few, the block was made smaller"
    assert len(rests) > 500


def test_the_client_of_the_sdk_is_imported_when_it_is_used(
    page: Page, host: str, serving: Serving, stateful: Path, plain: Path
) -> None:
    expected = [False, False, "ClientSession", False]
    assert answer(call(page, host, f"{serving(stateful)}/adder/", "asked")) == expected
    assert RESTORED in starts(page)
    assert answer(call(page, host, f"{serving(plain)}/adder/", "asked")) == expected


def test_modules_that_no_start_runs_are_imported_when_they_are_used(
    page: Page, host: str, serving: Serving, stateful: Path, plain: Path
) -> None:
    before, *restored = answer(call(page, host, f"{serving(stateful)}/adder/", "used"))
    assert RESTORED in starts(page)
    assert before == []
    assert restored[0] == "OPTIMIZED"
    assert restored[3] is True
    _, *expected = answer(call(page, host, f"{serving(plain)}/adder/", "used"))
    assert restored == expected


def test_chance_is_another_one_for_everybody(page: Page, host: str, serving: Serving, stateful: Path) -> None:
    url = f"{serving(stateful)}/adder/"
    drawn = [json.loads(call(page, host, url, "chance"))["structuredContent"]["result"] for _ in range(2)]
    assert RESTORED in starts(page)
    assert len({*drawn[0], *drawn[1]}) == 2 * len(drawn[0])
    assert json.loads(call(page, host, url, "age"))["structuredContent"]["result"] < 60


@pytest.mark.parametrize(
    ("server", "told"), [(SECRET, "server.py, line 7, asks for"), extended(CHANCE_OF_NATIVE_CODE, "as it asks for")]
)
def test_a_secret_made_at_import_is_not_published(
    page: Page, host: str, serving: Serving, tmp_path: Path, server: str, told: str
) -> None:
    result = built(tmp_path, server)
    assert result.manifest["snapshot"]["layers"] == ["sdk"]
    assert f"{told} randomness when it is imported" in result.manifest["start"]
    url = f"{serving(tmp_path / 'out')}/adder/"
    tokens = {call(page, host, url, "token") for _ in range(2)}
    assert RESTORED in starts(page)
    assert len(tokens) == 2


@pytest.mark.parametrize(
    ("at_import", "layers"),
    [extended("", ["sdk", "server"]), ("TOKEN = base.execute('select randomblob(16)').fetchone()", ["sdk"])],
)
def test_what_native_code_draws_by_chance_is_another_one_for_everybody(
    page: Page, host: str, serving: Serving, tmp_path: Path, at_import: str, layers: list[str]
) -> None:
    result = built(tmp_path, SQLITE.replace("{at_import}", at_import))
    assert result.manifest["snapshot"]["layers"] == layers, result.manifest["start"]
    url = f"{serving(tmp_path / 'out')}/adder/"
    numbers = {call(page, host, url, "number") for _ in range(2)}
    assert RESTORED in starts(page)
    assert len(numbers) == 2


@pytest.mark.extended
@pytest.mark.parametrize(
    ("at_import", "layers"), [("", ["server"]), extended("import secrets; secrets.token_hex()", ["sdk"])]
)
def test_native_libraries_of_the_author_work(
    page: Page, host: str, serving: Serving, tmp_path: Path, at_import: str, layers: list[str]
) -> None:
    project = write_project(
        tmp_path / "project", 'lazy = ["xxhash"]', NATIVE.replace("{at_import}", at_import), '["msgspec"]'
    )
    result = build(project, tmp_path / "out", snapshot=True)
    assert result.manifest["snapshot"]["layers"] == layers
    text = '{"x":7}'
    said = json.loads(call(page, host, f"{serving(tmp_path / 'out')}/adder/", "decode", json.dumps({"text": text})))
    assert said.get("structuredContent") == {"result": "7 32d153ff"}, said
    assert RESTORED in starts(page)


@pytest.mark.extended
@pytest.mark.parametrize(
    ("at_import", "layers"),
    [
        ("", ["sdk", "server"]),
        ("KEPT = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 1)", ["sdk", "parts"]),  # with sysconfig, as ctypes imports it
    ],
)
def test_a_restored_page_lacks_no_function_that_native_code_calls(
    page: Page, host: str, serving: Serving, tmp_path: Path, at_import: str, layers: list[str]
) -> None:
    result = built(tmp_path, CTYPES.replace("{at_import}", at_import))
    assert result.manifest["snapshot"]["layers"] == layers, result.manifest["start"]
    assert answer(call(page, host, f"{serving(tmp_path / 'out')}/adder/", "call")) == 7
    assert RESTORED in starts(page)


LINE = "Object.defineProperty(navigator, 'connection', {{ value: {{ effectiveType: '{kind}', saveData: {saving} }} }})"
KNOWN = """([url, name, integrity]) => {
    localStorage.clear();
    const { pathname } = new URL(".", new URL(url, document.baseURI));
    localStorage.setItem(`mcpframe snapshot ${pathname}${name}`, integrity);
}"""
"""Remembers one layer, as if another page of its site had fetched it."""
REMEMBERED = "() => Object.keys(localStorage).some((key) => key.startsWith('mcpframe snapshot '))"


def with_large_decoder(out: Path, folder: Path) -> Path:
    """A copy whose snapshot needs more bytes, as its page says, than a start without it, until a layer was fetched."""
    copy = copied(out, folder)
    document = copy / "adder" / "index.html"
    changed, count = re.subn(r'"decoder":{"bytes":', r"\g<0>1000", document.read_text("utf-8"))
    assert count == 1
    document.write_text(changed, "utf-8")
    (document.parent / "index.html.gz").unlink()
    return copy


@pytest.mark.extended
def test_a_slow_line_starts_without_it_once(
    page: Page, host: str, serving: Serving, stateful: Path, tmp_path: Path
) -> None:
    page.add_init_script(LINE.format(kind="3g", saving="false"))
    # Of the host's site, so that it may store something there.
    url = f"{serving(with_large_decoder(stateful, tmp_path), 'bundle.host')}/adder/"
    call(page, host, url, "age")
    assert RESTORED not in starts(page)
    page.frames[1].wait_for_function(REMEMBERED)  # it is fetched once the page has nothing else to do
    call(page, host, url, "age")
    assert RESTORED in starts(page)


def test_a_slow_line_starts_with_whatever_needs_fewer_bytes(
    page: Page, host: str, serving: Serving, stateful: Path, tmp_path: Path
) -> None:
    """The SDK's layer is known from another server of the site: the server's own is smaller than the files."""
    page.add_init_script(LINE.format(kind="3g", saving="false"))
    copy = with_large_decoder(stateful, tmp_path)
    url = f"{serving(copy, 'bundle.host')}/adder/"
    call(page, host, url, "age")
    assert RESTORED not in starts(page)
    sdk, own = json.loads(page.frames[1].locator("#mcpframe-boot").text_content() or "")["files"]["snapshot"]["layers"]
    page.frames[1].evaluate(KNOWN, [sdk["url"], sdk["name"], sdk["integrity"]])
    assert own["bytes"] < sdk["bytes"] / 10
    call(page, host, url, "age")
    assert RESTORED in starts(page)


@pytest.mark.extended
def test_nothing_is_fetched_for_next_time_where_data_is_to_be_saved(
    page: Page, host: str, serving: Serving, stateful: Path, tmp_path: Path
) -> None:
    copy = with_large_decoder(stateful, tmp_path)
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.add_init_script(LINE.format(kind="4g", saving="true"))
    # The clock is the test's, so that the time has passed when a snapshot would have been fetched.
    page.clock.install()
    call(page, host, f"{serving(copy, 'bundle.host')}/adder/", "age")
    page.clock.run_for(60_000)
    call(page, host, f"{serving(copy, 'bundle.host')}/adder/", "age")
    assert RESTORED not in starts(page)
    assert not [url for url in fetched if "snapshot" in url]


@pytest.mark.extended
def test_a_browser_that_crashes_is_tried_again_now_and_by_the_next_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_to, crashes = DevToolsPage.navigate, [True, True]
    run, steps = snapshot_page.OpenedBundle.run, [""]

    async def crash(page: DevToolsPage, url: str) -> None:
        await go_to(page, "chrome://crash" if steps[-1] == "take" and crashes and crashes.pop() else url)

    def note(page: snapshot_page.OpenedBundle, job: Mapping[str, Any], **options: Any) -> Any:
        steps.append(job["step"])
        return run(page, job, **options)

    monkeypatch.setattr(DevToolsPage, "navigate", crash)
    monkeypatch.setattr(snapshot_page.OpenedBundle, "run", note)
    new = f"{SERVER}\n# {tmp_path} {time.time_ns()}\n"  # that no cache has
    told = built(tmp_path, new).manifest["start"]
    assert told.startswith("starts from a snapshot of the SDK")
    assert "the page for it fails (chrome://crash cannot be loaded (" in told
    assert not crashes
    crashes.append(True)
    again = built(tmp_path, new)
    assert not crashes
    assert not again.unchanged
    assert again.manifest["start"] == "starts from a snapshot with the server imported"
    assert built(tmp_path, new).unchanged


@pytest.mark.usefixtures("stateful")
def test_a_new_project_takes_no_snapshot_of_the_sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = snapshot_page.OpenedBundle.run
    steps: list[tuple[str, str, list[str]]] = []

    def note(page: snapshot_page.OpenedBundle, job: Mapping[str, Any], **options: Any) -> Any:
        snapshot = options.get("snapshot")
        steps.append((job["step"], options["layer"], [layer.name for layer in snapshot.layers] if snapshot else []))
        return run(page, job, **options)

    monkeypatch.setattr(snapshot_page.OpenedBundle, "run", note)
    result = built(tmp_path, f"{SECRETLESS}\n# {tmp_path} {time.time_ns()}\n")  # that no cache has
    assert steps == [
        ("run", "server", ["sdk"]),  # it is compiled and imported
        ("take", "server", ["sdk"]),
        ("check", "server", ["sdk", "server"]),
    ]
    [own] = result.folder.glob("snapshot.*.bin")
    assert own.stat().st_size < 300_000


TABLES = '''
"""A server of tables."""
import tabulate

from mcpframe import FrameServer

server = FrameServer("tables", allowed_origins=["*"])


@server.tool()
def table(names: list[str]) -> str:
    """Return a table."""
    return tabulate.tabulate([[name] for name in names], tablefmt="plain")
'''


def test_large_requirements_have_a_layer_below_the_server_s(
    page: Page, host: str, serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_imports, "_LARGE", 1)
    project, out = write_project(tmp_path / "project", server=TABLES, dependencies='["tabulate"]'), tmp_path / "out"
    found = []
    for change in ("", "\nCHANGED = 'a text that the memory has'\n"):
        (project / "server.py").write_text(TABLES + change)
        result = build(project, out, snapshot=True)
        assert result.manifest["snapshot"]["layers"] == ["sdk", "packages", "server"], result.manifest["start"]
        [own] = result.folder.glob("snapshot.*.bin")
        assert own.stat().st_size < 300_000
        found.append((own.name, {path.name for path in (out / "_mcpframe").glob("layer.*.bin")}))
    (first, shared), (second, shared_later) = found
    assert first != second
    assert shared == shared_later
    assert len(shared) == 2
    url = f"{serving(out)}/adder/"
    said = json.loads(call(page, host, url, "table", json.dumps({"names": ["a", "b"]})))
    assert said["structuredContent"] == {"result": "a\nb"}
    assert RESTORED in starts(page)


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose requirement has a layer."""
    monkeypatch.setattr(first_imports, "_LARGE", 1)
    return write_project(tmp_path / "project", server=TABLES, dependencies='["tabulate"]')


def test_requirements_are_in_the_snapshot_of_a_server_that_is_not(
    page: Page, host: str, serving: Serving, tables: Path, tmp_path: Path
) -> None:
    drawing = TABLES.replace("\nserver =", "\nTOKEN = __import__('secrets').token_hex()\nserver =")
    (tables / "server.py").write_text(drawing)
    result = build(tables, tmp_path / "out", snapshot=True)
    assert result.manifest["start"].startswith("starts from a snapshot of the SDK and its requirements; the server is")
    assert result.manifest["snapshot"]["layers"] == ["sdk", "packages"]
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url.rpartition("/")[2].partition(".")[0]))
    said = call(page, host, f"{serving(tmp_path / 'out')}/adder/", "table", json.dumps({"names": ["a", "b"]}))
    assert json.loads(said)["structuredContent"] == {"result": "a\nb"}
    assert RESTORED in starts(page)
    assert "server" in fetched
    assert not {"packages", "base", "std"}.intersection(fetched)


def test_a_draft_starts_with_the_requirements_that_the_last_build_imported(tables: Path, tmp_path: Path) -> None:
    layers = []
    for change in ("", "\nCHANGED = 1\n", "\nimport json\n"):
        (tables / "server.py").write_text(f"{TABLES}{change}")
        layers.append(build(tables, tmp_path / "out", snapshot=True, draft=True).manifest["snapshot"]["layers"])
    assert layers == [["sdk", "packages"]] * 3
    (tables / "server.py").write_text(f"import csv\n{TABLES}")  # what it imports first may change what it can find
    assert build(tables, tmp_path / "out", snapshot=True, draft=True).manifest["snapshot"]["layers"] == ["sdk"]


def test_who_may_embed_the_page_changes_nothing_in_it(
    stateful: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [taken] = (stateful / "adder").glob("snapshot.*.bin")
    project = write_project(tmp_path / "project", server=SERVER)
    monkeypatch.setattr(build_browser.Chromium, "_opened", lambda _: pytest.fail("it opens a page"))
    for number, host in enumerate(("https://canary.example", "http://localhost:8001")):
        result = build(project, tmp_path / str(number), allowed_origins=[host])
        [path] = result.folder.glob("snapshot.*.bin")
        assert path.read_bytes() == taken.read_bytes()
        assert f'"allowed_origins":["{host}"]' in (result.folder / "index.html").read_text()


def test_the_browser_reaches_nothing_but_its_page(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        table = f'csp.connect_src = ["{address}"]\ncsp.img_src = ["{address}"]'
        reaching = f"""
import js
js.fetch("{address}/fetched")
js.navigator.sendBeacon("{address}/beacon", "x")
js.document.createElement("img").src = "{address}/image"
js.window.open("{address}/window")
"""
        project = write_project(tmp_path / "project", table, f"{SERVER}\n{reaching}")
        told = build(project, tmp_path / "out").manifest["start"]
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert "asks for the browser (js.fetch) when it is imported" in told


@pytest.mark.extended
def test_nothing_fails_in_the_console_while_a_snapshot_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hear, heard = snapshot_page.Follower.hear, [""]

    def listening(follower: snapshot_page.Follower, line: ConsoleLine) -> None:
        heard.append(line.text)
        hear(follower, line)

    monkeypatch.setattr(snapshot_page.Follower, "hear", listening)
    told = built(tmp_path, f"{SERVER}\n# {tmp_path} {time.time_ns()}\n").manifest["start"]
    assert told == "starts from a snapshot with the server imported"
    assert len(heard) > 1
    assert not [text for text in heard if "Illegal invocation" in text]


ENDLESS_IN_A_SNAPSHOT = """
from datetime import datetime
while datetime.now().year < 2026:  # as the clock says while a snapshot is taken
    pass
"""


@pytest.mark.extended
def test_a_module_that_never_returns_while_a_snapshot_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_limits, "SILENCE", 5.0)
    told = built(tmp_path, f"{SERVER}\n{ENDLESS_IN_A_SNAPSHOT}").manifest["start"]
    assert told.startswith("starts from a snapshot of the SDK")
    assert "in 5 seconds while it imports server" in told


CLAIMS_TO_IMPORT = """
import sys
while True:
    for _ in range(100_000):
        pass
    print("mcpframe: imports more", file=sys.__stderr__)
"""


@pytest.mark.extended
def test_a_module_that_says_for_ever_that_it_imports_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_limits, "IMPORTING", 10.0)
    endless = "from datetime import datetime\nif datetime.now().year < 2026:\n" + indent(CLAIMS_TO_IMPORT, "    ")
    told = built(tmp_path, f"{SERVER}\n{endless}").manifest["start"]
    assert told.startswith("starts from a snapshot of the SDK")
    assert "10 seconds while it imports more" in told


def test_nothing_of_the_machine_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPFRAME_CACHE", str(cache_dir()))  # that stays where it is
    home = tmp_path / "canary-home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("USER", "LOGNAME", "PROBE", "LANG", "TZ"):
        monkeypatch.setenv(name, f"canary-{name.lower()}")
    result = built(tmp_path / "canary-folder", SERVER + "\n# of another home\n")
    [path] = result.folder.glob("snapshot.*.bin")
    memory = zstd.decompress(path.read_bytes())
    assert b"What must not depend on how the page has started." in memory  # as the server is in it
    for word in (
        "canary",
        str(checkout_dir()),
        str(cache_dir()),
        *(name for name in [socket.gethostname()] if len(name) > 5),  # a shorter one may be there by chance
        "HeadlessChrome",
    ):
        for encoding in ("utf-8", "utf-16-le", "utf-32-le"):
            assert word.encode(encoding) not in memory, word


def changed_boot(out: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change what the page knows of its snapshot."""
    index = out / "adder" / "index.html"
    index.with_name("index.html.gz").unlink()

    def put(match: re.Match[str]) -> str:
        boot = json.loads(match[2])
        change(boot["files"]["snapshot"])
        return match[1] + json.dumps(boot).replace("<", "\\u003c") + match[3]

    pattern = r'(<script type="application/json" id="mcpframe-boot">)(.*?)(</script>)'
    index.write_text(re.sub(pattern, put, index.read_text(), flags=re.DOTALL))


def changed_layer(out: Path, **changes: object) -> None:
    """Change what the boot config says of the server's layer."""
    changed_boot(out, lambda snapshot: snapshot["layers"][1].update(changes))


def changed_meta(out: Path, layer: int, **changes: object) -> None:
    """Change what a layer says of itself, with a right hash."""
    [path] = out.glob(("_mcpframe/layer.*.bin", "adder/snapshot.*.bin")[layer])
    whole = zstd.decompress(path.read_bytes())
    length = int.from_bytes(whole[:4], "little")
    meta = json.dumps({**json.loads(whole[4 : 4 + length]), **changes}).encode()
    meta += b" " * ((length - len(meta)) % 4)  # what follows begins at a word
    whole = len(meta).to_bytes(4, "little") + meta + whole[4 + length :]
    path.write_bytes(zstd.compress(whole, 1))
    integrity = "sha256-" + base64.b64encode(hashlib.sha256(path.read_bytes()).digest()).decode()
    told = {"integrity": integrity, "bytes": path.stat().st_size, "unpacked": len(whole)}
    changed_boot(out, lambda snapshot: snapshot["layers"][layer].update(told))


def lost(out: Path) -> None:
    [path] = (out / "adder").glob("snapshot.*.bin")
    path.unlink()


def damaged(out: Path) -> None:
    [path] = (out / "adder").glob("snapshot.*.bin")
    path.write_bytes(path.read_bytes()[:-100_000])


def without_decoder(out: Path) -> None:
    for path in (out / "_mcpframe").glob("zstd.*.wasm*"):
        path.unlink()


GUARDS: dict[str, tuple[Callable[[Path], None], str]] = {
    "length": (lambda out: changed_layer(out, unpacked=1), "not as long as it was"),
    "missing": (lost, "is missing (the web server answers 404)"),
    "decoder": (without_decoder, ".wasm is missing (the web server answers 404)"),
    "hash": (damaged, "its hash is wrong"),
    "table": (lambda out: changed_meta(out, 1, table=1), "its table has 1 entries"),
    "memory": (lambda out: changed_meta(out, 1, memory=65536), "another size of memory"),
    "build": (lambda out: changed_boot(out, lambda it: it.update(build="0" * 64)), "Snapshot build id mismatch"),
    "start": (lambda out: changed_meta(out, 0, check=1), "memory at the start is different"),
    "references": (
        lambda out: changed_layer(out, references={"hiwireKeys": [{"path": ["no", "such"]}], "immortalKeys": []}),
        "undefined",
    ),
}


@pytest.mark.parametrize("guard", except_for(GUARDS, "start"))
def test_what_does_not_fit_is_not_used(
    page: Page, host: str, serving: Serving, stateful: Path, tmp_path: Path, guard: str
) -> None:
    out = copied(stateful, tmp_path)
    break_it, reason = GUARDS[guard]
    break_it(out)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if "snapshot" in message.text else None)
    assert answer(call(page, host, f"{serving(out)}/adder/", "state"))["greeting"] == {"words": ["hello"]}
    [line] = [text for text in said if text.startswith("The snapshot of this page is not used (")]
    assert reason in line
    assert line.endswith("it starts without it.")


NO_WORKER = "delete globalThis.Worker"
FORBIDDEN_WORKER = "globalThis.Worker = class { constructor() { throw new Error('not allowed') } }"
DEAD_WORKER = """
globalThis.Worker = class {
  constructor() { setTimeout(() => this.onerror(new ErrorEvent("error", { cancelable: true })), 50); }
  postMessage() {}
  terminate() {}
};
"""
SILENT_WORKER = "globalThis.Worker = class { postMessage() {} terminate() {} }"


@pytest.mark.parametrize(
    "changes",
    ["", DEAD_WORKER, extended(NO_WORKER), extended(FORBIDDEN_WORKER), extended(SILENT_WORKER)],
    ids=["a worker", "one that fails", "none", "a forbidden one", "one that never begins"],
)
def test_a_worker_unpacks_it_where_there_is_one(
    page: Page, host: str, serving: Serving, stateful: Path, changes: str
) -> None:
    began: list[str] = []
    page.on("worker", lambda worker: began.append(worker.url))
    page.add_init_script(changes)
    assert answer(call(page, host, f"{serving(stateful)}/adder/", "state"))["greeting"] == {"words": ["hello"]}
    assert RESTORED in starts(page)
    assert len(began) == (0 if changes else 1)
    assert not page.workers  # it has ended


@pytest.mark.extended
@pytest.mark.parametrize("sandbox", [extended(None), "allow-scripts"], ids=["framed", "opaque"])
def test_several_frames_start_at_once(
    page: Page, host: str, serving: Serving, stateful: Path, tmp_path: Path, sandbox: str | None
) -> None:
    url = f"{serving(stateful)}/adder/"
    page.goto(host)
    attribute = f'sandbox="{sandbox}"' if sandbox else ""
    page.set_content(f'<iframe src="{url}" {attribute}></iframe>' * 3)
    for number in range(3):
        frame = page.frame_locator("iframe").nth(number)
        expect(frame.locator("#mcpframe-page")).to_have_attribute("data-state", "ready", timeout=PATIENCE)
    for inner in page.frames[1:]:
        assert inner.evaluate("() => performance.getEntriesByName('mcpframe:restored').length") == 1


AGAIN = """(tool) => new Promise((answered) => {
    addEventListener("message", ({ data }) => data.payload?.id === 3 && answered(JSON.stringify(data.payload.result)));
    say({ jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: tool, arguments: {} } });
})"""


# The page fetches when it has been quiet for two seconds: so when the test says so.
WHEN_QUIET = """
const later = setTimeout;
globalThis.quiet = [];
globalThis.setTimeout = (act, delay, ...more) => delay === 2000 ? quiet.push(act) : later(act, delay, ...more);
"""


@pytest.mark.extended
def test_the_files_of_the_library_come_by_themselves(page: Page, host: str, serving: Serving, stateful: Path) -> None:
    library = re.compile(r"/stdlib\.zip\.\w+\.wasm$")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if library.search(request.url) else None)
    page.add_init_script(WHEN_QUIET)
    call(page, host, f"{serving(stateful)}/adder/", "age")
    assert not asked
    with page.expect_request_finished(lambda request: bool(library.search(request.url))):
        page.frames[1].evaluate("() => quiet.forEach((act) => act())")
    page.frames[1].evaluate("() => mcpframeComplete()")  # until then Python would fetch them once more
    assert answer(page.evaluate(AGAIN, "state"))["run_sync"] == "later"  # it imports what is not there
    assert len(asked) == 1
    assert RESTORED in starts(page)
