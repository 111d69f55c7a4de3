"""An installation without extras, and the errors of commands that need one: as if nothing else was installed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.extras import MODULES
from tests.support.sources import PACKAGE, files

PROJECT = tomllib.loads((checkout_dir() / "pyproject.toml").read_text("utf-8"))["project"]
OF_AUTHORS = (
    "bundle",
    "dev/inspector.py",
    "dev/server.py",
    "project",
    "publish",
    "static_hosts",
    "testing/in_memory.py",
)
"""Those that work with the extra of authors alone."""
OF_USERS = ("base", "bridge", "browser/devtools", "client", "edges", "hub", "servers", "web")
"""The rooms of the kit that work without extras; a module of them may import more in its functions."""
LATER = ("mcpframe.kit.hub.extension.build", "mcpframe.kit.publish.view_checks", "mcpframe.kit.servers.imported")
"""Modules that need a further extra: `hub --extension`, `serve --python` (of authors), `check --views` (of tests)."""
IN_PYODIDE = "mcpframe.kit.bundle.in_pyodide"

_HIDE = "import json, sys; sys.modules.update(dict.fromkeys(json.loads(sys.argv[1]))); "
_IMPORT = """
import importlib
for name in sys.argv[2:]: importlib.import_module(name)
print(*{name.partition(".")[0] for name in sys.modules if sys.modules[name]})
"""
_RUN = """
from mcpframe.kit.cli.main import main
for words in map(str.split, sys.argv[2:]):
    sys.argv = ["mcpframe", *words]
    try: main()
    except SystemExit as end: print(end.code, file=sys.stderr)
"""


def closure(requirements: list[str]) -> set[str]:
    """Return the names of the packages of requirements, and of all that they require here."""
    found: set[str] = set()
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        requirement = waiting.pop()
        extras = requirement.extras or {""}
        name = canonicalize_name(requirement.name)
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        if name not in found:
            found.add(name)
            for text in metadata.requires(name) or ():
                each = Requirement(text)
                if not each.marker or any(each.marker.evaluate({"extra": extra}) for extra in extras):
                    each.marker = None
                    waiting.append(each)
    return found


@cache
def hidden(*extras: str) -> str:
    """Return the names of the modules that are installed here, and not by mcpframe with these extras, as JSON."""
    wanted = [PROJECT["dependencies"], *(PROJECT["optional-dependencies"][extra] for extra in extras)]
    base = closure([text for texts in wanted for text in texts]) | {"mcpframe"}
    owners = metadata.packages_distributions()
    names = [name for name, of in owners.items() if not {canonicalize_name(each) for each in of} & base]
    return json.dumps([name for name in names if name not in ("tests", "__pycache__")])


def run(program: str, *arguments: str, cwd: Path, extras: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(checkout_dir()), "NO_COLOR": "1", "COLUMNS": "1000"}
    return subprocess.run(
        [sys.executable, "-P", "-c", _HIDE + program, hidden(*extras), *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def modules(rooms: Sequence[str]) -> Iterator[str]:
    for room in rooms:
        place = PACKAGE / "kit" / room
        for path in files(place) if place.is_dir() else [place]:
            name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
            if not name.startswith((*LATER, IN_PYODIDE)):
                yield name


@pytest.mark.parametrize(("extras", "rooms"), [((), OF_USERS), (("author",), OF_AUTHORS)], ids=["users", "authors"])
def test_commands_import_only_what_is_installed_for_them(
    extras: Sequence[str], rooms: Sequence[str], tmp_path: Path
) -> None:
    done = run(_IMPORT, "mcpframe.kit.cli.main", *modules(rooms), cwd=tmp_path, extras=extras)
    assert done.returncode == 0, done.stderr


def test_the_command_line_itself_imports_little(tmp_path: Path) -> None:
    """It starts in a fifth of a second, as the libraries of a command are imported by that command."""
    done = run(_IMPORT, "mcpframe.kit.cli.main", cwd=tmp_path)
    loaded = set(done.stdout.split()) - sys.stdlib_module_names
    theirs = {name for name in loaded if name in metadata.packages_distributions()}
    assert theirs <= {"mcpframe", "typer", "rich", "annotated_doc", "platformdirs", "shellingham", "typing_extensions"}


COMMANDS: Mapping[str, tuple[str, str]] = {
    "new x": ("mcpframe new", "author"),
    "build": ("mcpframe build", "author"),
    "build package:x": ("mcpframe build", "author"),
    "dev": ("mcpframe dev", "author"),
    "run x": ("mcpframe run", "author"),
    "inspect": ("The inspector, a page that is built on this machine,", "author"),
    "packages fetch numpy --to x": ("mcpframe packages fetch", "author"),
    "hub --extension x --site *": ("Building an extension", "author"),
    "call . add": ("Building a server", "author"),
    "list package:x --set args=y": ("Building a package", "author"),
    "check https://x.example/": ("mcpframe check", "author"),
    "serve .": ("Building a server", "author"),
    "serve . --python": ("mcpframe serve --python", "author"),
    "install . --client cursor --yes": ("Building a server", "author"),
    "test": ("mcpframe test", "test"),
    "hub --http --rate-limit 60/minute": ("A rate limit", "public"),
}


def test_a_command_names_the_extra_that_it_needs_and_does_nothing(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1"\n')
    (tmp_path / "server.py").write_text("")
    before = sorted(tmp_path.iterdir())
    done = run(_RUN, *COMMANDS, cwd=tmp_path)
    expected = [
        f'error: {what} needs the extra {extra!r}: run `pip install "mcpframe[{extra}]"`, or begin the command with '
        f'`uvx --from "mcpframe[{extra}]" mcpframe`.\n1\n'
        for what, extra in COMMANDS.values()
    ]
    assert done.stderr == "".join(expected)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("extra", MODULES)
def test_each_extra_is_known_by_its_packages(extra: str) -> None:
    """Those of other extras, and zstd of older Pythons, are left out."""
    wanted = PROJECT["optional-dependencies"][extra]
    names = {re.split(r"[^\w-]", text)[0] for text in wanted} - {"mcpframe", "backports-zstd"}
    assert {"jwt" if name == "pyjwt" else name.replace("-", "_") for name in names} == set(MODULES[extra])
