"""Where a build imports the server: in its page, else in Node.js, which the author is told."""

from __future__ import annotations

import inspect as inspecting
import traceback
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from importlib import import_module
from importlib._bootstrap_external import _code_to_timestamp_pyc  # type: ignore[attr-defined]
from importlib.machinery import SourcelessFileLoader
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpframe.kit.base.errors import BuildError, ToolFailed
from mcpframe.kit.bundle import server_import
from mcpframe.kit.bundle.assembly.description import ServerDescription
from mcpframe.kit.bundle.assembly.layers import PACKAGES_PATH, SERVER_PATH, Layer, Layers
from mcpframe.kit.bundle.assembly.snapshot_file import PARTS, SDK, SERVER, LayerFile, Snapshot
from mcpframe.kit.bundle.import_places import InPage, NoPlace, Place
from mcpframe.kit.bundle.pyodide.job import JobFailed, JobTimeout, Outcome
from mcpframe.kit.bundle.pyodide.job_texts import job_text
from mcpframe.kit.bundle.snapshot import camera as snapshots
from mcpframe.kit.bundle.snapshot.boot import changed
from mcpframe.kit.bundle.snapshot.build_browser import Chromium, NoBrowser
from mcpframe.kit.bundle.snapshot.build_site import NoOutcome
from mcpframe.kit.bundle.snapshot.snapshot_page import PageTimeout, PythonEnded
from tests.support.wheels import write_wheel

LAYERS = Layers({}, {}, (Layer("server", SERVER_PATH, {}),), {}, {})


class Elsewhere:
    """A place that imports everything."""

    identity = "elsewhere"

    def __init__(self) -> None:
        self.ran = 0

    def run(self, *_: object, **__: object) -> list[Outcome]:
        self.ran += 1
        return [Outcome({"name": "found"}, {})]


class Nowhere:
    identity = "nowhere"

    def run(self, *_: object, **__: object) -> list[Outcome]:
        raise NoPlace("install a browser")


def inspect(*places: Place, **options: Any) -> ServerDescription:
    runtime: Any = SimpleNamespace(version="0")
    given = {"origin": Path("/project"), "kind": "server", "settings": {}, "code": {}, "wheels": {}, **options}
    _, found = server_import.compile_and_import("server:server", runtime, LAYERS, places, **given)
    return found


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path))


def test_the_first_place_that_can_is_taken_and_the_author_is_told_of_another() -> None:
    last = Elsewhere()
    assert inspect(Elsewhere(), last).notes == ()
    assert not last.ran
    for _ in range(2):  # the remark is kept with the description
        found = inspect(Nowhere(), last)
        assert found.name == "found"
        [note] = found.notes
        assert "Node.js" in note
        assert "install a browser" in note
    assert last.ran == 1


