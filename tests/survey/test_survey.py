"""The survey's own logic, and a survey of packages in a local index."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import ConfigError
from tests.support.wheels import use_index, write_wheel
from tests.survey.outcomes import Outcome, advised_to_leave_out, in_one_line, read_outcome, stage_of
from tests.survey.packages import LIST, Package, read_packages
from tests.survey.run import in_process, survey
from tests.survey.table import as_markdown, as_text, summary

GOOD = Package("good-server==1.0", "add")
BAD = Package("bad-server==1.0", "add")
UNFAIR = Package("git-server==1.0", "log", needs="the program git")
OUTCOMES = {
    "good-server": Outcome("good-server", GOOD.digest, "1.0", "mcp 1.30.0", 2, 8_400_000, 12.34),
    "bad-server": Outcome("bad-server", BAD.digest, stage="no wheel", message="a | b"),
    "git-server": Outcome("git-server", UNFAIR.digest, stage="main", message="no processes"),
}

SERVER = """
from mcp.server.fastmcp import FastMCP

server = FastMCP("adder")

@server.tool()
def add(a: int, b: int) -> int:
    return a + b

def main() -> None:
    import uvicorn  # for another transport, as the programs of many servers do

    server.run()
"""


def test_the_packages_of_the_survey_are_by_many_authors() -> None:
    packages = read_packages(LIST)
    assert len(packages) >= 30
    assert all("==" in package.requirement and package.tool for package in packages)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "package = 1",
        "[[package]]\nrequirement = 'a==1'\n",
        "[[package]]\nrequirement = 'a==1'\ntool = 'a'\ncolour = 'red'\n",
        "[[package]]\nrequirement = 'a==1'\ntool = 'a'\n[[package]]\nrequirement = 'A'\ntool = 'a'\n",
    ],
)
def test_a_list_that_is_none(text: str, tmp_path: Path) -> None:
    file = tmp_path / "packages.toml"
    file.write_text(text)
    with pytest.raises(ConfigError):
        read_packages(file)


@pytest.mark.parametrize(
    ("step", "message", "stage"),
    [
        ("", "there is no such package", "resolution"),
        ("Resolving the requirements", "lupa 2 has no wheel that runs in Pyodide: neither", "no wheel"),
        ("Fetching wheels", "the wheel is damaged", "resolution"),
        ("Fetching wheels", "https://… could not be fetched (no network)", "download"),
        ("Calling the tool", "the page could not be fetched", "call"),
        ("Resolving the requirements", "/folder does not have a-1-cp314-cp314-any.whl: put them there", "download"),
        ("Importing the server in Pyodide", "The server 'a:b' does not start in the page: ImportError", "import"),
        ("Importing the server in Pyodide", "'a:b' does not start in the page: The program 'a' exited", "main"),
        ("Resolving the requirements", "'a:b' does not start in the page: The program 'a' exited", "main"),
        ("Taking a snapshot in a browser", "it crashed", "page"),
        ("Opening the page", "no handshake", "page"),
        ("Calling the tool", "add answers with an error", "call"),
    ],
)
def test_the_stage_of_a_failure(step: str, message: str, stage: str) -> None:
    assert stage_of(step, message) == stage


def test_a_reason_is_one_line() -> None:
    assert in_one_line("\n  The first.\nThe second.") == "The first."
    assert in_one_line("") == "no reason was given"
    assert len(in_one_line("word " * 1000)) < 300
    assert in_one_line("The server 'a:b' does not start in the page: It exits.") == "It exits."
    fetched = "https://host.example/full/lxml-6.1.3-cp314-any.whl could not be fetched (no network): check it"
    assert in_one_line(fetched) == "lxml 6.1.3 of Pyodide's distribution"
    missing = "/folder does not have a-1-cp314-cp314-b.whl, c-2-py3-none-any.whl: put them there (`…` does), or build"
    assert in_one_line(missing) == "the distribution that was tried lacks a-1, c-2"
    missing = (
        "docopt 0.6.2 has no wheel that runs in Pyodide: neither pure Python nor WebAssembly. Somebody requires it"
    )
    assert in_one_line(missing) == "docopt 0.6.2 has no wheel that runs in Pyodide"


def test_what_an_error_advises_to_leave_out_is_tried_without() -> None:
    assert advised_to_leave_out('leave it out (tool.mcpframe.leave_out = ["lupa"], if it works without)') == "lupa"
    assert advised_to_leave_out("leave_out is no help") == ""


class Attempts:
    """Counts the trials, and fails those of one package."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, package: Package, folder: Path) -> Outcome:
        self.names.append(package.name)
        return Outcome(package.name, package.digest, stage="call" if package.name == "bad-server" else "")


