"""Where a build imports the server: in its page, else in Node.js, which the author is told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpframe.kit.base.errors import BuildError, ToolFailed
from mcpframe.kit.bundle import server_import
from mcpframe.kit.bundle.packages.layers import SERVER_PATH, Layer, Layers
from mcpframe.kit.bundle.program_places import InPage, NoPlace, Place
from mcpframe.kit.bundle.pyodide.job import Outcome, ProgramFailed, ProgramTimeout
from mcpframe.kit.bundle.snapshot import snapshot as snapshots
from mcpframe.kit.bundle.snapshot.boot import AUTHOR, SDK, changed
from mcpframe.kit.bundle.snapshot.build_browser import Chromium, NoBrowser
from mcpframe.kit.bundle.snapshot.build_site import NoOutcome
from mcpframe.kit.bundle.snapshot.snapshot_page import PageTimeout, PythonEnded

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


def inspect(*places: Place, **options: Any) -> server_import.Inspected:
    runtime: Any = SimpleNamespace(version="0")
    given = {"origin": Path("/project"), "kind": "server", "settings": {}, "code": {}, **options}
    _, found = server_import.compile_and_inspect("server:server", runtime, LAYERS, places, **given)
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
        (PageTimeout("late"), ProgramTimeout),
        (PythonEnded("Python has ended (exit status 4)\nmore"), ProgramFailed),
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
    "raised", [ProgramTimeout("import_server", 7), ProgramFailed("import_server", ToolFailed("it has ended"))]
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
    given: list[tuple[str, bool, Mapping[str, Any]]] = []

    class Recording(snapshots.Camera):
        identity = "recording"  # type: ignore[assignment]

        def __init__(self) -> None:
            """Without a browser."""

        def run(self, program: str, *_: object, own: bool, **rest: Any) -> Outcome:  # type: ignore[override]
            given.append((program, own, rest))
            return Outcome({}, {})

    (tmp_path / "0").write_bytes(b"source")
    place = InPage(Recording(), "x", lambda _: [])
    place.run(["compile", "import_server"], LAYERS, folders={"/in": tmp_path}, env={"A": "b"}, timeout=7)
    assert given == [
        ("compile", False, {"files": {"0": b"source"}}),
        ("import_server", True, {"env": {"A": "b"}, "patience": 7}),
    ]


LIBRARIES = [{"path": "/lib/core.so"}, {"path": "/mcpframe/packages/more.so"}]
ARCHIVES = [{"url": "base.zip", "own": False}, {"url": "server.zip", "own": True}]


@pytest.mark.parametrize(
    ("layer", "own", "expected"),
    [
        (AUTHOR, True, {"libraries": 2, "files": "none", "paths": []}),
        (SDK, True, {"libraries": 1, "files": "own", "paths": ["/mcpframe/packages"]}),
        (SDK, False, {"libraries": 1, "files": "own", "paths": []}),
    ],
)
def test_a_page_of_the_build_restores_a_snapshot_as_visitors_do(
    layer: str, own: bool, expected: dict[str, Any]
) -> None:
    files = {"archives": ARCHIVES, "libraries": LIBRARIES, "paths": ["/mcpframe/packages"]}
    found = changed({"files": files}, {"snapshot": {"layer": layer}}, own=own)["files"]
    assert found["snapshot"] == {"layer": layer, **expected}
    assert found["archives"] == ARCHIVES[: 2 if own else 1]
    assert found["libraries"] == LIBRARIES[: 2 if own else 1]


@pytest.mark.parametrize(("is_shared", "expected"), [(False, ["old", "old", "new"]), (True, ["old", "old", "old"])])
def test_a_step_without_the_authors_files_gets_a_page_without_their_state(
    is_shared: bool, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = iter(["old", "new"])
    chromium = Chromium(is_shared=is_shared)
    monkeypatch.setattr(chromium, "_opened", lambda: SimpleNamespace(name=next(pages), context=Context()))
    assert [chromium.page_for(own=own).name for own in (False, True, False)] == expected  # type: ignore[attr-defined]


class Context:
    def close(self) -> None:
        """Close it."""
