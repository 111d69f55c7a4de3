"""The walls of the design: who may import what, as one table, read from the source."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from mcpframe.frame.dialects.available import offered_names
from mcpframe.kit.bundle.code.public_names import public_names
from tests.support.sources import INSPECTOR, PACKAGE, files, imports, nodes, texts

FRAME = PACKAGE / "frame"
BROWSER = {"js", "pyodide", "pyodide_js"}
KIT_ONLY = {"playwright", "typer", "rich", "starlette", "uvicorn", "jinja2", "uv", "watchfiles", "wsproto"}
HUB = PACKAGE / "hub"
KIT = PACKAGE / "kit"
SDK_ROOMS = {"frame/compat", "frame/session", "frame/results", "frame/serving", "hub/serving"}
"""The rooms that may import the SDK when they run."""
PUBLIC = {f"{module}.{name}" for module, names in public_names().items() for name in names}
LARGEST_ROOM = 30
MOST_LOOSE = 8
"""Modules in the root of a building, whose rooms are what a reader looks for."""


def top(modules: frozenset[str]) -> set[str]:
    """Return the packages that modules are in."""
    return {module.partition(".")[0] for module in modules}


def ours_but(modules: frozenset[str], *allowed: str) -> set[str]:
    """Return the modules of mcpframe that begin with none of the allowed prefixes."""
    return {module for module in modules if module.startswith("mcpframe") and not module.startswith(allowed)}


def ours_in(modules: frozenset[str], *refused: str) -> set[str]:
    """Return the modules that begin with one of the prefixes."""
    return {module for module in modules if module.startswith(refused)}


@dataclass(frozen=True)
class Wall:
    """A rule about imports.

    Attributes:
        name: the rule.
        folder: where it holds.
        breach: the modules among a file's imports that break it.
        outside: whether the rule leaves a file of the folder out.
        typing_only: whether imports for type checkers break it too.
    """

    name: str
    folder: Path
    breach: Callable[[Path, frozenset[str]], set[str]]
    outside: Callable[[Path], bool] = lambda _: False
    typing_only: bool = True

    def broken(self) -> dict[str, set[str]]:
        """Return the files that break the rule, each with the modules in question."""
        found = {
            path.relative_to(self.folder).as_posix(): self.breach(path, imports(path, typing_only=self.typing_only))
            for path in files(self.folder)
            if not self.outside(path)
        }
        assert found, f"{self.name}: holds for no file"
        return {name: modules for name, modules in found.items() if modules}


def _in_room_of_the_sdk(path: Path) -> bool:
    return any(PACKAGE / room in path.parents for room in SDK_ROOMS)


def _dialect(path: Path, modules: frozenset[str]) -> set[str]:
    room = path.parent.name if path.parent != FRAME / "dialects" else "available"  # beside the dialects: who finds them
    return ours_but(modules, "mcpframe.frame.core.", f"mcpframe.frame.dialects.{room}")


def _base(_: Path, modules: frozenset[str]) -> set[str]:
    return ours_but(modules, "mcpframe.kit.base", "mcpframe.frame.core.")


WALLS = [
    Wall("the frame never imports the kit", FRAME, lambda _, found: ours_in(found, "mcpframe.kit")),
    Wall("the frame runs without the kit's libraries", FRAME, lambda _, found: top(found) & KIT_ONLY),
    Wall(
        "views are for servers without the kit and without a browser",
        PACKAGE / "views",
        lambda _, found: ours_in(found, "mcpframe.kit", "mcpframe.frame.browser") | top(found) & KIT_ONLY,
    ),
    Wall(
        "only the browser's room imports the browser",
        PACKAGE,
        lambda _, found: top(found) & BROWSER,
        # in_pyodide are programs of the build that run in Pyodide, and nowhere else
        outside=lambda path: path.parent.name == "in_pyodide" or path.parent == FRAME / "browser",
    ),
    Wall(
        "only the rooms that serve import the SDK",
        FRAME,
        lambda _, found: top(found) & {"mcp", "mcp_types"},
        outside=_in_room_of_the_sdk,
        typing_only=False,
    ),
    Wall(
        "in the hub, only what serves clients imports the SDK",
        HUB,
        lambda _, found: top(found) & {"mcp", "mcp_types"},
        outside=_in_room_of_the_sdk,
        typing_only=False,
    ),
    Wall("a dialect imports the core and itself only", FRAME / "dialects", _dialect),
    Wall(
        "the core imports nothing of ours but itself",
        FRAME / "core",
        lambda _, found: ours_but(found, "mcpframe.frame.core."),
    ),
    Wall(
        "the core does no I/O",
        FRAME / "core",
        lambda _, found: top(found) & {"asyncio", "anyio", "time", "threading", "socket", "mcp", "pydantic"},
    ),
    Wall("the frame never imports the hub", FRAME, lambda _, found: ours_in(found, "mcpframe.hub")),
    Wall(
        "the inspector, an app of its own, imports the public names only",
        INSPECTOR,
        lambda _, found: ours_in(found, "mcpframe.") - PUBLIC,
    ),
    Wall("the hub never imports the kit", HUB, lambda _, found: ours_in(found, "mcpframe.kit")),
    Wall(
        "waiting imports the core and itself only",
        FRAME / "waiting",
        lambda _, found: ours_but(found, "mcpframe.frame.core.", "mcpframe.frame.waiting."),
    ),
    Wall(
        "the hub's core imports the frame's core, its waiting, and itself only",
        HUB / "core",
        lambda _, found: ours_but(found, "mcpframe.hub.core", "mcpframe.frame.core.", "mcpframe.frame.waiting."),
    ),
    Wall(
        "the hub has no clock and no way out",
        HUB,
        lambda _, found: top(found) & {"time", "threading", "socket", "subprocess", "pathlib", "os"},
    ),
    Wall("the kit's hub never imports the bridge", KIT / "hub", lambda _, found: ours_in(found, "mcpframe.kit.bridge")),
    Wall("the bridge never imports the kit's hub", KIT / "bridge", lambda _, found: ours_in(found, "mcpframe.kit.hub")),
    Wall("the base of the kit imports nothing of ours but itself", KIT / "base", _base),
]


@pytest.mark.parametrize("wall", WALLS, ids=lambda wall: wall.name)
def test_wall(wall: Wall) -> None:
    assert wall.broken() == {}


PURE = ("mcpframe.kit.bundle.assembly", "mcpframe.kit.project.template_files", "mcpframe.kit.static_hosts")
NOT_IN_PYODIDE = {"fcntl", "multiprocessing", "subprocess", "socket", "ssl", "tarfile", "threading", "urllib.request"}
LIBRARIES_OF_THE_ASSEMBLY = {"jinja2", "packaging", "pydantic"}
"""All are in Pyodide's distribution, or pure Python."""


