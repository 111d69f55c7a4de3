"""A build's report on its snapshot, and its checks while the author's module is imported."""

from __future__ import annotations

import copy
import json
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from starlette.requests import Request

from mcpframe.frame.compat import later_modules
from mcpframe.kit.bundle.assembly.assets import asset
from mcpframe.kit.bundle.assembly.index_page import boot_of
from mcpframe.kit.bundle.assembly.snapshot_file import PACKAGES, PARTS, SDK, SERVER, LayerFile
from mcpframe.kit.bundle.pyodide.job_texts import job_text
from mcpframe.kit.bundle.snapshot import build_browser, build_site, camera, layers, memory, reasons, snapshot_page

LAYER = layers.SnapshotLayer(SERVER, layers._SDK, server=layers.Server("x", "server:server", "server", None))
NOTHING = {"error": None, "asked": None, "tasks": 0, "written": [], "opened": [], "modules": []}


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ({}, ""),
        (
            {"asked": {"what": "randomness", "file": "server.py", "line": 3}},
            "server.py, line 3, asks for randomness when it is imported",
        ),
        (
            {"asked": {"what": "randomness", "file": "server.py", "line": 3, "library": "torchy"}},
            "server.py, line 3, imports or calls torchy, which asks for randomness when it is imported",
        ),
        ({"asked": {"what": "js.location"}}, "it asks for the browser (js.location) when it is imported"),
        ({"tasks": 2}, "it starts tasks when it is imported"),
        ({"written": ["/tmp/x"]}, "it writes /tmp/x when it is imported"),
        ({"opened": ["/mcpframe/server/x"]}, "it keeps /mcpframe/server/x open"),
        ({"held": "Can't serialize object at index 9"}, "it holds JavaScript objects when it is imported"),
        ({"error": {"what": "ValueError: no"}}, "its import raises ValueError: no there"),
    ],
)
def test_the_reason_is_one_an_author_understands(found: dict[str, Any], reason: str) -> None:
    assert reasons.reason({"found": {**NOTHING, **found}}) == reason


def test_a_failure_of_the_page_is_told() -> None:
    assert reasons.reason({"failure": "no luck.\nmore"}) == "the page for it fails (no luck)"


def test_without_a_browser_there_is_none_and_the_author_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_browser, "find_chromium", lambda: None)
    with camera.camera() as taking:
        taking.prepare()
        taken = taking.take("x", [asset("x/index.html", b"")], [LAYER, layers._SDK])
    assert taken.snapshot is None
    assert "install Chromium or Chrome" in taken.description
    assert not taken.final


BOOT: dict[str, Any] = {
    "title": "x",
    "allowed_origins": ["https://chat.example"],
    "files": {
        "pyodide": {"url": "../_mcpframe/pyodide-1/pyodide.mjs", "integrity": "sha256-p"},
        "asm": {"url": "../_mcpframe/pyodide-1/pyodide.asm.mjs", "integrity": "sha256-a"},
        "wasm": {"url": "../_mcpframe/pyodide-1/pyodide.asm.wasm", "integrity": "sha256-w"},
        "libraries": [
            {"url": "../_mcpframe/core.1.wasm", "integrity": "sha256-c", "path": "/lib/core.so"},
            {"url": "../_mcpframe/more.1.wasm", "integrity": "sha256-m", "path": "/mcpframe/packages/more.so"},
        ],
        "archives": [{"url": "server.1.zip", "own": True}],
        "paths": ["/mcpframe/packages"],
        "env": {"PYTHONPATH": "/lib"},
        "lock": {"packages": {}},
    },
}


