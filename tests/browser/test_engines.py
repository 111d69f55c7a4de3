"""The scenarios in Firefox and in WebKitGTK: each has the outcome that docs/reference/engines.md has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from docs.generate.engines import UNSETTABLE, written
from tests.browser.engines import KINDS, Engine, Kind
from tests.browser.scenarios import SCENARIOS, Scenario
from tests.browser.stage import Stage, staged

pytestmark = pytest.mark.extended


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """The sites of all scenarios."""
    with staged(tmp_path_factory.mktemp("stage")) as stage:
        yield stage


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each other engine."""
    kind: Kind = request.param
    return kind


@pytest.fixture(scope="module")
def engine_for(kind: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Scenario], Engine]]:
    """Returns the engine for a scenario: one of its own if it needs settings, else the one for all others."""
    program = kind.find()
    if program is None:
        pytest.skip(f"no {kind.title} is installed, and none could be: install {kind.package}")
    with ExitStack() as stack:
        usual: list[Engine] = []

        def start(scenario: Scenario) -> Engine:
            if scenario.settings:
                profile = tmp_path_factory.mktemp("profile")
                return stack.enter_context(kind.running(program, profile, scenario.settings))
            if not usual:
                usual.append(stack.enter_context(kind.running(program, tmp_path_factory.mktemp("profile"))))
            return usual[0]

        yield start


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_an_outcome_is_the_documented_one(
    kind: Kind, scenario: Scenario, engine_for: Callable[[Scenario], Engine], stage: Stage
) -> None:
    possible = kind.name == "firefox" or not scenario.settings
    outcome = scenario.play(engine_for(scenario), stage) if possible else UNSETTABLE
    assert outcome == written()[scenario.title][kind.title]
