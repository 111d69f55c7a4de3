"""The dashboard's page: shows the workspace, and lets the user act on it."""

import json
from typing import Any

from framing import Standing
from mcpframe import Element, Page, PageEvent
from workspace import Project, Service, Workspace

MOST_CALLS = 50
"""How many of the copilot's calls are listed; older ones are removed."""


class View:
    """Everything on the page except the copilot's frame."""

    def __init__(self, page: Page, workspace: Workspace) -> None:
        """Use a page that shows `dashboard.html`."""
        self._page = page
        self._workspace = workspace
        self._calls = 0
        page.element("#projects").on("click", self._on_project)
        page.element("#alerts").on("click", self._on_alert)
        user = workspace.user
        page.element("#user-name").text = user.name
        page.element("#user-role").text = f"{user.role}, {user.team}"
        page.element("#user-email").text = user.email
        page.element("#user-mark").text = "".join(part[0] for part in user.name.split())
        self.show()

    def show(self) -> None:
        """Update everything. The keyboard focus stays on its button."""
        focused = self._page.js.activeElement
        kept = focused and focused.id
        self._show_projects()
        self._show_health()
        self._show_team()
        button = kept and self._page.js.getElementById(kept)
        if button:
            button.focus()

    def _show_projects(self) -> None:
        place = self._page.element("#projects")
        place.clear()
        projects = self._workspace.projects()
        late = sum(project.overdue for project in projects)
        self._page.element("#projects-note").text = f"{late} overdue" if late else "On time"
        self._page.element("#projects-note").classes.set("bad", late > 0)
        for project in projects:
            _add_project(place, project)

    def _show_health(self) -> None:
        health = self._workspace.health()
        place = self._page.element("#services")
        place.clear()
        for service in health.services:
            _add_service(place, service)
        note = f"{health.unacknowledged} open" if health.unacknowledged else "All looked after"
        self._page.element("#health-note").text = note
        self._page.element("#health-note").classes.set("bad", health.unacknowledged > 0)
        alerts = self._page.element("#alerts")
        alerts.clear()
        for alert in health.alerts:
            item = alerts.add("li", class_=f"alert {alert.severity}")
            words = item.add("div")
            words.add("strong", f"{alert.service}: {alert.message}")
            words.add("span", alert.severity, class_="quiet")
            if alert.acknowledged_by:
                item.add("span", f"{alert.acknowledged_by} is on it", class_="quiet")
            else:
                label = f"Acknowledge {alert.service}: {alert.message}"
                item.add("button", "Acknowledge", type="button", id=f"alert-{alert.id}", aria_label=label)

    def _show_team(self) -> None:
        team = self._workspace.team()
        for name, value in (
            ("open", team.open_tasks),
            ("week", team.done_this_week),
            ("done", f"{team.projects_done} of {team.projects}"),
        ):
            self._page.element(f"#team-{name}").text = str(value)
        place = self._page.element("#members")
        place.clear()
        for member in team.members:
            row = place.add("tr")
            name = row.add("th", member.name, scope="row")
            name.add("span", member.role, class_="quiet")
            row.add("td", str(member.open_tasks))
            row.add("td", str(member.done_this_week))

    def _on_project(self, event: PageEvent) -> None:
        if event.target and (project := event.target.get("data-project")):
            self._workspace.set_done(project, event.target.get("data-done") == "no")

    def _on_alert(self, event: PageEvent) -> None:
        if event.target and (event.target.get("id") or "").startswith("alert-"):
            self._workspace.acknowledge((event.target.get("id") or "").removeprefix("alert-"))

    def show_standing(self, standing: Standing) -> None:
        """Show the state of the copilot."""
        self._page.element("#copilot-status").text = standing.text
        self._page.element("#copilot-status").classes.set("bad", standing.stage == "stopped")
        self._page.element("#copilot").set("data-stage", standing.stage)
        self._page.element("#copilot-start").hidden = standing.stage != "stopped"

    def note_call(self, name: str, arguments: dict[str, Any]) -> None:
        """Add a call of the copilot to the list, newest first."""
        self._calls += 1
        given = {key: value for key, value in arguments.items() if value not in (None, False, "all")}
        place = self._page.element("#calls")
        item = self._page.element("#calls").add("li")
        item.add("code", f"{name}({json.dumps(given, ensure_ascii=False) if given else ''})")
        place.js.prepend(item.js)
        for old in place.elements("li")[MOST_CALLS:]:
            old.remove()
        self._page.element("#calls-note").text = f"{self._calls} {'call' if self._calls == 1 else 'calls'}"


def _add_project(place: Element, project: Project) -> None:
    is_done = project.status == "done"
    state = "overdue" if project.overdue else project.status
    item = place.add("li", class_=f"project {state.replace(' ', '-')}")
    head = item.add("div", class_="head")
    head.add("strong", project.name)
    head.add("span", state, class_="badge")
    item.add("progress", value=str(project.progress), max="100", aria_label=f"{project.name}: progress")
    foot = item.add("div", class_="foot")
    tasks = "no open tasks" if not project.open_tasks else f"{project.open_tasks} open tasks"
    foot.add("span", f"Due {project.due:%d %b} · {project.progress} % · {tasks}", class_="quiet")
    foot.add(
        "button",
        "Reopen" if is_done else "Mark done",
        type="button",
        id=f"project-{project.id}",
        aria_label=f"{'Reopen' if is_done else 'Mark done'}: {project.name}",
        data_project=project.id,
        data_done="yes" if is_done else "no",
    )


def _add_service(place: Element, service: Service) -> None:
    row = place.add("tr")
    row.add("th", service.name, scope="row")
    row.add("td").add("span", service.status, class_=f"badge {service.status}")
    row.add("td", f"{service.latency_ms} ms")
    row.add("td", f"{service.uptime_percent:.2f} %")
