"""The public names: each in one list, importable, documented, used, and free until then; and nothing else is used."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from importlib import import_module

import pytest

from mcpframe.kit.bundle.code.public_names import public_names
from tests.support.sources import REPOSITORY, files, imports, nodes

NAMES = [(module, name) for module, names in public_names().items() for name in names]
HOMES = {name: home for names in public_names().values() for name, home in names.items()}
DOCS = REPOSITORY / "docs"
REFERENCE = DOCS / "reference" / "python.md"
PAGES = [REPOSITORY / "README.md", *(path for path in files(DOCS, "*.md") if path != REFERENCE)]
OF_AUTHORS = [
    path
    for folder in (DOCS / "examples", REPOSITORY / "templates", REPOSITORY / "static" / "inspector")
    for path in files(folder)
]
INTERNALS = {"architecture.md", "hub-checklist.md", "performance.md", "errors.md", "limits.md"}
"""The pages about mcpframe's own modules."""


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_a_public_name_is_the_one_that_its_module_defines(module: str, name: str) -> None:
    value = getattr(import_module(module), name)
    assert value is getattr(import_module(HOMES[name]), name)
    assert value.__module__ == HOMES[name] if isinstance(value, type) else value is not None
    assert name in dir(import_module(module))


@pytest.mark.parametrize("module", public_names())
def test_a_public_module_lists_its_names_and_no_others(module: str) -> None:
    assert [*public_names()[module]] == import_module(module).__all__
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = import_module(module).nothing


def test_no_name_is_in_two_lists_and_an_author_needs_few() -> None:
    assert [name for name, times in Counter(name for _, name in NAMES).items() if times > 1] == []
    assert len(public_names()["mcpframe"]) <= 32


def used() -> set[str]:
    """Return the names that documents mention, and those that authors' code and tests import."""
    found = {word for page in PAGES for code in re.findall(r"`[^`]+`", page.read_text("utf-8")) for word in WORD(code)}
    for path in (*OF_AUTHORS, *files(REPOSITORY / "tests")):
        found |= {module.rpartition(".")[2] for module in imports(path) if module.startswith("mcpframe.")}
    return found


WORD = re.compile(r"\w+").findall


def of_interfaces(names: set[str]) -> set[str]:
    """Return the names in the annotations of the modules of public names: the types of attributes and results."""
    found: set[str] = set()
    for home in {HOMES[name] for name in names & HOMES.keys() - {"errors"}}:
        for node in nodes(REPOSITORY / f"{home.replace('.', '/')}.py"):
            for part in ("annotation", "returns"):
                if isinstance(annotation := getattr(node, part, None), ast.expr):
                    found |= {*WORD(ast.unparse(annotation))}
    return found


def test_every_public_name_is_used_or_the_type_of_something_used() -> None:
    names = used()
    assert {name for _, name in NAMES} - names - of_interfaces(names) == set()


def private(text: str) -> list[str]:
    """Return the modules below the public ones that a text names."""
    return re.findall(r"\bmcpframe\.(?:frame|kit|hub\.[a-z]\w*|views\.[a-z]\w*)\b[\w.]*", text)


def test_documents_and_authors_code_use_public_names_only() -> None:
    public = {"mcpframe.views.view_html", "mcpframe.views.view_meta"}
    pages = [page for page in PAGES if page.name not in INTERNALS and "protocol" not in page.parts]
    found = {page.name: {*private(page.read_text("utf-8"))} - public for page in pages}
    found |= {path.relative_to(REPOSITORY).as_posix(): {*private("\n".join(imports(path)))} for path in OF_AUTHORS}
    assert {name: modules for name, modules in found.items() if modules} == {}


def test_names_are_imported_when_they_are_used_and_plain_ones_without_the_sdk() -> None:
    program = (
        "import sys, mcpframe, mcpframe.hosts, mcpframe.wire, mcpframe.hub, mcpframe.views, mcpframe.testing\n"
        "own = {name for name in sys.modules if name.startswith('mcpframe.')}\n"
        "assert own == {'mcpframe.' + each for each in ('hosts', 'wire', 'hub', 'views', 'testing')}, own\n"
        "from mcpframe import Element, File\nfrom mcpframe.hosts import Options, parse_address\n"
        "from mcpframe.wire import Closed, Refused, SetupRequired, VisibilityChanged, Wire\n"
        "print('mcp' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "False"
