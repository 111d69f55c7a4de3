"""The documentation: its generated parts are current, its examples run, and what it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from docs.generate import EXAMPLES, ROOT, UnknownPart, pages, rendered, stale_pages
from docs.generate.site import render
from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.packages.lock import read_lock
from mcpframe.kit.cli.main import app
from mcpframe.kit.project.project import find_project
from tests.support.author_tests import run_projects

PROJECTS = sorted({*(path.parent for path in EXAMPLES.rglob("pyproject.toml")), EXAMPLES / "adder" / "adder.py"})
SHOWN = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in pages()}
GENERATED = re.compile(r"<!-- generated: .*?<!-- end generated -->", re.DOTALL)


def test_the_generated_parts_are_current() -> None:
    assert stale_pages() == [], "write them anew with: python3 build.py docs"


def test_a_part_that_cannot_be_generated_is_said() -> None:
    for wrong in ("nothing", "example docs/nowhere.py", "example docs/examples/adder/adder.py def nowhere"):
        with pytest.raises(UnknownPart):
            rendered(f"<!-- generated: {wrong} -->\n<!-- end generated -->\n")


@pytest.mark.parametrize("link", ["other.md", "other.md#nowhere", "nowhere.md"])
def test_a_link_that_leads_nowhere_stops_the_site(link: str, tmp_path: Path) -> None:
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    validation = settings[settings.index("\nvalidation:") :]
    (tmp_path / "mkdocs.yml").write_text(f"site_name: links\n{validation}")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(f"# Links\n\n[a link]({link})\n")
    (tmp_path / "docs" / "other.md").write_text("# Other\n")
    if link == "other.md":
        render(tmp_path)
        return
    with pytest.raises(BuildError, match="nowhere"):
        render(tmp_path)


@pytest.mark.parametrize("name", SHOWN)
def test_every_piece_of_code_is_a_file_that_a_test_runs(name: str) -> None:
    typed = re.findall(r"^```(\w*)", GENERATED.sub("", SHOWN[name]), flags=re.MULTILINE)
    assert set(typed) <= {"", "console", "json", "text"}


@pytest.mark.parametrize("name", SHOWN)
def test_every_test_that_is_named_is_there(name: str) -> None:
    for path, test in re.findall(r"`(tests/[\w/.]+)::(\w+)`", SHOWN[name]):
        assert re.search(rf"^(async )?def {test}\(", (ROOT / path).read_text("utf-8"), flags=re.MULTILINE), test


@pytest.mark.parametrize("name", SHOWN)
def test_every_command_that_is_shown_is_there(name: str) -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    for verb, rest in re.findall(r"mcpframe (?!=)([a-z]+)\b([^`\n#]*)", "\n".join(commands(SHOWN[name]))):
        command = group.commands[verb]
        if isinstance(command, typer.core.TyperGroup):
            command = command.commands[rest.split()[0]]
        if command.context_settings.get("ignore_unknown_options"):
            continue  # options go on to pytest
        options = {option for part in command.params for option in [*part.opts, *part.secondary_opts]}
        assert set(re.findall(r"--[a-z-]+", rest)) <= options, verb


def test_every_command_has_its_section() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    sections = re.findall(r"^<!-- generated: commands (.*) -->$", "\n".join(SHOWN.values()), flags=re.MULTILINE)
    assert sorted(" ".join(sections).split()) == sorted(group.commands)


def commands(text: str) -> list[str]:
    """Return the lines of a page that are commands, in blocks and in the text."""
    blocks = re.findall(r"^\$ (mcpframe .*)$", text, flags=re.MULTILINE)
    return [*blocks, *re.findall(r"`(mcpframe [a-z][^`]*)`", text)]


def test_every_link_of_the_readme_leads_somewhere() -> None:
    """Those between the pages of docs/ are checked where its site is built."""
    links = re.findall(r"\]\(([^)#]+)", SHOWN["README.md"])
    assert links
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


@pytest.mark.parametrize("folder", sorted(EXAMPLES.glob("*/")), ids=lambda path: path.name)
def test_every_example_is_shown(folder: Path) -> None:
    assert f"<!-- generated: example {folder.relative_to(ROOT).as_posix()}/" in "".join(SHOWN.values())


@pytest.mark.parametrize("path", PROJECTS, ids=lambda path: path.stem)
def test_every_example_is_a_project_with_its_lock(path: Path) -> None:
    assert read_lock(find_project(path).lock_path)


def test_the_examples_own_tests_pass() -> None:
    folders = [EXAMPLES / name for name in ("adder", "glossary", "notes", "pictures", "primes", "tickets")]
    runs = run_projects(folders)
    assert {folder.name: output[-5000:] for folder, (code, output) in runs.items() if code} == {}
    assert [*runs] == folders
