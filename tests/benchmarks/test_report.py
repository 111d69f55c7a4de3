"""The statistics of samples, and their printed form. Nothing here takes any time."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from rich.console import Console

from mcpframe.kit.dev.demo import is_right
from tests.benchmarks import __main__ as bench
from tests.benchmarks import machine, report
from tests.benchmarks.browser import BenchmarkError
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.kept import AGAINST, Kept, Row
from tests.benchmarks.machine import BUSY, Process, Setting, used_by_others
from tests.benchmarks.samples import ATTEMPTS, ENOUGH_FOR_P99, NotCounted, Summary, quantile, repeated, take_turns
from tests.benchmarks.start import ITERATIONS, OURS, STOCK, Start, check_pi, timeline
from tests.benchmarks.view_peers import APP, INLINE, TEXT, Drawing, drawing, figures_of

SETTING = Setting("2026-01-31", 2, 8, "Linux x86_64", 0.1, {"mcpframe": "1.0", "Chromium": "156"})


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


ROWS = [Row("calls" if figure.name == "round trip" else "start", figure, SETTING) for figure in FIGURES]
LATER = replace(SETTING, date="2026-02-01", others=0.9)


def test_a_line_has_what_the_table_has() -> None:
    assert report.line(FIGURES[0]) == (
        "  round trip: 2.00 ms; peer 0.50 ms (TypeScript SDK); ratio 4.00; goal ≤ 5 x peer, ≤ 6 ms; met yes"
    )
    assert report.line(FIGURES[1]) == "  first visit: 9.50 MB; goal ≤ 9 MB; met no"


def test_the_markdown_table_is_well_formed_and_has_the_machine() -> None:
    table, _, runs = report.markdown(ROWS).partition("\n\n")
    assert {line.count("|") for line in table.splitlines()} == {8}
    assert runs == "- 2026-01-31: Linux x86_64, 2 cores, 8 GB of memory, headless; mcpframe 1.0, Chromium 156."


def test_a_partial_run_replaces_its_own_lines() -> None:
    before = report.markdown(ROWS)
    after = report.markdown([Row("calls", replace(FIGURES[0], ours=1.0, peer=0.25), LATER)], before)
    assert [line for line in after.splitlines() if "round trip" in line] == [
        "| round trip | 1.00 ms | 0.25 ms (TypeScript SDK) | 4.00 | ≤ 5 x peer, ≤ 6 ms | yes | 2026-02-01 |"
    ]
    rest = [line for line in before.splitlines() if "round trip" not in line]
    assert [line for line in after.splitlines() if line in rest] == rest
    assert "2026-02-01: Linux" in after.splitlines()[-1]
    assert "during 1 of its times" in after.splitlines()[-1]
    everything = report.markdown([replace(row, setting=LATER) for row in ROWS], after)
    assert "2026-01-31" not in everything


def test_each_figure_is_in_the_file_at_once_with_its_samples_day_and_setting(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "new" / "kept.jsonl")
    for count, row in enumerate(ROWS):
        kept.add(row)
        assert Kept.read(kept.path).of(["start", "calls"]) == kept.of(["start", "calls"])
        assert len(kept.rows) == count + 1
    data = [json.loads(line) for line in kept.path.read_text("utf-8").splitlines()]
    assert data[0]["setting"]["versions"] == SETTING.versions
    assert data[0]["figure"]["details"] == {"mcpframe": [1.9, 2.0, 2.1]}
    assert [each["figure"]["met"] for each in data] == [True, False, None]
    assert Kept.read(kept.path).rows == {row.key: row for row in ROWS}


def test_later_runs_add_to_the_file_and_replace_what_they_measured(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "kept.jsonl")
    for row in ROWS:
        kept.add(row)
    kept.finish("start")
    again = Kept.read(kept.path)
    newer = replace(ROWS[1], setting=LATER)
    again.add(newer)
    assert again.of(["start", "calls"]) == [newer, ROWS[2], ROWS[0]]
    again.finish("start")  # whose other figure has another name now
    assert Kept.read(kept.path).of(["start", "calls"]) == [newer, ROWS[0]]
    assert Kept.read(kept.path).done == {"start"}


def test_a_line_that_a_run_did_not_end_is_left_out(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "kept.jsonl")
    kept.add(ROWS[0])
    with kept.path.open("a") as file:
        file.write('{"part": "start", "fig')
    again = Kept.read(kept.path)
    again.add(ROWS[1])
    assert list(Kept.read(kept.path).rows.values()) == ROWS[:2]


def test_busy_lines_and_failed_parts_are_repeated_by_one_command() -> None:
    busy = Row("dev", FIGURES[0], LATER)
    assert report.repeats(ROWS, {}) == ""
    bytes_ = Row("start", FIGURES[1], LATER)  # are the same on a busy machine
    text = report.repeats([*ROWS, busy, bytes_], {"hub": "a tab has ended"}, runs=2)
    assert "hub failed: a tab has ended" in text
    assert "0.9  round trip" in text
    assert text.endswith("python3 build.py bench --only dev --only hub --runs 2")
    against = report.repeats([Row(AGAINST, FIGURES[0], LATER)], {}, against=Path("a b"))
    assert against.endswith("bench --against 'a b'")


class Parts:
    """Parts of a benchmark, in place of the real ones, which take minutes."""

    def __init__(self, patch: pytest.MonkeyPatch, **parts: Sequence[Figure | BaseException]) -> None:
        patch.setattr(bench, "ALL", {name: lambda _, part=part: self._measure(part) for name, part in parts.items()})
        patch.setattr(bench, "PARTS", parts)
        patch.setattr(bench, "sync_playwright", nullcontext)
        patch.setattr(bench, "all_sites", lambda _: nullcontext(Mock()))
        patch.setattr(bench, "ensure_chromium", Mock())
        patch.setattr(bench, "BenchmarkBrowser", Mock())
        patch.setattr(bench, "this_setting", lambda *_: replace(SETTING, others=None))

    @staticmethod
    def _measure(part: Sequence[Figure | BaseException]) -> Iterator[Figure]:
        for each in part:
            if isinstance(each, BaseException):
                raise each
            yield each


@pytest.mark.parametrize("error", [BenchmarkError("no answer"), AssertionError("no snapshot")])
def test_a_part_that_fails_loses_no_other(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Parts(monkeypatch, start=[FIGURES[1], error], calls=[FIGURES[0]])
    file = tmp_path / "kept.jsonl"
    assert bench.main(["--file", str(file), "--wait", "0"]) == 1
    assert [row.figure for row in Kept.read(file).rows.values()] == [FIGURES[1], FIGURES[0]]
    assert Kept.read(file).done == {"calls"}
    captured = capsys.readouterr()
    assert f"start failed: {error}" in captured.err
    assert "bench --only start" in captured.err
    assert report.line(FIGURES[0]) in captured.out


def test_an_ended_run_has_kept_what_it_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Parts(monkeypatch, start=[FIGURES[1], KeyboardInterrupt()], calls=[FIGURES[0]])
    file = tmp_path / "kept.jsonl"
    assert bench.main(["--file", str(file), "--wait", "0"]) == 130
    capsys.readouterr()
    assert bench.main(["--file", str(file), "--kept"]) == 0
    captured = capsys.readouterr().out
    assert "first visit" in captured
    assert "round trip" not in captured


def test_a_start_that_was_not_counted_is_measured_again() -> None:
    results = iter([1, NotCounted("more"), NotCounted("more"), 2])
    calls: list[str] = []

    def measure(peer: str) -> int:
        calls.append(peer)
        result = next(results)
        if isinstance(result, NotCounted):
            raise result
        return result

    assert take_turns(("a", "b"), 1, measure, warm_up=0) == {"a": [1], "b": [2]}
    assert calls == ["a", "b", "b", "b"]


def test_what_never_counts_is_given_up() -> None:
    measure = Mock(side_effect=NotCounted("more"))
    with pytest.raises(NotCounted):
        repeated(measure)
    assert measure.call_count == ATTEMPTS


def test_a_wrong_answer_is_not_measured_again() -> None:
    measure = Mock(side_effect=BenchmarkError("wrong"))
    with pytest.raises(BenchmarkError):
        repeated(measure)
    assert measure.call_count == 1


def test_what_others_use_leaves_out_this_program_and_those_it_started() -> None:
    before = {
        1: Process(0, 10, 10),
        5: Process(1, 100, 50),  # of others
        6: Process(5, 40, 0),  # ends
        7: Process(6, 30, 0),  # ends before it
        10: Process(1, 500, 500),  # this one
        11: Process(10, 300, 0),
    }
    after = {
        1: Process(0, 10, 900),  # inherits
        5: Process(1, 110, 50 + 75),  # five ticks more than those two had
        8: Process(5, 7, 0),  # has begun
        10: Process(1, 700, 700),
        11: Process(10, 400, 0),
        12: Process(11, 400, 0),
    }
    assert used_by_others(before, after, 10) == 10 + 5 + 7


def test_a_process_that_nobody_has_collected_yet_counts_for_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stat = "{} (a) b) {} {} 0 0 0 0 0 0 0 0 0 {} 2 3 4 0"
    for number, state, parent, user in ((1, "S", 0, 10), (5, "Z", 1, 900), (6, "S", 1, 20), (7, "Z", 6, 30)):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "stat").write_text(stat.format(number, state, parent, user), "utf-8")
    monkeypatch.setattr(machine, "PROC", tmp_path)
    assert machine.processes() == {1: Process(0, 12, 7), 6: Process(1, 22, 7), 7: Process(6, 32, 7)}


def test_a_timeline_has_the_median_of_each_step_in_order() -> None:
    starts = [Start(30.0 + n, 20.0 + n, {"page": 1.0 + n, "python": 10.0 + n}) for n in range(3)]
    assert timeline(starts) == {"page": 2, "python": 11, "connected": 21, "answered": 31}
    assert list(timeline(starts)) == ["page", "python", "connected", "answered"]
    assert list(report.timelines(FIGURES[2])) == [("stock", "       10      +10  page\n     2000    +1990  answered")]
    assert list(report.timelines(FIGURES[0])) == []
    call = Figure("call", "ms", 0.5, details={"mcpframe": {"timeline": {"posted": 0.125, "answered": 0.5}}})
    assert list(report.timelines(call)) == [("mcpframe", "     0.12    +0.12  posted\n     0.50    +0.38  answered")]


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


@pytest.mark.parametrize(("others", "busy"), [(None, False), (BUSY, False), (BUSY + 0.01, True)])
def test_a_busy_machine_is_noted(others: float, busy: bool) -> None:
    assert replace(SETTING, others=others).busy is busy
