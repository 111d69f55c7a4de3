"""The tools, with the official client in memory."""

import pytest
from mcp import Client
from mcp.client.subscriptions import ResourceUpdated

from server import SOURCES, make_server
from workspace import Workspace

ALIASES = {
    "get_current_user": "getCurrentUser",
    "get_user_projects": "getUserProjects",
    "get_system_health": "getSystemHealth",
    "get_team_stats": "getTeamStats",
}


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def workspace():
    return Workspace()


@pytest.fixture
def calls():
    return []


@pytest.fixture
def server(workspace, calls):
    return make_server(workspace, lambda name, arguments: calls.append((name, arguments)))


@pytest.mark.anyio
async def test_every_tool_has_an_alias_that_says_so(server):
    async with Client(server) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {*ALIASES, *ALIASES.values()}
    for name, alias in ALIASES.items():
        assert f"alias of {name}" in tools[alias].title
        assert tools[alias].description.startswith(f"An alias of {name}.")
        assert tools[alias].input_schema == tools[name].input_schema
        assert tools[alias].output_schema["properties"] == tools[name].output_schema["properties"]
        assert tools[name].annotations.read_only_hint


@pytest.mark.anyio
async def test_both_names_give_what_the_dashboard_shows(server, workspace, calls):
    shown = {
        "get_current_user": workspace.user,
        "get_system_health": workspace.health(),
        "get_team_stats": workspace.team(),
    }
    async with Client(server) as client:
        for name, expected in shown.items():
            for offered in (name, ALIASES[name]):
                result = await client.call_tool(offered)
                assert result.structured_content == expected.model_dump(mode="json")
    assert [name for name, _ in calls] == [each for name in shown for each in (name, ALIASES[name])]


@pytest.mark.anyio
async def test_projects_are_filtered(server, calls):
    async with Client(server) as client:
        late = await client.call_tool("getUserProjects", {"overdue_only": True})
        done = await client.call_tool("get_user_projects", {"status": "done"})
    assert all(project["overdue"] for project in late.structured_content["projects"])
    assert late.structured_content["overdue"] == len(late.structured_content["projects"]) == 2
    assert {project["status"] for project in done.structured_content["projects"]} == {"done"}
    assert calls[0][0] == "getUserProjects"
    assert calls[0][1]["overdue_only"] is True


@pytest.mark.anyio
async def test_nobody_elses_projects_are_told(server):
    async with Client(server) as client:
        mine = await client.call_tool("get_user_projects", {"user_id": "u-17"})
        other = await client.call_tool("get_user_projects", {"user_id": "u-3"})
    assert not mine.is_error
    assert other.is_error
    assert "not those of u-3" in other.content[0].text


@pytest.mark.anyio
async def test_changes_are_seen_and_announced(server, workspace):
    async with Client(server) as client, client.listen(resource_subscriptions=list(SOURCES.values())) as events:
        before = (await client.read_resource(SOURCES["projects"])).contents[0].text
        workspace.set_done("p-1", True)
        await server.resource_updated(SOURCES["projects"])
        assert await anext(aiter(events)) == ResourceUpdated(uri=SOURCES["projects"])
        assert (await client.read_resource(SOURCES["projects"])).contents[0].text != before
        late = await client.call_tool("get_user_projects", {"overdue_only": True})
        assert "p-1" not in {project["id"] for project in late.structured_content["projects"]}