def test_a_description_of_another_place_is_not_used() -> None:
    place = Elsewhere()
    inspect(Nowhere(), place)
    inspect(place)
    assert place.ran == 2


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (PageTimeout("late"), JobTimeout),
        (PythonEnded("Python has ended (exit status 4)\nmore"), JobFailed),
        (NoOutcome("crashed"), NoPlace),
        (NoBrowser("install one"), NoPlace),
    ],
)
def test_what_ends_the_page_is_an_error_of_the_server_or_of_the_place(
    raised: Exception, kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr(snapshots.Camera, "run", fail)
    monkeypatch.setattr(snapshots.Camera, "identity", "any")
    with snapshots.camera() as camera, pytest.raises(kind):
        InPage(camera, "x", lambda _: []).run(["import_server"], LAYERS, folders={}, env={}, timeout=7)


@pytest.mark.parametrize(
    "raised", [JobTimeout("import_server", 7), JobFailed("import_server", ToolFailed("it has ended"))]
)
def test_the_place_decides_where_it_can(raised: Exception) -> None:
    class Failing:
        identity = "failing"

        def run(self, *_: object, **__: object) -> list[Outcome]:
            raise raised

    other = Elsewhere()
    with pytest.raises(BuildError, match="server:server"):
        inspect(Failing(), other, timeout=7)
    assert not other.ran


def test_each_step_gets_the_files_it_may_see(tmp_path: Path) -> None:
    given: list[tuple[Sequence[str], bool, Mapping[str, Any]]] = []

    class Recording(snapshots.Camera):
        identity = "recording"  # type: ignore[assignment]

        def __init__(self) -> None:
            """Without a browser."""

        def run(self, programs: Sequence[str], *_: object, own: bool, **rest: Any) -> list[Outcome]:  # type: ignore[override]
            given.append((programs, own, rest))
            return [Outcome({}, {}) for _ in programs]

    (tmp_path / "0").write_bytes(b"source")
    place = InPage(Recording(), "x", lambda _: [])
    both = ["compile", "import_server"]
    place.run(both, LAYERS, folders={"/in": tmp_path}, env={"A": "b"}, timeout=7)
    assert given == [(both, True, {"files": {"0": b"source"}, "env": {"A": "b"}, "patience": 7})]
    given.clear()
    native = replace(LAYERS, archives=(Layer("packages", "/mcpframe/packages", {"a.so": b""}, own=True),))
    outcomes = place.run(both, native, folders={"/in": tmp_path}, env={"A": "b"}, timeout=7)
    assert given == [
        (["compile"], False, {"files": {"0": b"source"}}),
        (["import_server"], True, {"env": {"A": "b"}, "patience": 7}),
    ]
    assert len(outcomes) == 2


LIBRARIES = [{"path": "/lib/core.so"}, {"path": "/mcpframe/packages/more.so"}]
ARCHIVES = [
    {"url": "base.zip", "own": False, "part": False},
    {"url": "parts.zip", "own": False, "part": True},
    {"url": "server.zip", "own": True, "part": False},
]


SDK_FILE = LayerFile(SDK, b"", 4, "build", {"of": "sdk"}, (), "Chromium 156")
SERVER_FILE = replace(SDK_FILE, name=SERVER, unpacked=2, references={"of": "server"})


@pytest.mark.parametrize(
    ("layers", "page", "complete", "expected"),
    [
        ((SDK_FILE, SERVER_FILE), SERVER, False, {"libraries": 1, "files": "none", "paths": []}),
        ((SERVER_FILE,), SERVER, False, {"libraries": 2, "files": "none", "paths": []}),
        ((SDK_FILE,), SERVER, False, {"libraries": 1, "files": "own", "paths": ["/mcpframe/packages"]}),
        ((SDK_FILE,), SERVER, True, {"libraries": 1, "files": "all", "paths": ["/mcpframe/packages"]}),
        ((SDK_FILE,), PARTS, True, {"libraries": 1, "files": "all", "paths": []}),
        ((SDK_FILE,), SDK, False, {"libraries": 1, "files": "own", "paths": []}),
    ],
)
def test_a_page_of_the_build_restores_a_snapshot_as_visitors_do(
    layers: tuple[LayerFile, ...], page: str, complete: bool, expected: dict[str, Any]
) -> None:
    files = {"archives": ARCHIVES, "libraries": LIBRARIES, "paths": ["/mcpframe/packages"]}
    links = [{"url": f"{number}.bin"} for number in range(len(layers))]
    snapshot = {"snapshot": Snapshot(layers), "links": links, "decoder": {"url": "zstd.wasm"}}
    found = changed({"files": files}, {}, layer=page, complete=complete, **snapshot)["files"]
    entries = [
        {**link, "name": each.name, "unpacked": each.unpacked, "references": each.references}
        for link, each in zip(links, layers, strict=True)
    ]
    assert found["snapshot"] == {"layers": entries, "decoder": {"url": "zstd.wasm"}, "build": "build", **expected}
    assert found["archives"] == ARCHIVES[: [SDK, PARTS, SERVER].index(page) + 1]
    assert found["libraries"] == LIBRARIES[: 2 if page == SERVER else 1]


@pytest.mark.parametrize(("is_shared", "expected"), [(False, ["old", "old", "new"]), (True, ["old", "old", "old"])])
def test_a_step_without_the_authors_files_gets_a_page_without_their_state(
    is_shared: bool, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = iter(["old", "new"])
    chromium = Chromium(is_shared=is_shared)
    monkeypatch.setattr(chromium, "_opened", lambda: FakePage(next(pages)))
    assert [chromium.page_for(own=own).name for own in (False, True, False)] == expected  # type: ignore[attr-defined]
    chromium.close()


class FakePage:
    gone: Future[str] = Future()

    def __init__(self, name: str) -> None:
        self.name = name

    async def close(self) -> None:
        """Close it."""


def test_the_sources_that_are_read_are_kept_and_the_server_is_imported_again(tmp_path: Path) -> None:
    class Reading:
        """A place whose server reads the source of one of its packages; and forges another."""

        identity = "reading"

        def __init__(self) -> None:
            self.files: list[Mapping[str, bytes]] = []

        def run(self, _: object, layers: Layers, **__: object) -> list[Outcome]:
            self.files.append(layers.archives[0].files)
            has_source = "reads/a.py" in layers.archives[0].files
            sources = [] if has_source else [f"{PACKAGES_PATH}/reads/a.pyc", f"{PACKAGES_PATH}/forged{len(self.files)}"]
            return [Outcome({"name": "found", "sources": sources, "error": None if has_source else "no source"}, {})]

    wheels = {
        name: write_wheel(tmp_path / "wheels", name, {f"{name}/a.py": f"NAME = {name!r}"})
        for name in ("reads", "other")
    }
    packages = Layer("packages", PACKAGES_PATH, {"reads/a.pyc": b"1", "other/a.pyc": b"2"}, own=True)
    runtime: Any = SimpleNamespace(version="0")
    place = Reading()
    layers, found = server_import.compile_and_import(
        "server:server",
        runtime,
        Layers({}, {}, (packages, LAYERS.archives[0]), {}, {}),
        [place],
        origin=tmp_path,
        kind="server",
        settings={},
        code={},
        wheels=wheels,
    )
    assert found.name == "found"
    assert layers.archives[0].files == {
        "reads/a.py": b"NAME = 'reads'",
        "reads/__pycache__/a.cpython-314.pyc": b"1",
        "other/a.pyc": b"2",
    }
    assert len(place.files) == 2


MODELS = """
from pydantic import BaseModel, ConfigDict

class Model(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)
    x: int
    '''The column.'''
"""


def test_requests_for_sources_are_noted_and_those_of_tracebacks_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program: dict[str, Any] = {"__name__": "program"}
    exec(compile(job_text("import_server"), "import_server.py", "exec"), program)  # our own file
    monkeypatch.setattr(SourcelessFileLoader, "get_source", SourcelessFileLoader.get_source)
    monkeypatch.setattr(inspecting, "getmodule", inspecting.getmodule)
    monkeypatch.syspath_prepend(str(tmp_path))
    texts = {"models": MODELS, "function": "def f():\n    return 1\n", "raises": "def f():\n    raise ValueError\n"}
    paths = {name: tmp_path / f"mcpframe_tests_{name}.pyc" for name in texts}
    for name, text in texts.items():
        # All bytecode names the folder of the SDK's packages, wherever it is.
        code = compile(text, f"/lib/python3.14/site-packages/mcpframe_tests_{name}.py", "exec")
        paths[name].write_bytes(_code_to_timestamp_pyc(code))
    read = program["watch_sources"]([str(tmp_path)])
    import_module("mcpframe_tests_models")
    assert read == {str(paths["models"])}
    with pytest.raises(OSError, match="source"):
        inspecting.getsource(import_module("mcpframe_tests_function").f)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        import_module("mcpframe_tests_raises").f()
    traceback.format_exception(caught.value)
    assert read == {str(paths["models"]), str(paths["function"])}
