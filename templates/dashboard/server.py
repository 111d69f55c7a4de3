"""The dashboard's tools: they answer with what the page shows, and change nothing.

Each has a second name, which other clients of the inverted architecture use (`getCurrentUser`).
"""

import functools
from collections.abc import Callable
from typing import Annotated, Any, Literal

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from mcpframe import FrameServer
from workspace import Area, Status, SystemHealth, TeamStats, User, UserProjects, Workspace

SOURCES: dict[Area, str] = {"projects": "dashboard://projects", "health": "dashboard://health"}
"""The resources that change when the user does something, by the part of the page."""

Told = Callable[[str, dict[str, Any]], None]


def make_server(workspace: Workspace, on_call: Told) -> FrameServer:
    """Create the server.

    Args:
        workspace: the data of its answers.
        on_call: called with the name and the arguments of every call, before it is answered.
    """
    server = FrameServer(
        "dashboard",
        title="Dashboard",
        version="0.1.0",
        instructions="What the person sees on their dashboard. Tools in camelCase are aliases: use either name.",
    )

    def get_current_user() -> User:
        """Return who is signed in."""
        return workspace.user

    def get_user_projects(
        status: Annotated[Status | Literal["all"], Field(description="Only projects of this status")] = "all",
        overdue_only: Annotated[bool, Field(description="Only projects that are past their date")] = False,
        user_id: Annotated[str | None, Field(description="Whose; by default those of who is signed in")] = None,
    ) -> UserProjects:
        """List the projects of the signed-in person, the most urgent first."""
        user = workspace.user
        if user_id not in (None, user.id):
            raise ToolError(f"Only the projects of {user.name} ({user.id}) can be read, not those of {user_id}.")
        projects = workspace.projects(status, overdue_only=overdue_only)
        return UserProjects(user=user.name, projects=projects, overdue=sum(project.overdue for project in projects))

    def get_system_health() -> SystemHealth:
        """Return how the systems are, and which alerts are open."""
        return workspace.health()

    def get_team_stats() -> TeamStats:
        """Return the team's numbers: members, tasks and projects."""
        return workspace.team()

    for function, alias, title in (
        (get_current_user, "getCurrentUser", "Who is signed in"),
        (get_user_projects, "getUserProjects", "Projects"),
        (get_system_health, "getSystemHealth", "System health"),
        (get_team_stats, "getTeamStats", "Team statistics"),
    ):
        name, description = function.__name__, function.__doc__
        for offered, its_title, its_description in (
            (name, title, description),
            (alias, f"{title} (alias of {name})", f"An alias of {name}. {description}"),
        ):
            server.add_tool(
                _noted(function, offered, on_call),
                name=offered,
                title=its_title,
                description=its_description,
                annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
            )

    @server.resource(SOURCES["projects"], name="projects", title="Projects", mime_type="application/json")
    def projects() -> str:
        """The projects as they are now."""
        return get_user_projects().model_dump_json()

    @server.resource(SOURCES["health"], name="health", title="System health", mime_type="application/json")
    def health() -> str:
        """The systems as they are now."""
        return workspace.health().model_dump_json()

    return server


def _noted(function: Callable[..., Any], name: str, on_call: Told) -> Callable[..., Any]:
    @functools.wraps(function)
    def noted(**arguments: Any) -> Any:
        on_call(name, arguments)
        return function(**arguments)

    return noted