class Browser(snapshot_page.OpenedBundle):
    """A browser that has nothing but what a page sends of memory before Python runs."""

    def __init__(self, boot: Mapping[str, Any] = BOOT, loader: bytes = b"loader") -> None:
        index = f'<script type="application/json" id="mcpframe-boot">{json.dumps(boot)}</script>'
        bundle = {"x/index.html": index.encode(), "_mcpframe/loader.1.js": loader, "_mcpframe/base.1.zip": b"zip"}
        super().__init__(bundle, "x", build_browser.Chromium())
        self.asked: list[Mapping[str, Any]] = []

    def run(self, job: Mapping[str, Any], **_: object) -> tuple[dict[str, Any], dict[str, bytes]]:
        self.asked.append(job)
        return {"drawnOrTimed": [8], "bases": {}}, {"start": struct.pack("<4I", 1, 64, 16, 4) + b"some"}


@pytest.fixture
def chromium(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path / "cache"))
    program = tmp_path / "chromium"
    program.write_bytes(b"")
    program.chmod(0o755)
    monkeypatch.setenv("MCPFRAME_CHROMIUM", str(program))
    return program


def changed(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    boot = copy.deepcopy(BOOT)
    change(boot)
    return boot


@pytest.mark.usefixtures("chromium")
def test_memory_before_python_runs_is_looked_at_once() -> None:
    # The author's files, and what the page is called, come only later.
    later = changed(lambda boot: boot.update(title="y") or boot["files"]["archives"][0].update(url="server.2.zip"))
    browsers = [Browser(), Browser(), Browser(later)]
    found = [layers._start(browser, layer=SERVER) for browser in browsers]
    assert [[job["step"] for job in browser.asked] for browser in browsers] == [["start"], [], []]
    assert [(facts, memory.whole(sent)) for facts, sent in found] == [
        ({"drawnOrTimed": [8], "bases": {}}, bytes(16) + b"some" + bytes(44))
    ] * 3


def test_the_page_names_no_host() -> None:
    named = changed(lambda boot: boot.update(dialect_origins={"sep": ["https://a.example"], "mcp_ui": []}))
    for boot, own in ((BOOT, None), (named, {"sep": ["https://host.example"], "mcp_ui": []})):
        config = boot_of(Browser(boot).bundle["x/index.html"])
        assert config.pop("allowed_origins") == ["https://host.example"]
        assert config.pop("dialect_origins", None) == own
        assert config == {"title": "x", "files": BOOT["files"]}
    nobody = Browser(changed(lambda boot: boot.update(allowed_origins=[])))
    assert boot_of(nobody.bundle["x/index.html"])["allowed_origins"] == []


@pytest.mark.parametrize(
    ("other", "layer"),
    [
        (lambda _: Browser(changed(lambda boot: boot["files"]["libraries"].reverse())), SERVER),
        (lambda _: Browser(changed(lambda boot: boot["files"]["libraries"][1].update(url="2"))), SERVER),
        (lambda _: Browser(changed(lambda boot: boot["files"]["wasm"].update(integrity="2"))), SERVER),
        (lambda _: Browser(changed(lambda boot: boot["files"]["env"].update(A="2"))), SERVER),
        (lambda _: Browser(loader=b"another"), SERVER),
        (lambda program: program.write_bytes(b"updated") and Browser(), SERVER),
        (lambda _: Browser(), SDK),  # without the author's libraries
    ],
    ids=["order", "library", "runtime", "environment", "loader", "browser", "layer"],
)
def test_memory_before_python_runs_is_looked_at_anew_where_it_may_differ(
    chromium: Path, other: Callable[[Path], Browser], layer: str
) -> None:
    layers._start(Browser(), layer=SERVER)
    browser = other(chromium)
    layers._start(browser, layer=layer)
    assert len(browser.asked) == 1


@pytest.mark.usefixtures("chromium")
def test_a_failure_before_python_runs_is_told_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Browser, "run", lambda *_, **__: ({"failure": "no luck"}, {}))
        taken = layers._take(Browser(), LAYER, ())
    assert taken == ({"reason": "the page for it fails (no luck)"}, b"")
    browser = Browser()
    layers._start(browser, layer=SERVER)
    assert browser.asked


