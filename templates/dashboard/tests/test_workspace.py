"""The model: it is consistent, and changes with the user's actions."""

from datetime import date

import pytest

from workspace import DONE, Workspace

TODAY = date(2026, 3, 10)


def make(**options):
    return Workspace(today=lambda: TODAY, **options)


def test_the_numbers_agree_with_each_other():
    workspace = make()
    projects, team = workspace.projects(), workspace.team()
    assert team.projects == len(projects)
    assert team.projects_done == sum(project.status == "done" for project in projects)
    assert team.projects_overdue == len(workspace.projects(overdue_only=True))
    assert team.open_tasks == sum(project.open_tasks for project in projects)
    assert team.open_tasks == sum(member.open_tasks for member in team.members)


def test_overdue_is_what_is_past_its_date_and_not_done():
    for project in make().projects():
        assert project.overdue == (project.due < TODAY and project.status != "done")


def test_a_project_that_is_marked_done_moves_everything_that_counts_it():
    changes = []
    workspace = make(on_change=changes.append)
    before, first = workspace.team(), workspace.projects()[0]
    assert first.overdue
    workspace.set_done(first.id, True)
    after = workspace.team()
    assert (changes, workspace.done) == (["projects"], {first.id, *DONE})
    assert after.projects_done == before.projects_done + 1
    assert after.projects_overdue == before.projects_overdue - 1
    assert after.open_tasks == before.open_tasks - first.open_tasks
    assert after.done_this_week == before.done_this_week + first.open_tasks
    assert first.id not in {project.id for project in workspace.projects(overdue_only=True)}
    workspace.set_done(first.id, False)
    assert workspace.team() == before


def test_a_project_that_was_done_can_be_opened_again():
    workspace = make()
    workspace.set_done(DONE[0], False)
    (opened,) = (project for project in workspace.projects() if project.id == DONE[0])
    assert opened.status != "done"
    assert opened.open_tasks > 0


def test_an_acknowledged_alert_has_a_name_on_it():
    changes = []
    workspace = make(on_change=changes.append)
    alert = workspace.health().alerts[0]
    workspace.acknowledge(alert.id)
    health = workspace.health()
    assert changes == ["health"]
    assert health.alerts[0].acknowledged_by == workspace.user.name
    assert health.unacknowledged == len(health.alerts) - 1


def test_what_was_done_before_is_taken_over_and_unknown_ids_are_not():
    workspace = make(done=["p-1", "gone"], acknowledged=["a-1", "gone"])
    assert (workspace.done, workspace.acknowledged) == ({"p-1"}, {"a-1"})


def test_unknown_ids_are_refused():
    with pytest.raises(KeyError):
        make().set_done("p-99", True)
    with pytest.raises(KeyError):
        make().acknowledge("a-99")