def test_the_assembly_of_a_bundle_imports_nothing_that_pyodide_lacks() -> None:
    """The playground makes bundles with it. What it imports of the frame is in bundles anyway."""
    modules = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in files(PACKAGE)}
    modules = {name.removesuffix(".__init__"): path for name, path in modules.items()}
    waiting = [name for name in modules if name.startswith(PURE)]
    seen: set[str] = set()
    others: dict[str, set[str]] = {}
    while waiting:
        name = waiting.pop()
        while name not in modules and "." in name:
            name = name.rpartition(".")[0]
        if name in seen or name.startswith("mcpframe.frame"):
            continue
        seen.add(name)
        found = imports(modules[name], typing_only=False)
        waiting += [each for each in found if each.startswith("mcpframe.")] + [name.rpartition(".")[0] or "mcpframe"]
        external = {each for each in found if not each.startswith("mcpframe")}
        bad = {each for each in external if each.startswith(tuple(NOT_IN_PYODIDE))}
        bad |= top(frozenset(external)) - sys.stdlib_module_names - LIBRARIES_OF_THE_ASSEMBLY
        if bad:
            others[name] = bad
    assert others == {}
    assert "mcpframe.kit.bundle.assembly.assemble" in seen


def test_no_room_is_too_large_to_hold() -> None:
    sizes = {path.parent: len([*path.parent.glob("*.py")]) - 1 for path in files(PACKAGE)}
    assert {folder.name: size for folder, size in sizes.items() if size > LARGEST_ROOM} == {}
    assert {folder.name: sizes[folder] for folder in (FRAME, HUB, KIT) if sizes.get(folder, 0) > MOST_LOOSE} == {}


