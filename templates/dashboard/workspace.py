"""The dashboard's data: the signed-in user, their projects, the systems and the team. The data is invented.

It is one model: the page shows it, the tools answer from it, and the user's actions change it.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from pydantic import BaseModel, Field

Status = Literal["in progress", "at risk", "done"]
Area = Literal["projects", "health"]


class User(BaseModel):
    """The person who is signed in."""

    id: str
    name: str
    email: str
    role: str
    team: str


class Project(BaseModel):
    """One project of theirs."""

    id: str
    name: str
    status: Status
    progress: int = Field(description="In percent")
    due: date
    overdue: bool
    open_tasks: int


class UserProjects(BaseModel):
    """The projects that were asked for."""

    user: str
    projects: list[Project]
    overdue: int = Field(description="How many of these are overdue")


class Service(BaseModel):
    """One system, as it is now."""

    name: str
    status: Literal["operational", "degraded"]
    latency_ms: int
    uptime_percent: float = Field(description="Over the last 30 days")


class Alert(BaseModel):
    """Something that is wrong with a service."""

    id: str
    service: str
    severity: Literal["warning", "critical"]
    message: str
    acknowledged_by: str | None = Field(description="Who looks after it; null where nobody does yet")


class SystemHealth(BaseModel):
    """All systems, and what is wrong with them."""

    status: Literal["operational", "degraded"]
    services: list[Service]
    alerts: list[Alert]
    unacknowledged: int = Field(description="Alerts that nobody looks after yet")


class Member(BaseModel):
    """One of the team."""

    name: str
    role: str
    open_tasks: int
    done_this_week: int


class TeamStats(BaseModel):
    """The team and its work."""

    team: str
    members: list[Member]
    open_tasks: int
    done_this_week: int
    projects: int
    projects_done: int
    projects_overdue: int


@dataclass(frozen=True)
class _Plan:
    """A project that is not done: `due` in days from today, and open tasks by member."""

    id: str
    name: str
    status: Literal["in progress", "at risk"]
    progress: int
    due: int
    tasks: dict[str, int]


USER = User(id="u-17", name="Ada Moreno", email="ada.moreno@example.com", role="Engineering lead", team="Platform")
_PEOPLE = (
    ("Ada Moreno", "Engineering lead", 4),
    ("Jonas Weber", "Backend", 7),
    ("Priya Nair", "Site reliability", 3),
    ("Tomás Silva", "Frontend", 5),
)
_PLANS = (
    _Plan("p-1", "Billing migration", "at risk", 70, -4, {"Ada Moreno": 2, "Jonas Weber": 4}),
    _Plan("p-2", "Single sign-on", "in progress", 45, 12, {"Jonas Weber": 3, "Tomás Silva": 5}),
    _Plan("p-3", "Search index", "in progress", 90, -1, {"Priya Nair": 2}),
    _Plan("p-4", "Mobile release", "in progress", 25, 33, {"Tomás Silva": 4, "Ada Moreno": 1}),
    _Plan("p-5", "Audit log", "in progress", 80, -9, {"Priya Nair": 3}),
)
DONE = ("p-5",)
"""The projects that are done at the start."""
_SERVICES = (
    Service(name="API gateway", status="operational", latency_ms=48, uptime_percent=99.98),
    Service(name="Payments", status="degraded", latency_ms=910, uptime_percent=99.41),
    Service(name="Search", status="operational", latency_ms=120, uptime_percent=99.95),
    Service(name="Mail", status="degraded", latency_ms=340, uptime_percent=99.72),
)
_ALERTS = (
    Alert(id="a-1", service="Payments", severity="critical", message="One call in ten is slow", acknowledged_by=None),
    Alert(id="a-2", service="Mail", severity="warning", message="The queue is growing", acknowledged_by=None),
)


class Workspace:
    """The state of the dashboard.

    Attributes:
        user: the signed-in user.
        done: the projects that are done, by id.
        acknowledged: the alerts that the user has acknowledged, by id.
    """

    user = USER

    def __init__(
        self,
        *,
        done: Collection[str] = DONE,
        acknowledged: Collection[str] = (),
        today: Callable[[], date] = date.today,
        on_change: Callable[[Area], None] | None = None,
    ) -> None:
        """Start with the user's earlier actions.

        Args:
            done: projects that are done. Unknown ids are ignored, here and in `acknowledged`.
            acknowledged: alerts that are acknowledged.
            today: returns the date.
            on_change: called with the part that has changed.
        """
        self.done = {plan.id for plan in _PLANS if plan.id in done}
        self.acknowledged = {alert.id for alert in _ALERTS if alert.id in acknowledged}
        self._today = today
        self._on_change = on_change

    def set_done(self, project: str, done: bool) -> None:
        """Mark a project as done, or undo that. Raises KeyError if there is no such project."""
        if project not in {plan.id for plan in _PLANS}:
            raise KeyError(project)
        (self.done.add if done else self.done.discard)(project)
        self._changed("projects")

    def acknowledge(self, alert: str) -> None:
        """Acknowledge an alert. Raises KeyError if there is no such alert."""
        if alert not in {known.id for known in _ALERTS}:
            raise KeyError(alert)
        self.acknowledged.add(alert)
        self._changed("health")

    def _changed(self, area: Area) -> None:
        if self._on_change:
            self._on_change(area)

    def projects(self, status: Status | Literal["all"] = "all", *, overdue_only: bool = False) -> list[Project]:
        """Return the projects, the most urgent first."""
        found = [self._project(plan) for plan in _PLANS]
        wanted = [p for p in found if status in ("all", p.status) and (p.overdue or not overdue_only)]
        return sorted(wanted, key=lambda p: (p.status == "done", p.due))

    def _project(self, plan: _Plan) -> Project:
        is_done = plan.id in self.done
        due = self._today() + timedelta(days=plan.due)
        return Project(
            id=plan.id,
            name=plan.name,
            status="done" if is_done else plan.status,
            progress=100 if is_done else plan.progress,
            due=due,
            overdue=not is_done and plan.due < 0,
            open_tasks=0 if is_done else sum(plan.tasks.values()),
        )

    def health(self) -> SystemHealth:
        """Return the state of the systems."""
        alerts = [
            alert.model_copy(update={"acknowledged_by": self.user.name}) if alert.id in self.acknowledged else alert
            for alert in _ALERTS
        ]
        return SystemHealth(
            status="degraded" if any(service.status == "degraded" for service in _SERVICES) else "operational",
            services=list(_SERVICES),
            alerts=alerts,
            unacknowledged=sum(alert.acknowledged_by is None for alert in alerts),
        )

    def team(self) -> TeamStats:
        """Return the team's numbers, from the same projects."""
        projects = self.projects()
        members = [
            Member(
                name=name,
                role=role,
                open_tasks=sum(plan.tasks.get(name, 0) for plan in _PLANS if plan.id not in self.done),
                done_this_week=week + sum(plan.tasks.get(name, 0) for plan in _PLANS if plan.id in self.done),
            )
            for name, role, week in _PEOPLE
        ]
        return TeamStats(
            team=self.user.team,
            members=members,
            open_tasks=sum(member.open_tasks for member in members),
            done_this_week=sum(member.done_this_week for member in members),
            projects=len(projects),
            projects_done=len(self.done),
            projects_overdue=sum(project.overdue for project in projects),
        )
