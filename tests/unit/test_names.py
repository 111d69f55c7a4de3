"""Each name means one thing: no two modules of the package have a public class of the same name."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

from tests.support.sources import REPOSITORY as ROOT
from tests.support.sources import files, parsed

SHARED = {"FrameServer": "where mcp 1.x serves, `other_server` stands in for `server`, name by name"}
"""Names that two classes may have, and why."""


def public_classes(folder: Path) -> dict[str, list[str]]:
    """Return the modules below a folder that define each public class."""
    homes = defaultdict(list)
    for path in files(folder):
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(path.relative_to(folder).as_posix())
    return homes


@pytest.mark.parametrize("folder", ["mcpframe", "static/inspector"])
def test_no_two_modules_have_a_public_class_of_the_same_name(folder: str) -> None:
    twice = {name: homes for name, homes in public_classes(ROOT / folder).items() if len(homes) > 1}
    assert {name: homes for name, homes in twice.items() if name not in SHARED} == {}
    assert set(SHARED) <= {name for each in ("mcpframe", "static/inspector") for name in public_classes(ROOT / each)}


def test_the_inspector_is_one_package() -> None:
    """Modules of an author may have any other name, such as `session` or `app`."""
    assert [path.name for path in (ROOT / "static" / "inspector").glob("*.py")] == []


GLOSSARY = re.findall(
    r"^\| ([a-z ]+) \| [^|]+ \| ((?:`\w+`(?:, )?)+) \|$",
    (ROOT / "docs" / "architecture.md").read_text("utf-8").partition("\n## Words\n")[2].partition("\n## ")[0],
    flags=re.MULTILINE,
)


def test_every_word_of_the_glossary_is_there_once_and_names_what_exists() -> None:
    words = [word for word, _ in GLOSSARY]
    assert len(words) == len(set(words)) >= 20
    known = {name for path in files(ROOT / "mcpframe") for name in (path.stem, path.parent.name)}
    known |= public_classes(ROOT / "mcpframe").keys()
    assert {name for _, names in GLOSSARY for name in re.findall(r"\w+", names)} - known == set()


@pytest.mark.parametrize(
    ("word", "homes"),
    [
        ("program", ("frame/core/errors.py", "frame/serving/", "kit/plain_python/")),
        ("app", ("frame/core/errors.py", "frame/hosting/mcp_apps/", "kit/project/pyproject.py", "kit/testing/")),
    ],
)
def test_modules_and_classes_with_a_word_are_where_it_has_its_meaning(word: str, homes: tuple[str, ...]) -> None:
    named = defaultdict(list)
    for path in files(ROOT / "mcpframe"):
        named[path.stem].append(path.relative_to(ROOT / "mcpframe").as_posix())
    for name, modules in public_classes(ROOT / "mcpframe").items():
        named[re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()] += modules
    found = [(name, path) for name, paths in named.items() if word in re.split("_", name) for path in paths]
    assert found
    assert [each for each in found if not each[1].startswith(homes)] == []


def test_the_table_of_where_to_begin_names_files_that_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    table = text.partition("\n## Where to begin with a change\n")[2].partition("\n## ")[0]
    paths = re.findall(r"`([a-z_]+(?:/[a-z_]+)+(?:\.\w+)?)`", table)
    assert len(paths) >= 20
    assert [path for path in paths if not any((root / path).exists() for root in (ROOT, ROOT / "mcpframe"))] == []


@pytest.mark.parametrize("module", ["setup.py", "author.py", "program.py", "place.py", "app.py"])
def test_no_two_modules_of_the_frame_and_the_hub_have_a_word_for_a_name(module: str) -> None:
    assert len([path for folder in ("frame", "hub") for path in files(ROOT / "mcpframe" / folder, module)]) <= 1


@pytest.mark.parametrize("name", ["rig.py", "page.py"])
def test_no_file_has_a_name_that_says_nothing(name: str) -> None:
    assert [path for folder in ("mcpframe", "static", "tests") for path in (ROOT / folder).rglob(name)] == []


def test_two_classes_of_the_same_name_would_be_noticed(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("class Page: ...\nclass _Own: ...\n")
    (tmp_path / "two.py").write_text("class Page: ...\nclass _Own: ...\nclass Other: ...\n")
    assert public_classes(tmp_path) == {"Page": ["one.py", "two.py"], "Other": ["two.py"]}
