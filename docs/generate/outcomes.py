"""The outcome of each message in each role, and of each rejection, from the vectors of the tests."""

from __future__ import annotations

from functools import cache
from typing import Any

from docs.generate.docstrings import summary, table
from docs.generate.talking import ROLES
from docs.generate.wire_names import named
from mcpframe.frame.core import errors
from mcpframe.frame.core.errors import MessageError
from tests.vectors.cases import Case, cases, cases_in, files

_EVENTS = {
    "setup started": "`SetupStarted`",
    "setup required": "`SetupRequired`",
    "set up": "`SetupCompleted`",
    "opened": "`Opened`",
    "received": "`Received`",
    "view called": "`ViewCalled`",
    "host found": "`HostFound`",
    "embedder found": "`EmbedderFound`",
}
_DEAF = ("idle", "closed")


@cache
def _cases(dialect: str) -> tuple[Case, ...]:
    return tuple(cases(dialect))


def in_words(output: dict[str, Any], dialect: str = "sep") -> str:
    """Return an output of a case of a dialect for the tables of the documentation."""
    if "posts" in output:
        # The SEP's messages have a type of their own each, which its tables of rules are about.
        message = output["posts"]["type"] if dialect == "sep" else named(output["posts"], dialect)
        return f"sends `{message}` to {'`*`' if output['to'] == '*' else 'the ' + output['to']}"
    if "hands over" in output:
        return f"hands over a port with `{output['hands over']}` to the {output['to']}"
    if "answers" in output:
        return f"an error answer, {output['code']}"
    if "fails" in output:
        return f"a request fails, {output['code']}"
    if "closed" in output:
        return f"`Closed` ({output['closed'] or 'a regular end'})"
    for name in ("refused", "raises"):
        if name in output:
            return f"{name}: `{output[name]}`"
    return next(_EVENTS[name] for name in output)


def messages(name: str) -> str:
    """Return what a role such as `inner setup` does with a valid message of each type, in each state that listens."""
    (path,) = (path for path in files("sep") if path.stem == f"states_{name.replace(' ', '_')}")
    found: dict[str, dict[str, list[str]]] = {}
    for case in cases_in(path):
        message = case.get("message")
        kind = message.get("type") if isinstance(message, dict) and "from" not in case else None
        if not isinstance(kind, str) or kind not in _kinds() or case["state"] in _DEAF:
            continue
        words = ", ".join(map(in_words, case["outcome"])) or "nothing"
        moved = f" → {case['next']}" if case["next"] != case["state"] else ""
        cells = found.setdefault(kind, {}).setdefault(case["state"], [])
        if words + moved not in cells:
            cells.append(words + moved)
    states = list(dict.fromkeys(state for cells in found.values() for state in cells))
    rows = [[f"`{kind}`", *("; ".join(cells[state]) for state in states)] for kind, cells in found.items()]
    return table(["message", *states], rows)


def _kinds() -> set[str]:
    return {kind for role in ROLES.values() for kind in role.readers}


def refusals(dialect: str) -> str:
    """Return every error that rejects a message, and the answer to its open request in an open session.

    Args:
        dialect: The dialect; of the others than the SEP only the errors that their vectors have.
    """
    rows = []
    for error in MessageError.__subclasses__():
        name = error.__name__
        answers, fails = (_codes(dialect or "sep", name, member) for member in ("answers", "fails"))
        if dialect and not any({"refused": name} in case["outcome"] for case in _cases(dialect)):
            continue
        rows.append([f"`{name}`", summary(getattr(errors, name)), answers or "-", fails or "-"])
    head = ["error", "meaning", "the peer's request is answered with", "our request, whose answer it was, fails with"]
    return table(head, rows)


def _codes(dialect: str, error: str, name: str) -> str:
    codes = {
        output["code"]
        for case in _cases(dialect)
        if {"refused": error} in case["outcome"] and "do" not in case
        for output in case["outcome"]
        if name in output
    }
    return ", ".join(f"`{code}`" for code in sorted(codes))
