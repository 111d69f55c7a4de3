"""A page that boots in this process: stand-ins for the browser's window, its storage and document, and the loader."""

from __future__ import annotations

import asyncio
import json
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mcpframe.frame.boot import boot
from mcpframe.frame.core.connection import Connection, parse_allowed_origins
from mcpframe.frame.dialects.sep import roles as sep
from mcpframe.frame.storage.values import MemoryRecords
from tests.support.fake_page import FakeBrowser
from tests.support.fake_storage import FakeLocks, FakeTexts
from tests.support.fake_window import FakeWindow
from tests.support.sep import FRAME, HOST, alone
from tests.support.server_kinds import FRAME_SERVER, of_kind

TIMING = {"start": "plain", "marks": {"wasm": 12.5, "ready": 700}, "stores": True}


class FakeLoader:
    """The loader's callbacks, kept as a list of calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []
        self.last_words: tuple[dict[str, object], str] | None = None

    def progress(self, text: str) -> None:
        self.calls.append(("progress", text))

    def ready(self, info: str) -> None:
        self.calls.append(("ready", info))

    def at_end(self, info: str) -> None:
        words = json.loads(info)
        self.last_words = words and tuple(words)

    def timing(self) -> str:
        return json.dumps(TIMING)

    def fail(self, title: str, detail: str) -> None:
        self.calls.append(("fail", title, detail))

    def problem(self, title: str, detail: str) -> None:
        self.calls.append(("problem", title, detail))

    def standalone(self, info: str) -> None:
        self.calls.append(("standalone", info))

    @property
    def last(self) -> tuple[str, ...]:
        return self.calls[-1]


class Rig:
    """A page that is about to boot: its host's window and its own, and the author's folder.

    Attributes:
        kind: of the servers that are written: see `server_kinds`.
    """

    def __init__(self, folder: Path, window: ModuleType) -> None:
        self.folder = folder
        self.loader = FakeLoader()
        self.outer, self.inner = FakeWindow.pair(HOST, FRAME)
        self.own = FakeWindow.alone(FRAME)
        self.fragment = ""
        self.kind = FRAME_SERVER
        self.framed = True
        self.records = MemoryRecords()
        self.browser = FakeBrowser(**{"assets-1/page.html": b'<button id="go">Go</button>'})
        window.host_window = lambda: self.inner if self.framed else None  # type: ignore[attr-defined]
        window.own_window = lambda: self.own  # type: ignore[attr-defined]
        window.own_origin = lambda: FRAME  # type: ignore[attr-defined]
        window.fragment = lambda: self.fragment  # type: ignore[attr-defined]
        window.query = lambda: ""  # type: ignore[attr-defined]
        self.leaving: list[Callable[[], None]] = []
        window.before_leaving = self._before_leaving  # type: ignore[attr-defined]
        window.takes_tools = lambda name: False  # type: ignore[attr-defined]

    def _before_leaving(self, act: Callable[[], None]) -> Callable[[], None]:
        self.leaving.append(act)
        return lambda: self.leaving.remove(act)

    def write(self, source: str, name: str) -> None:
        (self.folder / f"{name}.py").write_text(of_kind(textwrap.dedent(source), self.kind))

    def start(self, entry: str, **config: Any) -> asyncio.Task[None]:
        text = json.dumps({"entry": entry, "name": "test", "title": "Test", "files": {}, **config})
        return asyncio.create_task(boot.main(text, self.loader))

    def outer_connection(self, role: Any = sep.OUTER_TRANSPORT) -> Connection:
        return alone(role, parse_allowed_origins([FRAME]))


def log_of(name: str) -> list[Any]:
    """Return the list `log` of an author's module."""
    log: list[Any] = sys.modules[name].log
    return log


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    window = ModuleType("mcpframe.frame.browser.window")
    dom, browser_storage = ModuleType("mcpframe.frame.browser.dom"), ModuleType("mcpframe.frame.browser.storage")
    for module in (window, dom, browser_storage):
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setattr(module.__name__, module, raising=False)
    monkeypatch.setattr("mcpframe.frame.host_api.connect._defaults", None)
    monkeypatch.setattr("mcpframe.frame.page.load._bundle", None)
    monkeypatch.setattr(boot, "_running", set())
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    rig = Rig(tmp_path, window)
    dom.DomBrowser = lambda page: rig.browser  # type: ignore[attr-defined]
    browser_storage.local_storage = FakeTexts  # type: ignore[attr-defined]
    browser_storage.Database = lambda: rig.records  # type: ignore[attr-defined]
    browser_storage.page_locks = FakeLocks  # type: ignore[attr-defined]
    yield rig
    for name in set(sys.modules) - before:
        if name.startswith("authored"):
            del sys.modules[name]
