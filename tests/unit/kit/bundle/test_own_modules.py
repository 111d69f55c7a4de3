"""Which modules of mcpframe a bundle contains: whatever its code and the page import, and no part that it has not."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import pytest

from mcpframe.kit.bundle.assembly.author_files import author_files
from mcpframe.kit.bundle.assembly.features import FEATURES, features_of
from mcpframe.kit.bundle.assembly.own_modules import module_paths, own_files, own_modules, part_of, shared_own_files
from mcpframe.kit.bundle.code.public_names import public_names
from mcpframe.kit.bundle.packages.compile_layers import packages_of
from mcpframe.kit.bundle.packages.lock import Lock
from mcpframe.kit.project.project import find_project

REPOSITORY = Path(__file__).parents[4]
SERVER = frozenset({"mcp2", "document"})
"""The features of a server object of mcp 2.x with all dialects."""


class Bundle(NamedTuple):
    """The inputs that decide on a bundle's modules."""

    code: Mapping[str, bytes]
    features: frozenset[str]


def of(code: str, *features: str) -> Bundle:
    return Bundle({"server.py": code.encode()}, frozenset(features) or SERVER)


def of_project(file: Path) -> Bundle:
    project, packages = find_project(file), packages_of(Lock("", ()))
    author = author_files(project, file.parent / "dist")
    return Bundle(author, features_of(project, packages, author, author))


PROGRAM = ("program", "world")
ALL = (
    "from mcpframe import *\nfrom mcpframe.hosts import *\nfrom mcpframe.wire import *\n"
    "from mcpframe.hub import PageHub"
)
BUNDLES = {
    "plain": of(""),
    "without WebMCP": of("", "mcp2"),
    "persist": of("", *SERVER, "persist"),
    "http": of("", *SERVER, "http"),
    "threads": of("", *SERVER, "world"),
    "page": of("", "mcp2", "page"),
    "mcp 1": of("", "mcp1", "document", "world"),
    "fastmcp": of("", "mcp2", "document", "fastmcp", "world"),
    "fastmcp of mcp 1": of("", "mcp1", "document", "fastmcp", "world"),
    "program": of("", *SERVER, *PROGRAM),
    "program of mcp 1": of("", "mcp1", "document", *PROGRAM),
    "wrapped": of("from mcpframe import wrap"),
    "views": of("from mcpframe.views import View, Views"),
    "all names": of(ALL),
    "a page with all names": of(ALL, "mcp2", "page"),
    "names of the hub": of("from mcpframe.hub.core import names"),
    "all features": of("", *FEATURES),
}
PROJECTS = {
    str(file.parent.relative_to(REPOSITORY)): file
    for folder in ("templates", "docs/examples", "static/inspector", "static/extension")
    for file in sorted((REPOSITORY / folder).rglob("pyproject.toml"))
    if "unmodified" not in file.parts
}


@cache
def bundle(name: str) -> Bundle:
    return BUNDLES[name] if name in BUNDLES else of_project(PROJECTS[name])


@cache
def modules(name: str) -> frozenset[str]:
    return frozenset(own_modules(*bundle(name)))


def file_of(name: str) -> Path | None:
    """Return the file of a module of mcpframe, if there is one."""
    path = REPOSITORY / name.replace(".", "/")
    if not all(map(str.isidentifier, name.split("."))):
        return None
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def imported(node: ast.AST, *, lazy: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield the modules of mcpframe that code imports, by statements and by name, and whether a function does."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        found: list[str] = []
        by_name = isinstance(child, ast.Constant)
        if isinstance(child, ast.Import):
            found = [alias.name for alias in child.names]
        elif isinstance(child, ast.ImportFrom):
            names = [f"{child.module}.{alias.name}" for alias in child.names]
            found = [name if file_of(name) else str(child.module) for name in names]
        elif isinstance(child, ast.Constant) and isinstance(child.value, str):
            found = [child.value.partition(":")[0]]
        yield from ((name, lazy or by_name) for name in found if name.startswith("mcpframe.") and file_of(name))
        yield from imported(child, lazy=lazy or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef))


@cache
def imports_of_module(name: str) -> frozenset[tuple[str, bool]]:
    return frozenset(imported(ast.parse(module_paths()[name].read_bytes())))


