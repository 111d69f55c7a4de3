"""Messages to a client that does not read are bounded."""

from __future__ import annotations

import os

import pytest

from mcpframe.kit.edges.link.messages import Unread
from mcpframe.kit.edges.stdio.streams import Output


def test_so_much_waits_and_no_more() -> None:
    unread = Unread(limit=10)
    assert unread.add(6)
    assert not unread.add(5)
    unread.remove(6)
    assert unread.add(5)


def test_a_single_message_may_always_wait() -> None:
    unread = Unread(limit=10)
    assert unread.add(1000)
    assert not unread.add(1)


async def test_a_client_of_stdio_that_does_not_read_counts_as_gone(caplog: pytest.LogCaptureFixture) -> None:
    read, write = os.pipe()
    output = Output(write, Unread(limit=1_000_000))
    for _ in range(20):  # a pipe takes 64 KiB
        output.write("x" * 100_000)
    assert output.broken.done()
    assert "does not read" in caplog.text
    os.close(read)  # the thread that writes ends
    await output.flush()
    os.close(write)
