"""The log of the hub."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import WriteError
from mcpframe.kit.edges.stdio.streams import MOST_WAITING, StandardErrorHandler
from mcpframe.kit.hub.log import hub_log


def test_each_record_is_one_line_that_no_page_can_forge(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "new" / "calls.log"
    logger = logging.getLogger("mcpframe.hub.core.hub")
    for number in (1, 2):
        with hub_log(file):
            logger.info("Tool %r is executed by tab %d. %s", "add", number, "a\nb\x1b[2J\u202e")
            logging.getLogger("mcpframe.other").info("not of the hub")
    logger.info("after the end")
    lines = file.read_text().splitlines()
    assert len(lines) == 2
    assert all(line.endswith("a\\nb\\x1b[2J\\u202e") for line in lines)
    assert file.stat().st_mode & 0o077 == 0
    shown = capfd.readouterr().err.splitlines()
    assert shown == [f"mcpframe hub: Tool 'add' is executed by tab {number}. a\\nb\\x1b[2J\\u202e" for number in (1, 2)]


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError), hub_log(tmp_path / "file" / "inside"):
        raise AssertionError


def test_of_complaints_without_end_few_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that causes thousands a second must not fill the disk, nor hide what is called."""
    file = tmp_path / "calls.log"
    logger = logging.getLogger("mcpframe.hub.core.transport")
    seconds = 0.0
    # Not the clock of the process, by which other threads wait.
    monkeypatch.setattr("mcpframe.kit.hub.log.monotonic", lambda: seconds)
    with hub_log(file):
        for number in range(5000):
            logger.warning("A message of tab %d is ignored: %s", number, "x")
            logger.info("Tool %r is executed.", number)
        logger.warning("Another one")
        seconds = 60.0
        logger.warning("A message of tab %d is ignored: %s", 7, "later")
    lines = file.read_text().splitlines()
    complaints = [line for line in lines if "WARNING" in line]
    assert len(complaints) < 100
    assert complaints[-2].endswith("Another one")
    assert complaints[-1].endswith("tab 7 is ignored: later")
    assert len(lines) - len(complaints) == 5000


def test_nobody_has_to_read_standard_error() -> None:
    reading, writing = os.pipe()
    handler = StandardErrorHandler(writing)
    record = logging.LogRecord("hub", logging.INFO, "", 0, "x" * 1000, None, None)
    for _ in range(3 * MOST_WAITING):
        handler.handle(record)  # does not wait, although the pipe is full
    read = 0
    with os.fdopen(reading, "rb") as reader:
        while read < MOST_WAITING:  # what waits is at least that
            assert reader.readline() == b"x" * 1000 + b"\n"
            read += 1
        handler.handle(record)
        handler.close()
        os.close(writing)
        rest = reader.read().decode().splitlines()
    assert "were left out" in "\n".join(rest)
    assert rest[-1] == "x" * 1000


def test_a_reader_of_standard_error_that_has_gone_is_no_failure() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    handler = StandardErrorHandler(writing)
    for _ in range(3):
        handler.handle(logging.LogRecord("hub", logging.INFO, "", 0, "line", None, None))
    handler.close()
    os.close(writing)
