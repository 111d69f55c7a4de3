"""Which tool answers a question: a few rules, tried in order. No model, no surprises."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

ALIASES = {
    "get_current_user": "getCurrentUser",
    "get_user_projects": "getUserProjects",
    "get_system_health": "getSystemHealth",
    "get_team_stats": "getTeamStats",
}
"""The known tools, and their names on servers in JavaScript."""

SUGGESTIONS = ("Who am I?", "What is overdue?", "My projects", "How is the system?", "Team stats", "Help")

HELP = (
    "I answer from what the page around me offers, and I change nothing. Ask me who you are, for your projects (all, "
    "overdue, at risk, done), how the system is, or for the team's numbers."
)


@dataclass(frozen=True)
class Call:
    """A tool to be called. `tool` is a name of `ALIASES`."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


Plan = Call | str
"""The reaction to a question: a tool call, or a text."""


def _projects(question: str) -> Call:
    arguments: dict[str, Any] = {}
    if re.search(r"\b(overdue|late|behind|missed)\b", question):
        arguments["overdue_only"] = True
    elif re.search(r"\bat risk\b", question):
        arguments["status"] = "at risk"
    elif re.search(r"\b(done|finished|completed?)\b", question):
        arguments["status"] = "done"
    elif re.search(r"\b(in progress|open|ongoing)\b", question):
        arguments["status"] = "in progress"
    if whose := re.search(r"\bu-\d+\b", question):
        arguments["user_id"] = whose[0]
    return Call("get_user_projects", arguments)


_RULES: tuple[tuple[str, Callable[[str], Plan]], ...] = (
    (r"\bhelp\b|what can (you|i)\b|^\W*$", lambda _: HELP),
    (r"\bwho am i\b|\bmy (name|role|e-?mail|account|profile)\b|signed in", lambda _: Call("get_current_user")),
    (r"\b(team|members?|colleagues?|workload|stat(s|istics))\b", lambda _: Call("get_team_stats")),
    (r"\b(projects?|overdue|late|behind|missed|deadlines?|at risk|working on)\b", _projects),
    (
        r"\b(systems?|health|status|alerts?|incidents?|outages?|services?|down|slow|latency|uptime)\b",
        lambda _: Call("get_system_health"),
    ),
)


def plan(question: str) -> Plan:
    """Return the reaction to a question."""
    words = question.lower()
    for pattern, make in _RULES:
        if re.search(pattern, words):
            return make(words)
    return f"I have no rule for that. {HELP}"


def name_offered(tool: str, offered: Collection[str]) -> str | None:
    """Return the name of a known tool on a server; None if the server has no such tool."""
    return next((name for name in (tool, ALIASES[tool]) if name in offered), None)