def test_a_run_goes_on_where_the_last_one_stopped(tmp_path: Path) -> None:
    attempts = Attempts()
    survey([GOOD], tmp_path, attempt=attempts)
    assert [item.stage for item in survey([GOOD, BAD], tmp_path, attempt=attempts)] == ["", "call"]
    survey([GOOD, BAD], tmp_path, attempt=attempts)
    assert attempts.names == ["good-server", "bad-server"]


def test_what_is_tried_anew(tmp_path: Path) -> None:
    attempts = Attempts()
    survey([GOOD, BAD], tmp_path, attempt=attempts)
    survey([GOOD, BAD], tmp_path, attempt=attempts, again=True)
    survey([GOOD, BAD], tmp_path, attempt=attempts, names=["good-server"])
    survey([replace(GOOD, tool="other"), BAD], tmp_path, attempt=attempts)
    assert attempts.names[2:] == ["bad-server", "good-server", "good-server"]
    with pytest.raises(ConfigError, match="unknown-server"):
        survey([GOOD], tmp_path, attempt=attempts, names=["unknown-server"])


def test_an_outcome_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"name": ')
    (tmp_path / "b.json").write_text('{"colour": 1}')
    assert [read_outcome(tmp_path, name) for name in "abc"] == [None] * 3


def test_the_table_has_what_became_of_each() -> None:
    packages = [GOOD, BAD, UNFAIR, Package("untried", "add")]
    assert summary(packages, OUTCOMES).startswith("1 of 3 packages answer, and 1 of the 2 that need")
    lost = {**OUTCOMES, "untried": Outcome("untried", "", stage="download", message="could not be fetched")}
    assert summary(packages, lost).startswith("1 of 3 packages answer, and 1 of the 2 that need")
    assert "1 more could not be built" in summary(packages, lost)
    text = as_text(packages, OUTCOMES)
    assert "no wheel: a | b" in text
    behind = replace(OUTCOMES["bad-server"], behind="without lupa: answers")
    assert "no wheel: a | b; without lupa: answers" in as_text(packages, {"bad-server": behind})
    assert "(needs the program git)" in text
    markdown = as_markdown(packages, OUTCOMES)
    assert "| good-server | 1.0 | mcp 1.30.0 | 2 | 8.4 MB | 12 | `add` answers |" in markdown
    assert "no wheel: a \\| b" in markdown


def _listed(folder: Path, packages: Mapping[str, str]) -> Path:
    file = folder / "packages.toml"
    items = (f"[[package]]\nrequirement = '{item}'\n{rest}\n" for item, rest in packages.items())
    file.write_text("\n".join(items))
    return file


@pytest.mark.extended
@pytest.mark.slow
@pytest.mark.network
@pytest.mark.browser
def test_a_survey_of_a_local_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = tmp_path / "index"
    script = {"scripts": {"adder": "adder:main"}, "requires": ["mcp"]}
    write_wheel(index, "survey-adder", {"adder.py": SERVER}, **script)
    write_wheel(index, "survey-exits", {"adder.py": "def main():\n    raise SystemExit('set A_KEY')\n"}, **script)
    write_wheel(index, "survey-hangs", {"adder.py": "while True:\n    pass\n"}, **script)
    use_index(index, monkeypatch)
    monkeypatch.setenv("MCPFRAME_SNAPSHOT", "0")
    call = "tool = 'add'\narguments = { a = 40, b = 2 }\n"
    file = _listed(
        tmp_path,
        {
            "survey-adder==1.0": f"{call}expects = '42'",
            "survey-exits==1.0": call,
            "survey-hangs==1.0": call,
            "survey-none==1.0": call,
        },
    )

    def attempt(package: Package, folder: Path) -> Outcome:
        return in_process(file, deadline=12 if package.name == "survey-hangs" else 300)(package, folder)

    adder, exits, hangs, none = survey(read_packages(file), tmp_path / "kept", attempt=attempt)
    assert (adder.stage, adder.why, adder.tools, adder.sdk[:5]) == ("", "", 1, "mcp 1")
    assert (adder.first_visit or 0) > 1_000_000
    assert (exits.stage, "set A_KEY" in exits.message) == ("main", True)
    assert "within 12 s" in hangs.why
    assert none.stage == "resolution"


def test_a_process_that_dies_is_an_outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    file = _listed(tmp_path, {"good-server==1.0": "tool = 'add'"})
    [package] = read_packages(file)
    assert in_process(file)(package, tmp_path).stage == "resolution"
