"""Answers in words. Results of tools are validated first: they come from another page."""

from collections.abc import Callable
from datetime import date
from typing import Any

from pydantic import BaseModel, ValidationError


class _User(BaseModel):
    name: str
    email: str
    role: str
    team: str


class _Project(BaseModel):
    name: str
    status: str
    progress: int
    due: date
    overdue: bool = False


class _Projects(BaseModel):
    projects: list[_Project]


class _Service(BaseModel):
    name: str
    status: str


class _Alert(BaseModel):
    service: str
    message: str
    acknowledged_by: str | None = None


class _Health(BaseModel):
    status: str
    services: list[_Service]
    alerts: list[_Alert] = []


class _Member(BaseModel):
    name: str
    open_tasks: int


class _Team(BaseModel):
    team: str
    members: list[_Member]
    open_tasks: int
    done_this_week: int
    projects: int
    projects_done: int
    projects_overdue: int


def _user(user: _User) -> list[str]:
    return [f"You are {user.name}, {user.role} in the team {user.team} ({user.email})."]


def _projects(found: _Projects) -> list[str]:
    if not found.projects:
        return ["There are none."]
    late = sum(project.overdue for project in found.projects)
    first = f"{_count(len(found.projects), 'project')}, {late or 'none'} overdue:"
    return [first, *map(_project, found.projects)]


def _project(project: _Project) -> str:
    state = "overdue" if project.overdue else project.status
    return f"{project.name}: {state}, {project.progress} %, due {project.due:%d %B}"


def _health(health: _Health) -> list[str]:
    slow = [service.name for service in health.services if service.status != "operational"]
    first = f"The system is {health.status}" + (f": {' and '.join(slow)}." if slow else ".")
    return [first, *map(_alert, health.alerts)]


def _alert(alert: _Alert) -> str:
    care = f"{alert.acknowledged_by} is on it" if alert.acknowledged_by else "nobody looks after it yet"
    return f"{alert.service}: {alert.message}; {care}"


def _team(team: _Team) -> list[str]:
    first = (
        f"{team.team}: {_count(team.open_tasks, 'open task')}, {team.done_this_week} done this week, "
        f"{team.projects_done} of {_count(team.projects, 'project')} done, {team.projects_overdue or 'none'} overdue."
    )
    return [first, *(f"{member.name}: {_count(member.open_tasks, 'open task')}" for member in team.members)]


def _count(number: int, what: str) -> str:
    return f"{number} {what if number == 1 else what + 's'}"


_WORDINGS: dict[str, tuple[type[BaseModel], Callable[[Any], list[str]]]] = {
    "get_current_user": (_User, _user),
    "get_user_projects": (_Projects, _projects),
    "get_system_health": (_Health, _health),
    "get_team_stats": (_Team, _team),
}


def lines(tool: str, structured: object, text: str) -> list[str]:
    """Return the lines of an answer: a sentence, followed by the items of a list.

    Args:
        tool: the tool, by its name in `rules.ALIASES`.
        structured: its structured result; if it is None, the text may be JSON instead.
        text: its result as text, which is returned unchanged if it has no known form.
    """
    model, word = _WORDINGS[tool]
    try:
        return word(model.model_validate_json(text) if structured is None else model.model_validate(structured))
    except ValidationError:
        return [text or "The answer is not in a form that I understand."]
