"""No circle of imports between modules or rooms, at any depth, and no import of a higher room.

Imports in functions, for type checkers, and by name (`import_module`) count like any other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support import sources

Graph = Mapping[str, set[str]]


def modules_of(folder: Path, prefix: str) -> dict[str, Path]:
    """Return the modules below a folder by their dotted names.

    Args:
        folder: the folder of a package, or one whose modules are imported by their own names.
        prefix: the package's name, or empty.
    """
    modules = {}
    for path in sources.files(folder):
        parts = [prefix] * bool(prefix) + list(path.relative_to(folder).with_suffix("").parts)
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return {name: path for name, path in modules.items() if name}


def import_graph(modules: Mapping[str, Path]) -> Graph:
    """Return for each module the modules of the same set that its file imports, at whatever place in the file.

    That Python runs the `__init__.py` of the packages around an imported module is left out: one that imports its
    modules passes their names on, and is a circle only where one of them imports the package itself.
    """
    return {name: set(_imported(name, path, modules)) - {name} for name, path in modules.items()}


def _imported(module: str, path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    for node in sources.nodes(path):
        named: list[str] = []
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                package = module if path.name == "__init__.py" else module.rpartition(".")[0]
                base = package.split(".")[: len(package.split(".")) - node.level + 1]
                source = ".".join([*base, *([source] if source else [])])
            # `from package import module` imports the module; `from module import name` the module that owns the name
            named = [
                f"{source}.{alias.name}" if f"{source}.{alias.name}" in modules else source for alias in node.names
            ]
        yield from (name for name in named if name in modules)
    yield from (name for name in sources.named_by_import_module(path) if name in modules)


def circles(graph: Graph) -> list[list[str]]:
    """Return one shortest circle through each group of modules that import each other."""
    found: list[list[str]] = []
    seen: set[str] = set()
    for start in sorted(graph):
        if start in seen or not (circle := _shortest_circle(graph, start)):
            continue
        seen |= set(circle)
        found.append(circle)
    return found


def _shortest_circle(graph: Graph, start: str) -> list[str]:
    before: dict[str, str] = {}
    queue = [start]
    for module in queue:
        for imported in sorted(graph[module]):
            if imported == start:
                path = [start, module]
                while path[-1] != start:
                    path.append(before[path[-1]])
                return path[::-1]
            if imported not in before:
                before[imported] = module
                queue.append(imported)
    return []


def rooms(modules: Mapping[str, Path]) -> dict[str, Graph]:
    """Return for each folder its rooms, and the rooms of it that each imports from.

    The rooms of a folder are the folders in it. Its own modules together are one room more, under the folder's name; at
    the top, each is a room.
    """
    folders = {name for name, path in modules.items() if path.name == "__init__.py"}
    top = min(folders, default="")

    def around(module: str) -> list[str]:
        parts = module.split(".")
        above = [".".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
        return [name for name in above if name in folders or name.rpartition(".")[0] == top]

    found: dict[str, dict[str, set[str]]] = {folder: {} for folder in folders}
    for module, imported in import_graph(modules).items():
        for name in imported:
            mine, other = around(module), around(name)
            depth = len({*mine} & {*other})
            folder = mine[depth - 1]
            mine, other = [*mine, folder], [*other, folder]
            found[folder].setdefault(mine[depth], set()).add(other[depth])
            found[folder].setdefault(other[depth], set())
    return {folder: {room: others - {room} for room, others in graph.items()} for folder, graph in found.items()}


PACKAGE = modules_of(sources.PACKAGE, "mcpframe")
INSPECTOR = modules_of(sources.INSPECTOR, "inspector")
ORDER = {
    "mcpframe": "frame . hub views kit wire hosts testing __main__",
    "mcpframe.frame": (
        "core dialects waiting storage browser compat session world results host_api hosting page webmcp serving "
        "worker page_server boot"
    ),
    "mcpframe.hub": "core relay serving homes .",
    "mcpframe.kit": (
        "base static_hosts notebook browser storage project web edges bundle servers client bridge hub dev testing "
        "plain_python publish cli"
    ),
}
"""The rooms of a folder, the lowest first: each imports from those before it only. `.` is the folder's own modules."""


@pytest.mark.parametrize("modules", [PACKAGE, INSPECTOR], ids=["mcpframe", "inspector"])
def test_no_module_imports_itself_by_way_of_others(modules: dict[str, Path]) -> None:
    assert [" -> ".join(circle) for circle in circles(import_graph(modules))] == []


@pytest.mark.parametrize("modules", [PACKAGE, INSPECTOR], ids=["mcpframe", "inspector"])
def test_no_room_imports_itself_by_way_of_others(modules: dict[str, Path]) -> None:
    assert [" -> ".join(circle) for graph in rooms(modules).values() for circle in circles(graph)] == []


@pytest.mark.parametrize("folder", ORDER)
def test_no_arrow_between_rooms_runs_up(folder: str) -> None:
    height = {f"{folder}.{name}".rstrip("."): at for at, name in enumerate(ORDER[folder].split())}
    graph = rooms(PACKAGE)[folder]
    assert graph.keys() == height.keys()
    assert [
        f"{room} -> {each}" for room, others in graph.items() for each in others if height[each] > height[room]
    ] == []


def test_a_circle_would_be_noticed(tmp_path: Path) -> None:
    files = {
        "typed.py": "if TYPE_CHECKING:\n    from pack.late import Name\n",
        "late.py": "def use():\n    from pack import relative\n",
        "relative.py": "from . import typed\n",
        "named.py": 'importlib.import_module("pack.other")\n',
        "other.py": "import pack.named\n",
        "alone.py": "from pack.typed import Name\nimport json\n",
        "__init__.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert circles(import_graph(modules_of(tmp_path, "pack"))) == [
        ["pack.late", "pack.relative", "pack.typed", "pack.late"],
        ["pack.named", "pack.other", "pack.named"],
    ]


def test_a_circle_of_rooms_would_be_noticed(tmp_path: Path) -> None:
    files = {
        "high/deep/start.py": "from pack.low.deep.used import Name\n",
        "low/other/loads.py": 'PARTS = {"start": "pack.high.deep.start:Name"}\nimport_module(PARTS["start"])\n',
        "low/deep/used.py": "import json\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for folder in {tmp_path, *(path.parent for path in tmp_path.rglob("*")), *tmp_path.glob("*/*/")}:
        (folder / "__init__.py").touch()
    graphs = rooms(modules_of(tmp_path, "pack"))
    assert circles(import_graph(modules_of(tmp_path, "pack"))) == []
    assert circles(graphs["pack"]) == [["pack.high", "pack.low", "pack.high"]]