@pytest.mark.usefixtures("chromium")
@pytest.mark.parametrize("below", [(), (LayerFile(SDK, memory.zstd.compress(b""), 0, "", {}, (), ""),)])
def test_a_module_of_which_something_is_kept_stays(
    monkeypatch: pytest.MonkeyPatch, below: tuple[LayerFile, ...]
) -> None:
    dropped: list[list[str]] = []

    class Keeping(Browser):
        def run(self, job: Mapping[str, Any], **_: object) -> tuple[dict[str, Any], dict[str, bytes]]:
            if job["step"] != "take":
                return super().run(job)
            dropped.append(job["drops"])
            return {"found": {"kept": ["dis"]} if "dis" in job["drops"] else {**NOTHING, "tasks": 1}}, {}

    monkeypatch.setattr(layers, "_filled", lambda *_: b"")
    taken = layers._take(Keeping(), LAYER, below)
    assert taken == ({"reason": "it starts tasks when it is imported"}, b"")
    names = sorted(later_modules.NAMES)
    assert dropped == ([[]] if below else [names, [name for name in names if name != "dis"]])


OF_SERVER = layers.Server("x", "server:server", "server", None)


@pytest.mark.parametrize(
    ("server", "parts", "packages", "shares_sdk", "expected"),
    [
        (OF_SERVER, [], [], True, [[SDK, SERVER], [SDK]]),
        (OF_SERVER, ["b"], [], True, [[SDK, SERVER], [SDK, PARTS]]),
        (OF_SERVER, ["b"], [], False, [[SERVER], [SDK, PARTS]]),
        (OF_SERVER, ["b"], ["sympy"], True, [[SDK, PACKAGES, SERVER], [SDK, SERVER], [SDK, PACKAGES], [SDK, PARTS]]),
        (OF_SERVER, ["b"], ["numpy"], False, [[PACKAGES, SERVER], [SERVER], [PACKAGES], [SDK, PARTS]]),
        (None, ["b"], [], True, [[SDK, PARTS]]),
        (None, ["b"], ["sympy"], True, [[SDK, PACKAGES], [SDK, PARTS]]),
        (None, ["b"], ["numpy"], False, [[PACKAGES], [SDK, PARTS]]),
        (None, [], [], True, [[SDK]]),
    ],
)
def test_the_layers_that_a_bundle_may_have(
    server: layers.Server | None, parts: list[str], packages: list[str], shares_sdk: bool, expected: list[list[str]]
) -> None:
    def chain(layer: layers.SnapshotLayer | None) -> list[layers.SnapshotLayer]:
        return [*chain(layer.parent), layer] if layer else []

    planned = layers.planned(server, ["a"], parts, shares_sdk=shares_sdk, packages=packages)
    found = [chain(layer) for layer in planned]
    assert [[layer.name for layer in each] for each in found] == expected
    assert {tuple(name for layer in each for name in layer.modules) for each in found} == {("a", *parts)}


def test_a_server_that_is_imported_in_each_page_finds_what_the_layer_below_has_dropped() -> None:
    on_sdk, without_server = layers.planned(OF_SERVER, ["a"], [], shares_sdk=True, later=["subprocess", "locale"])
    assert on_sdk.packages == ()
    assert (without_server.name, without_server.packages) == (PARTS, ("locale", "subprocess"))


@pytest.fixture
def making() -> Iterator[ModuleType]:
    """The program that runs in the page, as a module of this Python."""
    module = ModuleType("prepare_snapshot")
    sys.modules["prepare_snapshot"] = module
    exec(compile(job_text("prepare_snapshot"), "prepare_snapshot.py", "exec"), module.__dict__)  # our own file
    yield module
    del sys.modules["prepare_snapshot"]


