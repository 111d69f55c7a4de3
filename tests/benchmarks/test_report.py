"""What the benchmark says about samples, and how it prints it. Nothing here takes any time."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace

import pytest
from rich.console import Console

from mcpframe.kit.dev.demo import is_right
from tests.benchmarks import report
from tests.benchmarks.browser import BenchmarkError
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.machine import Setting
from tests.benchmarks.samples import ENOUGH_FOR_P99, Summary, quantile, take_turns
from tests.benchmarks.start import ITERATIONS, OURS, STOCK, Start, check_pi, timeline
from tests.benchmarks.view_peers import APP, INLINE, TEXT, Drawing, drawing, figures_of

SETTING = Setting("2026-01-31", 2, 8, "Linux x86_64", 0.4, {"mcpframe": "1.0", "Chromium": "156"})


@pytest.mark.parametrize(
    ("samples", "share", "expected"),
    [([3.0], 0.99, 3.0), ([1.0, 2.0], 0.5, 1.5), ([4.0, 1.0, 3.0, 2.0], 0.0, 1.0), ([4.0, 1.0, 3.0, 2.0], 1.0, 4.0)],
)
def test_quantiles_are_interpolated(samples: list[float], share: float, expected: float) -> None:
    assert quantile(samples, share) == expected


def test_a_quantile_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="no samples"):
        quantile([], 0.5)


def test_a_summary_gives_p99_only_from_enough_samples() -> None:
    assert Summary.of([1.0] * (ENOUGH_FOR_P99 - 1)).p99 is None
    summary = Summary.of([float(number) for number in range(ENOUGH_FOR_P99 + 1)])
    assert (summary.median, summary.low, summary.high, summary.p99) == (250, 125, 375, 495)


def test_peers_take_turns_and_the_warm_up_does_not_count() -> None:
    order: list[str] = []

    def measure(peer: str) -> int:
        order.append(peer)
        return len(order)

    assert take_turns(("a", "b"), 2, measure, warm_up=1) == {"a": [3, 5], "b": [4, 6]}
    assert order == ["a", "b", "a", "b", "a", "b"]


@pytest.mark.parametrize(
    ("ours", "goal", "met"),
    [
        (10.0, None, None),
        (10.0, Goal(ratio=0.5), True),
        (10.1, Goal(ratio=0.5), False),
        (10.0, Goal(value=10), True),
        (10.0, Goal(ratio=0.5, value=9), False),
        (8.0, Goal(ratio=0.5, value=9), True),
    ],
)
def test_a_goal_is_met_when_all_its_parts_are(ours: float, goal: Goal | None, met: bool | None) -> None:
    assert Figure("time", "ms", ours, 20.0, "peer", goal).met is met


def test_a_goal_against_a_peer_that_is_not_there_is_missed() -> None:
    assert Figure("growth", "KB", 0.0, None, goal=Goal(ratio=1)).met is False


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1234.5, "ms", "1,234 ms"),
        (12.34, "ms", "12.3 ms"),
        (0.456, "MB", "0.46 MB"),
        (-9.0, "", "-9"),
        (1e4, "", "10,000"),
    ],
)
def test_numbers_have_three_digits_and_counts_all(value: float, unit: str, text: str) -> None:
    assert report.number(value, unit) == text


FIGURES = [
    Figure("round trip", "ms", 2.0, 0.5, "TypeScript SDK", Goal(ratio=5, value=6), {"mcpframe": [1.9, 2.0, 2.1]}),
    Figure("first visit", "MB", 9.5, goal=Goal(value=9)),
    Figure("start", "ms", 900.0, 2000.0, "stock", None, {"stock": {"timeline": {"page": 10.0, "answered": 2000.0}}}),
]


def test_the_table_shows_every_figure_and_whether_its_goal_is_met() -> None:
    output = io.StringIO()
    Console(file=output, width=120).print(report.table(FIGURES))
    lines = [line for line in output.getvalue().splitlines() if line.startswith("│")]
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]
    assert cells == [
        ["round trip", "2.00 ms", "0.50 ms (TypeScript SDK)", "4.00", "≤ 5 x peer, ≤ 6 ms", "yes"],
        ["first visit", "9.50 MB", "", "", "≤ 9 MB", "no"],
        ["start", "900 ms", "2,000 ms (stock)", "0.45", "", ""],
    ]


def test_the_markdown_table_is_well_formed_and_has_the_machine() -> None:
    table, _, runs = report.markdown(FIGURES, SETTING).partition("\n\n")
    assert {line.count("|") for line in table.splitlines()} == {8}
    assert runs.startswith("- 2026-01-31: Linux x86_64, 2 cores, 8 GB of memory, headless; mcpframe 1.0")


def test_a_partial_run_replaces_its_own_lines() -> None:
    before = report.markdown(FIGURES, SETTING)
    later = replace(SETTING, date="2026-02-01", load=9.5)
    after = report.markdown([replace(FIGURES[0], ours=1.0, peer=0.25)], later, before)
    assert [line for line in after.splitlines() if "round trip" in line] == [
        "| round trip | 1.00 ms | 0.25 ms (TypeScript SDK) | 4.00 | ≤ 5 x peer, ≤ 6 ms | yes | 2026-02-01 |"
    ]
    rest = [line for line in before.splitlines() if "round trip" not in line]
    assert [line for line in after.splitlines() if line in rest] == rest
    assert "2026-02-01: Linux" in after.splitlines()[-1]
    everything = report.markdown([replace(figure, ours=1.0) for figure in FIGURES], later, after)
    assert "2026-01-31" not in everything


def test_the_json_has_the_raw_samples() -> None:
    data = json.loads(json.dumps(report.as_json(FIGURES, SETTING)))
    assert data["setting"]["versions"] == SETTING.versions
    assert data["figures"][0]["details"] == {"mcpframe": [1.9, 2.0, 2.1]}
    assert [figure["met"] for figure in data["figures"]] == [True, False, None]


def test_a_timeline_has_the_median_of_each_step_in_order() -> None:
    starts = [Start(30.0 + n, 20.0 + n, {"page": 1.0 + n, "python": 10.0 + n}) for n in range(3)]
    assert timeline(starts) == {"page": 2, "python": 11, "connected": 21, "answered": 31}
    assert list(timeline(starts)) == ["page", "python", "connected", "answered"]
    assert list(report.timelines(FIGURES[2])) == [("stock", "       10      +10  page\n     2000    +1990  answered")]
    assert list(report.timelines(FIGURES[0])) == []


@pytest.mark.parametrize(
    "answer",
    [
        {"isError": True, "content": [{"type": "text", "text": "no"}]},
        {"content": []},
        {"structuredContent": {"pi": 3.0, "points": ITERATIONS + 1}},
        {"structuredContent": {"pi": 2.0, "points": ITERATIONS}},
    ],
)
def test_a_wrong_answer_is_an_error(answer: dict[str, object]) -> None:
    with pytest.raises(BenchmarkError, match="wrong answer"):
        check_pi(answer)


def test_a_right_answer_passes() -> None:
    assert is_right(math.pi, ITERATIONS)
    check_pi({"structuredContent": {"pi": math.pi, "points": ITERATIONS}})


def test_a_view_has_both_peers_for_each_step() -> None:
    starts = {
        **{
            peer: [Drawing(30, 400, 500), Drawing(50, 420, 540), Drawing(90, 900, 990)] for peer in (OURS, TEXT, INLINE)
        },
        APP: [Drawing(20.0, 100.0, 120.0)] * 3,
        STOCK: [Drawing(25.0, 2000.0, 2160.0)] * 3,
    }
    figures = figures_of(starts)
    assert [(figure.ours, figure.peer, figure.peer_name, figure.ratio, figure.met) for figure in figures] == [
        (420, 100, APP, 4.2, None),
        (420, 2000, STOCK, 0.21, None),
        (540, 120, APP, 4.5, None),
        (540, 2160, STOCK, 0.25, None),
        *[(50, 20, APP, 2.5, None), (50, 25, STOCK, 2.0, None)] * 2,
        *[(540, 120, APP, 4.5, None), (540, 2160, STOCK, 0.25, None)] * 2,
    ]
    assert figures[2].details[OURS]["samples"] == [500, 540, 990]


def test_a_view_that_draws_another_text_is_an_error() -> None:
    result = {"painted": 0.5, "initialized": 1.0, "drawn": 2.0, "text": "result 1"}
    assert drawing(result, "result 1") == Drawing(0.5, 1, 2)
    with pytest.raises(BenchmarkError, match="result 1"):
        drawing(result, "result 2")


@pytest.mark.parametrize(("load", "busy"), [(None, False), (1.9, False), (2.5, True)])
def test_a_busy_machine_is_told(load: float | None, busy: bool) -> None:
    assert replace(SETTING, load=load).busy is busy