@pytest.mark.parametrize("name", [*BUNDLES, *PROJECTS])
def test_every_import_in_a_bundle_is_of_a_module_in_it_or_of_an_optional_part(name: str) -> None:
    features = bundle(name).features
    for module in modules(name) - {"mcpframe"}:
        for target, lazy in imports_of_module(module):
            if target not in modules(name):
                part = part_of(target)
                assert lazy, (module, target)
                assert part, (module, target)
                assert part.features.isdisjoint(features), (module, target)


IMPORT_ALL = """
import sys
from importlib import import_module
from unittest.mock import MagicMock

for name in ("js", "pyodide", "pyodide.ffi", "pyodide.code", "pyodide_js", "pyodide.webloop"):
    sys.modules[name] = MagicMock()
folder, *modules = sys.argv[1:]
sys.path.insert(0, folder)
for name in modules:
    assert import_module(name).__file__.startswith(folder), name
"""
STARTED = (
    *("plain", "page", "http", "persist", "program", "names of the hub", "a page with all names"),
    *("templates/forecast", "templates/conversation", "static/extension/hub"),
)
"""Bundles that have every kind of module which can be imported with mcp 2.x."""


@pytest.mark.parametrize("name", STARTED)
def test_the_modules_of_a_bundle_are_imported_without_any_other(name: str, tmp_path: Path) -> None:
    for path, data in own_files(*bundle(name)).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", IMPORT_ALL, str(tmp_path), *sorted(modules(name))]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_nothing_of_the_tool_chain_is_in_a_bundle() -> None:
    files = own_files({"server.py": b"from mcpframe.kit.bundle import pipeline"}, SERVER)
    number = version("mcpframe")
    metadata = files.pop(f"mcpframe-{number}.dist-info/METADATA")
    assert f"Name: mcpframe\nVersion: {number}\n".encode() in metadata
    assert list(files) == sorted(files)
    assert not [path for path in files if not path.startswith(("mcpframe/frame/", "mcpframe/__init__.py"))]


def test_the_page_can_start() -> None:
    assert {"mcpframe.frame.boot.boot", "mcpframe.frame.compat.after_restore"} <= modules("plain")


HOSTING, HUB = "mcpframe.frame.hosting.mcp_apps.host", "mcpframe.hub.homes.page.page_hub"
PAGE_SERVER = "mcpframe.frame.page_server.server"


@pytest.mark.parametrize(
    ("code", "module"),
    [
        ("from mcpframe.hosts import AppHost", HOSTING),
        ("import mcpframe.hosts\nmcpframe.hosts.AppHost", HOSTING),
        ("import mcpframe.hosts as framed\ndef host(): return framed.AppHost(1)", HOSTING),
        ("from mcpframe import hosts as framed\nframed.AppHost(1).view", HOSTING),
        ("import mcpframe.frame.page.session_page\nmcpframe.hosts.AppHost", HOSTING),
        ("from mcpframe.hosts import *", HOSTING),
        ("import mcpframe.hosts\ngetattr(mcpframe.hosts, 'App' + 'Host')", HOSTING),
        ("from mcpframe import hosts\ngetattr(hosts, 'App' + 'Host')", HOSTING),
        ("from importlib import import_module\nimport_module('mcpframe.hosts').AppHost", HOSTING),
        ("import mcpframe\nmcpframe.page_server", PAGE_SERVER),
        ("import mcpframe\ngetattr(mcpframe, 'page_server')", PAGE_SERVER),
        ("from mcpframe.hub import PageHub", HUB),
        ("from mcpframe.hub.homes.page.page_hub import PageHub", HUB),
        ("from mcpframe.hub.homes.page import page_hub", HUB),
        ("import mcpframe.hub.homes.page.page_hub", HUB),
        ("def later():\n    import mcpframe.hub.homes.page.page_hub as app", HUB),
        ("try:\n    from mcpframe.hub.homes.page import page_hub\nexcept ImportError:\n    app = None", HUB),
        ("import_module('mcpframe.hub.homes.page.page_hub')", HUB),
        ("APP = 'mcpframe.hub.homes.page.page_hub:PageHub'", HUB),
        ("import_module(f'mcpframe.hub.{name}')", HUB),
        ("from mcpframe.frame.boot.page_main import run_page", "mcpframe.frame.boot.page_main"),
        ("def later(): from mcpframe.frame import world", "mcpframe.frame.world.resource_module"),
    ],
)
def test_each_way_to_import_a_module_brings_it(code: str, module: str) -> None:
    assert module in own_modules(*of(code))
    assert module not in modules("plain")