@pytest.mark.parametrize(
    ("source", "noted"),
    [
        ("import os; os.urandom(3)", "randomness"),
        ("import secrets; secrets.token_hex()", "randomness"),
        ("import uuid; uuid.uuid4()", "randomness"),
        ("import random; random.random()", "randomness"),
        ("import random; random.choice('abc')", "randomness"),
        ("import random; random.shuffle([1, 2])", "randomness"),
        ("import random; random.Random()", "randomness"),
        ("import random; random.SystemRandom().random()", "randomness"),
        ("import tempfile; tempfile.mktemp()", "randomness"),
        ("import tempfile; tempfile._get_default_tempdir()", None),
        ("import time; time.time()", "the time"),
        ("import time; time.perf_counter()", "the time"),
        ("import time; time.strftime('%F')", "the time"),
        ("import time; time.clock_gettime(time.CLOCK_REALTIME)", "the time"),
        (
            "import time, dataclasses as d; d.make_dataclass('A', [('t', int, d.field(default_factory=time.time))])()",
            "the time",
        ),
        ("import datetime; datetime.datetime.now()", "the time"),
        ("import datetime; datetime.date.today()", "the time"),
        ("import os; os.environ.get('LANG')", "the locale"),
        ("import os; os.environ.get('HOME')", None),
        ("import hashlib; hashlib.sha256(b'').hexdigest()", None),
        ("import logging; logging.getLogger('x').debug('y')", None),
    ],
)
def test_what_a_module_asks_for_is_noted(making: ModuleType, source: str, noted: str | None) -> None:
    code = compile(f"\n{source}\n", "/mcpframe/server/deep/server.py", "exec")
    sys.setprofile(making._watch)
    try:
        exec(code, {"__name__": "server"})  # the line above
    finally:
        sys.setprofile(None)
    found = making._noted[:1]
    assert found == ([{"what": noted, "file": "deep/server.py", "line": 2}] if noted else [])


@pytest.mark.parametrize(
    ("path", "name", "library"),
    [
        ("/mcpframe/packages/torchy/x.py", "torchy.x", "torchy"),
        ("/lib/python3.14/std/uuid.py", "uuid", ""),
        ("/lib/python3.14/site-packages/mcpframe/frame/x.py", "mcpframe.frame.x", ""),
    ],
)
def test_the_library_that_asks_is_named_with_the_author_s_line(
    making: ModuleType, monkeypatch: pytest.MonkeyPatch, path: str, name: str, library: str
) -> None:
    monkeypatch.setattr(making, "OURS", "/lib/python3.14/site-packages/mcpframe/")
    drawing: dict[str, Any] = {"__name__": name}
    exec(compile("import os\n\ndef draw():\n    os.urandom(3)\n", path, "exec"), drawing)  # the line above
    code = compile("\n\ndraw()\n", "/mcpframe/server/server.py", "exec")
    sys.setprofile(making._watch)
    try:
        exec(code, {"__name__": "server", "draw": drawing["draw"]})  # the line above
    finally:
        sys.setprofile(None)
    place = {"what": "randomness", "file": "server.py", "line": 3}
    assert making._noted == [{**place, "library": library} if library else place]


@pytest.mark.parametrize(
    ("headers", "taken"),
    [
        ({"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8000"}, True),
        ({"host": "127.0.0.1:8000", "origin": "https://evil.example"}, False),
        ({"host": "127.0.0.1:8000", "origin": "null"}, False),
        ({"host": "127.0.0.1:8000"}, False),
        ({"host": "evil.example:8000", "origin": "http://evil.example:8000"}, False),
    ],
)
def test_only_the_page_itself_sends_what_is_published(headers: dict[str, str], taken: bool) -> None:
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    request = Request({"type": "http", "server": ("127.0.0.1", 8000), "headers": raw})
    assert build_site._is_from_its_page(request) is taken


def test_the_browser_that_was_started_ahead_ends_with_the_build_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(build_browser.Chromium, "page", lambda _: done.append("opened"))
    monkeypatch.setattr(build_browser.Chromium, "close", lambda _: done.append("closed"))

    def fail() -> None:
        with camera.camera() as taking:
            taking.prepare()
            raise ValueError("its server")

    with pytest.raises(ValueError, match="its server"):
        fail()
    assert done == ["opened", "closed"]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("snapshot")]