def test_the_core_never_awaits() -> None:
    waits = (ast.Await, ast.AsyncFunctionDef)
    assert [path.name for path in files(FRAME / "core") if any(isinstance(node, waits) for node in nodes(path))] == []


ROOMS_OF_DIALECTS = {
    "mcpframe/frame/browser": {"webmcp"},
    "mcpframe/frame/host_api": {"mcp_apps", "mcp_ui"},
    "mcpframe/frame/hosting/mcp_apps": {"mcp_apps"},
    "mcpframe/frame/hosting/mcp_ui": {"mcp_ui"},
    "mcpframe/frame/hosting": {"mcp_apps"},  # whose sandbox proxy both hosts share
    "mcpframe/frame/page_server": {"mcp_b"},
    "mcpframe/frame/webmcp": {"webmcp"},
    "mcpframe/hub/relay": {"mcp_b", "webmcp"},
    "mcpframe/kit/publish/view_checks": {"mcp_apps"},
    "mcpframe/kit/testing": {"mcp_apps"},
    "static/inspector": {"sep", "mcp_apps", "mcp_ui"},
}
"""The rooms besides `frame/dialects` that are about certain dialects: what a host or a peer of these is in Python."""
MESSAGES = re.compile(
    r"\b(MCP_(SETUP|TRANSPORT|MESSAGE)\w*|ui/(initialize|notifications)|ui-[a-z]+-|mcp-check-|mcp-server-(ready|stopped))"
)


def named_dialects(path: Path) -> set[str]:
    """Return the dialects that a file names: by an import, or in a text that is not a docstring."""
    words = {word for text in texts(path) for word in re.split(r"\W+", text)}
    words |= {part for module in imports(path) for part in module.split(".")}
    return words & {*offered_names()}


def named_messages(path: Path) -> set[str]:
    """Return the names of dialects' messages in the texts of a file that are not docstrings."""
    return {match[0] for text in texts(path) for match in MESSAGES.finditer(text)}


def test_only_the_rooms_of_a_dialect_name_it() -> None:
    found = {}
    for path in (*files(FRAME), *files(HUB), *files(KIT), *files(INSPECTOR)):
        name = path.relative_to(PACKAGE.parent).as_posix()
        allowed = next((names for room, names in ROOMS_OF_DIALECTS.items() if name.startswith(f"{room}/")), set())
        others = named_dialects(path) - allowed | (set() if allowed else named_messages(path))
        if others and FRAME / "dialects" not in path.parents:
            found[name] = others
    assert found == {}


def test_the_script_of_a_page_names_no_dialect() -> None:
    """It gets what differs from the build: see `ways` in `assembly/offered.py`, and `assembly/inbox.py`."""
    words = re.compile(rf"\b({'|'.join(offered_names())}|MCP_[A-Z_]+|ui/[a-z])\b")
    scripts = sorted((PACKAGE.parent / "static" / "page").glob("*.js"))
    assert {path.name: found for path in scripts if (found := words.findall(path.read_text("utf-8")))} == {}


def test_the_walls_would_notice(tmp_path: Path) -> None:
    sample = tmp_path / "imports.py"
    sample.write_text("import js\nfrom mcpframe.kit import cli\nif TYPE_CHECKING:\n    import mcp\n")
    assert imports(sample, typing_only=False) == {"js", "mcpframe.kit.cli"}
    assert imports(sample, typing_only=True) == {"js", "mcpframe.kit.cli", "mcp"}
    wall = Wall("sample", tmp_path, lambda _, found: top(found) & BROWSER)
    assert wall.broken() == {"imports.py": {"js"}}
    assert ours_but(imports(sample), "mcpframe.frame.core.") == {"mcpframe.kit.cli"}
    sample = tmp_path / "texts.py"
    sample.write_text('"""MCP_DOC"""\nkind = "MCP_MESSAGE"\n')
    assert texts(sample) == ("MCP_MESSAGE",)
