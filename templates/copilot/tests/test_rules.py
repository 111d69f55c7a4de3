"""The rules, question by question."""

import pytest

from rules import ALIASES, HELP, SUGGESTIONS, Call, name_offered, plan


@pytest.mark.parametrize(
    ("question", "tool", "arguments"),
    [
        ("Who am I?", "get_current_user", {}),
        ("what is my e-mail", "get_current_user", {}),
        ("My projects", "get_user_projects", {}),
        ("What's overdue?", "get_user_projects", {"overdue_only": True}),
        ("Am I behind with anything?", "get_user_projects", {"overdue_only": True}),
        ("which projects are at risk", "get_user_projects", {"status": "at risk"}),
        ("finished projects?", "get_user_projects", {"status": "done"}),
        ("open projects", "get_user_projects", {"status": "in progress"}),
        ("The projects of U-3", "get_user_projects", {"user_id": "u-3"}),
        ("How's the system?", "get_system_health", {}),
        ("any alerts", "get_system_health", {}),
        ("Is a service down?", "get_system_health", {}),
        ("Team stats", "get_team_stats", {}),
        ("how busy are my colleagues", "get_team_stats", {}),
    ],
)
def test_a_question_leads_to_a_call(question, tool, arguments):
    assert plan(question) == Call(tool, arguments)


@pytest.mark.parametrize("question", ["help", "What can you do?", "", "??"])
def test_help(question):
    assert plan(question) == HELP


def test_what_no_rule_knows_is_said():
    assert plan("What is the weather?") == f"I have no rule for that. {HELP}"


def test_every_suggestion_is_understood():
    assert [plan(suggestion) for suggestion in SUGGESTIONS if "no rule" in str(plan(suggestion))] == []


def test_names_of_python_servers_come_first():
    assert name_offered("get_team_stats", [*ALIASES, *ALIASES.values()]) == "get_team_stats"
    assert name_offered("get_team_stats", list(ALIASES.values())) == "getTeamStats"
    assert name_offered("get_team_stats", ["other"]) is None
