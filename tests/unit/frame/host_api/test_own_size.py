"""The size that a page reports: whatever its host makes of it, and whatever the page makes of its frame, it ends."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mcpframe.frame.host_api.by_dialect import OwnSize

FIRST = 150


def settled(content: Callable[[int], int], host: Callable[[int], int], width: int = 300) -> list[int]:
    """Return the heights that a page reports to a host until both are content.

    Args:
        content: the height of the page's content in a frame of some height.
        host: the height of the frame for a height that is reported.
        width: the width of the frame.
    """
    reports: list[int] = []
    size = OwnSize(lambda _, height: reports.append(height))
    frame = FIRST
    for _ in range(50):
        before = len(reports)
        size.measured(width, content(frame), frame)
        if len(reports) == before:
            return reports
        frame = host(reports[-1])
    raise AssertionError(reports)


HOSTS: dict[str, Callable[[int], int]] = {
    "exact": lambda height: height,
    "adds": lambda height: height + 20,
    "takes away": lambda height: height - 20,
    "at most 500": lambda height: min(height, 500),
}


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
def test_it_ends_with_every_host(host: Callable[[int], int]) -> None:
    assert settled(lambda _: 400, host) == [400]
    assert settled(lambda frame: max(400, frame), host)[0] == 400
    for content in (
        lambda frame: frame,
        lambda frame: frame + 16,
        lambda frame: 2 * frame,
        lambda frame: frame // 2 + 99,
    ):
        reports = settled(content, host)
        assert len(reports) < 12
        assert max(reports) <= 16 * FIRST


def test_only_changes_are_reported() -> None:
    reports: list[tuple[int, int]] = []
    size = OwnSize(lambda *report: reports.append(report))
    for measured in (
        (300, 400, 150),
        (300, 400, 150),
        (300, 400, 400),
        (200, 600, 400),
        (200, 600, 600),
        (200, 100, 600),
    ):
        size.measured(*measured)
    assert reports == [(300, 400), (200, 600), (200, 100)]


def test_content_that_grows_while_its_frame_does_is_reported_in_the_end() -> None:
    reports: list[int] = []
    size = OwnSize(lambda _, height: reports.append(height))
    size.measured(300, 400, 150)
    for step in range(1, 9):  # each frame has the height of the last report, and more content
        size.measured(300, 400 + 10 * step, 400 + 10 * (step - 1))
    size.measured(300, 480, 480)
    assert reports[-1] == 480


def test_another_change_is_reported_again() -> None:
    reports: list[int] = []
    size = OwnSize(lambda _, height: reports.append(height))
    for frame in range(150, 400, 16):
        size.measured(300, frame + 16, frame)
    stopped = list(reports)
    assert len(stopped) == 3
    size.measured(300, 700, frame)
    assert reports == [*stopped, 700]
