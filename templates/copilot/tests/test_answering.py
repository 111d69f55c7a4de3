"""Answers, from servers in memory that answer as expected, fail, or answer in another form."""

from typing import Any

import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import REQUEST_TIMEOUT

from answering import answer, reason_of, tools_of
from wording import lines

USER = {"name": "Ada", "email": "ada@example.com", "role": "Lead", "team": "Platform"}
LATE = {"name": "Billing", "status": "at risk", "progress": 70, "due": "2026-03-06", "overdue": True}


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def ask(question, **tools):
    server = MCPServer("page")
    for name, function in tools.items():
        server.add_tool(function, name=name)
    async with Client(server) as client:
        return await answer(client, await tools_of(client), question)


@pytest.mark.anyio
async def test_an_answer_is_told_with_its_call():
    def user() -> dict[str, Any]:
        return USER

    said = await ask("Who am I?", getCurrentUser=user)
    assert said.lines == ["You are Ada, Lead in the team Platform (ada@example.com)."]
    assert (said.call, said.problem) == (("getCurrentUser", {}), False)


@pytest.mark.anyio
async def test_arguments_are_passed():
    def projects(overdue_only: bool = False) -> dict[str, Any]:
        return {"projects": [LATE] if overdue_only else []}

    said = await ask("What is overdue?", get_user_projects=projects)
    assert said.lines == ["1 project, 1 overdue:", "Billing: overdue, 70 %, due 06 March"]
    assert said.call == ("get_user_projects", {"overdue_only": True})


@pytest.mark.anyio
async def test_a_tool_that_fails_says_why():
    def health() -> dict[str, Any]:
        raise ToolError("The monitor is away.")

    said = await ask("How is the system?", get_system_health=health)
    assert said.problem
    assert "The monitor is away." in said.lines[0]
    assert said.call == ("get_system_health", {})


@pytest.mark.anyio
async def test_a_tool_that_is_not_there_is_not_called():
    said = await ask("Team stats")
    assert said.problem
    assert said.call is None
    assert "does not offer get_team_stats" in said.lines[0]


@pytest.mark.anyio
async def test_help_needs_no_tool():
    said = await ask("help")
    assert (said.call, said.problem) == (None, False)


def test_systems_and_teams_in_words():
    alert = {"service": "Mail", "message": "Slow", "acknowledged_by": "Ada"}
    health = {"status": "degraded", "services": [{"name": "Mail", "status": "degraded"}], "alerts": [alert]}
    assert lines("get_system_health", health, "") == ["The system is degraded: Mail.", "Mail: Slow; Ada is on it"]
    team = {
        "team": "Platform",
        "members": [{"name": "Ada", "open_tasks": 1}],
        "open_tasks": 1,
        "done_this_week": 4,
        "projects": 5,
        "projects_done": 2,
        "projects_overdue": 0,
    }
    assert lines("get_team_stats", team, "") == [
        "Platform: 1 open task, 4 done this week, 2 of 5 projects done, none overdue.",
        "Ada: 1 open task",
    ]
    assert lines("get_user_projects", {"projects": []}, "") == ["There are none."]


@pytest.mark.parametrize("structured", [None, [], {}, {"projects": [{"name": 7}]}, "text"])
def test_what_has_another_form_is_told_as_text(structured):
    assert lines("get_user_projects", structured, "as text") == ["as text"]
    assert lines("get_user_projects", structured, "") == ["The answer is not in a form that I understand."]


def test_reasons():
    late = MCPError(code=REQUEST_TIMEOUT, message="timed out")
    assert "within 20 seconds" in reason_of(late)
    assert "within 20 seconds" in reason_of(ExceptionGroup("tasks", [late]))
    assert reason_of(MCPError(code=-32000, message="Gone.")) == "The page around me gave no answer: Gone."


def test_json_as_text_will_do():
    assert lines("get_user_projects", None, '{"projects": []}') == ["There are none."]
