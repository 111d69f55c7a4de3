"""`TokenBucket`: a burst, then a rate."""

from __future__ import annotations

from mcpframe.frame.waiting.token_bucket import TokenBucket


def test_a_bucket_gives_a_burst_and_then_as_many_as_time_has_brought() -> None:
    now = [0.0]
    bucket = TokenBucket(3, 2, lambda: now[0])
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
    now[0] = 0.5
    assert [bucket.take() for _ in range(2)] == [True, False]
    now[0] = 100
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
