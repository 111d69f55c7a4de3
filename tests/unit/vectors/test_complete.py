"""The vectors are complete and current: each message, state, error and line of the documentation has a case."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from docs.generate import DOCS
from docs.generate.dialects import OTHERS, followed, possible
from docs.generate.outcomes import in_words
from docs.generate.protocol import EVENTS, LOCALS
from mcpframe.frame.core import jsonrpc
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.core.roles import Role
from mcpframe.kit.base.data import static_dir
from tests.vectors import generate
from tests.vectors.cases import VECTORS, Case, cases, cases_in, dialects, files, roles
from tests.vectors.generate.__main__ import main
from tests.vectors.parts import parts

SEP = parts("sep").roles
PROTOCOL = "\n".join(page.read_text("utf-8") for page in sorted((DOCS / "reference" / "protocol").glob("sep*.md")))
OUTCOMES = {
    "SetupStarted": "setup started",
    "SetupCompleted": "set up",
    "SetupRequired": "setup required",
    "Opened": "opened",
    "Received": "received",
    "Refused": "refused",
    "Closed": "closed",
}
NO_MESSAGE = {
    "Unresponsive",  # silence, and its end: tests/unit/frame/core/test_liveness.py
    "Withdrawn",  # of several candidates, where a case has one role
}

CaseTable = list[Case]


@cache
def sep_cases() -> tuple[Case, ...]:
    return tuple(cases("sep"))


@cache
def kind_of(text: str) -> str | None:
    data = json.loads(text)
    kind = data.get("type") if isinstance(data, dict) else None
    return kind if isinstance(kind, str) else None


def trigger_of(case: Case) -> str | None:
    """Return the message type of a case, or what is done in it."""
    if "do" in case:
        return str(case["do"])
    if "make" in case:
        return None
    return kind_of(case["text"] if "text" in case else json.dumps(case["message"]))


def states_of(role: Role) -> set[str]:
    return {str(state) for rule in role.rules for state in (rule.state, rule.to)}


# What is there is in order


@pytest.mark.parametrize("path", files("sep"), ids=lambda path: path.stem)
def test_each_file_has_the_format(path: Path) -> None:
    schema = json.loads((VECTORS / "schema.json").read_text("utf-8"))
    table = json.loads(path.read_text("utf-8"))
    assert [error.message for error in Draft202012Validator(schema).iter_errors(table)] == []
    assert all({"role", "state"} <= set(case) for case in cases_in(path))


def test_each_case_has_a_name_of_its_own() -> None:
    names = [case["name"] for case in sep_cases()]
    assert sorted(names) == sorted(set(names))


def test_the_generated_files_are_what_the_generator_makes() -> None:
    assert main(["--check"]) is None


def test_a_generated_file_that_is_stale_or_left_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    made = generate.generated()
    (first, text), (second, _) = list(made.items())[:2]
    monkeypatch.setattr("tests.vectors.generate.__main__.generated", lambda: {**made, first: text + " "})
    assert first.name in str(main(["--check"]))
    monkeypatch.setattr(
        "tests.vectors.generate.__main__.generated",
        lambda: {path: text for path, text in made.items() if path != second},
    )
    assert second.name in str(main(["--check"]))


def test_the_generator_imports_nothing_of_mcpframe() -> None:
    for path in (VECTORS / "generate").glob("*.py"):
        assert "mcpframe" not in re.findall(r"(?m)^\s*(?:from|import) (\w+)", path.read_text("utf-8"))


# Nothing is missing


@pytest.mark.parametrize("dialect", dialects())
def test_each_state_of_each_role_has_its_way_in(dialect: str) -> None:
    ways = roles(dialect)["roles"]
    assert {name: set(ways[name]["states"]) for name in ways} == {
        name: states_of(role) for name, role in parts(dialect).roles.items()
    }


def without_a_case(table: Iterable[Case]) -> set[tuple[str, str, str]]:
    """Return each role, state and message type, known to any role, for which there is no case."""
    covered = {(case["role"], case["state"], trigger_of(case)) for case in table}
    kinds = {kind for role in SEP.values() for kind in role.readers}
    return {
        (name, state, kind)
        for name, role in SEP.items()
        for state in states_of(role)
        for kind in kinds
        if (name, state, kind) not in covered
    }


def test_each_message_has_a_case_in_each_state_of_each_role() -> None:
    assert without_a_case(sep_cases()) == set()
    less = [case for case in sep_cases() if (case["state"], trigger_of(case)) != ("open", "MCP_SETUP_REQUIRED")]
    assert {name for name, *_ in without_a_case(less)} == {"inner transport", "outer transport"}


def test_each_rule_has_a_case() -> None:
    covered = {(case["role"], case["state"], trigger_of(case), case["next"]) for case in sep_cases()}
    consequence = "the peer's last message was refused"  # of a message: see the lines of the documentation
    missing = {
        (name, str(rule.state), str(rule.trigger), str(rule.to))
        for name, role in SEP.items()
        for rule in role.rules
        if rule.trigger != consequence
    } - covered
    assert missing == set()


@pytest.mark.parametrize("dialect", OTHERS)
def test_each_rule_of_the_other_dialects_is_followed_by_a_case(dialect: str) -> None:
    """Their tables in the documentation say what such a case has as its outcome."""
    for name, role in parts(dialect).roles.items():
        assert set(followed(dialect, name)) == set(possible(role)), name


def test_each_error_of_a_message_has_a_case() -> None:
    refused = {output["refused"] for case in sep_cases() for output in case["outcome"] if "refused" in output}
    assert {kind.__name__ for kind in MessageError.__subclasses__()} <= refused
    assert not any(kind.__subclasses__() for kind in MessageError.__subclasses__())


def test_each_error_of_a_message_has_a_case_that_host_js_plays() -> None:
    outer = [case for case in sep_cases() if case["role"].startswith("outer")]
    refused = {output["refused"] for case in outer for output in case["outcome"] if "refused" in output}
    assert {kind.__name__ for kind in MessageError.__subclasses__()} <= refused


def test_each_event_has_a_case() -> None:
    events = {kind.__name__ for kind in EVENTS}
    assert events - NO_MESSAGE == set(OUTCOMES)
    told = {name for case in sep_cases() for output in case["outcome"] for name in output}
    assert set(OUTCOMES.values()) <= told


def test_each_code_of_json_rpc_has_a_case() -> None:
    own = [case for case in sep_cases() if "error" not in case.get("payload", {})]
    codes = {output["code"] for case in own for output in case["outcome"] if "code" in output}
    assert codes == {jsonrpc.INVALID_REQUEST, jsonrpc.INTERNAL_ERROR, jsonrpc.CONNECTION_CLOSED}


# The documentation


def generated_rows(what: str) -> list[list[str]]:
    """Return the lines of a generated table of docs/reference/protocol."""
    part = re.search(rf"<!-- generated: {what} -->\n(.*?)<!-- end generated -->", PROTOCOL, re.DOTALL)
    assert part
    lines = [line for line in part[1].splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


@pytest.mark.parametrize("name", SEP)
def test_each_line_of_the_tables_of_rules_has_a_case(name: str) -> None:
    triggers = {phrase: str(local) for local, phrase in LOCALS.items()}
    played: dict[tuple[str, str | None, str], list[set[str]]] = {}
    for case in sep_cases():
        if case["role"] == name:
            words = {in_words(output) for output in case["outcome"]}
            played.setdefault((case["state"], trigger_of(case), case["next"]), []).append(words)
    rows = generated_rows(f"transitions {name}")
    assert rows
    for state, happening, following, outputs in rows:
        message = re.search(r"`(MCP_\w+)`", happening)
        trigger = message[1] if message else triggers[happening]
        words = set() if outputs == "nothing" else set(outputs.split(", "))
        if happening.startswith("a refused"):
            words.add("refused: `MalformedMessage`")
        assert words in played[state, trigger, following], (state, happening)


def without(kind: str, field: str) -> bool:
    """Return whether messages without a field of the first level are refused in some cases, and not in others."""
    refused = {
        {"refused": "MalformedMessage"} in case["outcome"]
        for case in sep_cases()
        if "message" in case and trigger_of(case) == kind and field not in case["message"]
    }
    return refused == {True, False}


def test_each_line_of_the_tables_of_fields_has_a_case() -> None:
    """And whether a field is needed is what comes of a message without it."""
    needed: dict[tuple[str, str], bool] = {}
    for case in sep_cases():
        match = re.fullmatch(r"fields_\w+: (?:[\w ,]+): (\S+) missing", case["name"])
        if match:
            refused = {"refused": "MalformedMessage"} in case["outcome"]
            needed[str(trigger_of(case)), re.sub(r"\.0(?=\.|$)", "[]", match[1])] = refused
    kind = ""
    part = re.search(r"<!-- generated: fields -->\n(.*?)<!-- end generated -->", PROTOCOL, re.DOTALL)
    assert part
    rows = 0
    for line in part[1].splitlines():
        if line.startswith("### "):
            kind = line.removeprefix("### ")
        elif line.startswith("| `"):
            rows += 1
            field, _, is_needed, _ = (cell.strip() for cell in line.strip("|").split(" | "))
            if is_needed.startswith("unless"):
                assert without(kind, field.strip("`")), (kind, field)
            else:
                assert needed[kind, field.strip("`")] == (is_needed == "yes"), (kind, field)
    assert rows > 20


def test_every_message_of_the_documentation_has_a_case() -> None:
    """Each message that a page shows as JSON is accepted by the role that it is for."""
    accepted: dict[str, list[Any]] = {}
    for case in sep_cases():
        if not any("refused" in output for output in case["outcome"]) and case["outcome"]:
            accepted.setdefault(str(trigger_of(case)), []).append(case)
    for kind in re.findall(r'"type": "(MCP_\w+)"', PROTOCOL):
        assert accepted[kind], kind


def test_the_table_at_the_top_of_host_js_has_each_message_that_it_takes() -> None:
    source = (static_dir() / "host" / "host.js").read_text("utf-8")
    rows = set(re.findall(r"(?m)^ \*     ([a-z ]+?) +(MCP_\w+) ", source))
    taken = {
        (case["state"], trigger_of(case))
        for case in sep_cases()
        if case["role"].startswith("outer")
        and any(not {"refused", "raises"} & set(output) for output in case["outcome"])
        and str(trigger_of(case)).startswith("MCP_")
    }
    assert rows == taken
