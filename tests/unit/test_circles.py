"""No circle of imports, neither between modules nor between folders; type checking and functions included."""

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


def import_graph(modules: Mapping[str, Path], *, by_name: bool = True) -> Graph:
    """Return for each module the modules of the same set that its file imports, at whatever place in the file.

    Args:
        modules: The set.
        by_name: Whether `import_module` with a constant counts. Optional parts are loaded so, by who may do without.

    That Python runs the `__init__.py` of the packages around an imported module is left out: one that imports its
    modules passes their names on, and is a circle only where one of them imports the package itself.
    """
    return {name: set(_imported(name, path, modules, by_name)) - {name} for name, path in modules.items()}


def _imported(module: str, path: Path, modules: Mapping[str, Path], by_name: bool) -> Iterator[str]:
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
        elif isinstance(node, ast.Call) and by_name:
            named = sources.named_by_import_module(node)
        yield from (name for name in named if name in modules)


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


PACKAGE = modules_of(sources.PACKAGE, "mcpframe")
INSPECTOR = modules_of(sources.INSPECTOR, "inspector")


@pytest.mark.parametrize("modules", [PACKAGE, INSPECTOR], ids=["mcpframe", "inspector"])
def test_no_module_imports_itself_by_way_of_others(modules: dict[str, Path]) -> None:
    assert [" -> ".join(circle) for circle in circles(import_graph(modules))] == []


def rooms(modules: Mapping[str, Path]) -> Graph:
    """Return for each folder of modules the folders that it imports from."""

    def room(module: str) -> str:
        is_folder = modules[module].name == "__init__.py" or module.count(".") == 1
        return module if is_folder else module.rpartition(".")[0]

    found: dict[str, set[str]] = {room(module): set() for module in modules}
    for module, imported in import_graph(modules, by_name=False).items():
        found[room(module)] |= {room(each) for each in imported} - {room(module)}
    return found


@pytest.mark.parametrize("modules", [PACKAGE, INSPECTOR], ids=["mcpframe", "inspector"])
def test_no_arrow_between_rooms_runs_up(modules: dict[str, Path]) -> None:
    assert [" -> ".join(circle) for circle in circles(rooms(modules))] == []


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