@pytest.mark.parametrize(
    "code",
    [
        "from mcpframe import FrameServer, Page",
        "import mcpframe\nserver = mcpframe.FrameServer('x')",
        "if TYPE_CHECKING:\n    from mcpframe.hosts import AppHost",
        "'This is not a mcpframe.hosts.AppHost and no mcpframe.hub.homes.page.page_hub.'",
        "import textwrap; from elsewhere import AppHost",
        "from mcpframe import nothing_like_it",
        "import sys; sys.modules.get('mcpframe.hub.homes.page.page_hub')",
        "import log; log.getLogger('mcpframe')",
        "def (:",
    ],
)
def test_other_code_brings_nothing(code: str) -> None:
    assert own_modules(*of(code)) == modules("plain")


@pytest.mark.parametrize(
    ("public", "name", "home"), [(public, *item) for public, homes in public_names().items() for item in homes.items()]
)
def test_a_public_name_brings_its_modules_unless_they_are_of_the_kit(public: str, name: str, home: str) -> None:
    brought = own_modules(*of(f"from {public} import {name}"))
    if home.startswith("mcpframe.kit."):
        assert brought - {public} == modules("plain")
    else:
        assert {public, home} <= brought


def test_every_bundle_has_the_table_of_the_public_modules_of_pages(tmp_path: Path) -> None:
    for path, data in own_files(*of("from mcpframe.hosts import parse_address")).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    program = "import json, mcpframe; print(json.dumps(mcpframe.NAMES))"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {each: homes for each, homes in public_names().items() if each in module_paths()}


PARTS = {part.root: part for part in map(part_of, module_paths()) if part}


@pytest.mark.parametrize("root", PARTS)
def test_an_optional_part_is_there_with_each_of_its_features_alone(root: str) -> None:
    features = PARTS[root].features
    assert features <= FEATURES.keys()
    for feature in features:
        assert root in own_modules(*of("", *PROGRAM, feature) if feature in ("mcp1", "mcp2") else of("", feature))
    assert root not in own_modules(*of("", *(FEATURES.keys() - features)))


def test_servers_of_one_sdk_share_what_does_not_depend_on_them() -> None:
    shared = shared_own_files(SERVER)
    for name, (code, features) in BUNDLES.items():
        own = own_files(code, features)
        assert shared_own_files(features).items() <= own.items(), name
        of_the_sdk = features & {"mcp1", "mcp2", "fastmcp", "program"}
        assert (shared_own_files(features) == shared) is (of_the_sdk == {"mcp2"}), name


def test_each_feature_brings_something() -> None:
    assert {feature for part in PARTS.values() for feature in part.features} == FEATURES.keys()


def test_a_page_knows_what_its_sdk_does_without() -> None:
    def known(name: str) -> set[str]:
        files = own_files(*bundle(name))
        found: dict[str, dict[str, object]] = {}
        exec(files["mcpframe/frame/compat/placeholder_advice.py"], found)  # our own file
        return set(found["MODULES"])

    assert {"cryptography", "httpx2", "jwt", "starlette", "uvicorn"} <= known("plain")
    assert known("program") - known("plain") >= {"httptools", "keyring", "yaml"}
    assert "rpds" not in known("program")  # a module of mcpframe stands in for it


def test_only_the_package_itself_imports_names_on_demand() -> None:
    for name, path in module_paths().items():
        functions = [node.name for node in ast.parse(path.read_bytes()).body if isinstance(node, ast.FunctionDef)]
        assert "__getattr__" not in functions, name


def test_interfaces_for_type_checkers_are_in_no_bundle() -> None:
    interfaces = {
        name for name in module_paths() if name.startswith("mcpframe.frame.") and name.endswith(".interfaces")
    }
    assert interfaces
    assert interfaces.isdisjoint(own_modules(*of(ALL, *FEATURES)))


@pytest.mark.parametrize("code", ["from mcpframe.hosts import OuterFrame", "from mcpframe import connect_to_host"])
def test_a_server_goes_without_the_roles_of_hosts_and_clients(code: str) -> None:
    further = {name for name in module_paths() if name.endswith(".further_roles")}
    assert "mcpframe.frame.dialects.plain_mcp.further_roles" in further
    assert further.isdisjoint(modules("plain"))
    assert further <= own_modules(*of(code))
