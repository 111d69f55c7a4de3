"""The server in plain Python, with the official client in memory: no browser needed."""

import asyncio
import math

import pytest
from mcp import Client

import server


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture(autouse=True)
def forget_points():
    server.reset()


@pytest.mark.anyio
async def test_the_estimate_is_near_pi():
    async with Client(server.server) as client:
        result = await client.call_tool("calculate_pi", {"iterations": 100_000})
    estimate = result.structured_content
    assert estimate["points"] == 100_000
    assert abs(estimate["pi"] - math.pi) < 6 * estimate["standard_error"]
    assert result.content[0].text.startswith("pi ≈ 3.1")


@pytest.mark.anyio
async def test_points_add_up_until_a_reset():
    async with Client(server.server) as client:
        await client.call_tool("calculate_pi", {"iterations": 1000})
        second = await client.call_tool("calculate_pi", {"iterations": 2000})
        assert second.structured_content["points"] == 3000
        forgot = await client.call_tool("reset")
        assert forgot.content[0].text == "Forgot 3,000 points."
        third = await client.call_tool("calculate_pi", {"iterations": 1000})
        assert third.structured_content["points"] == 1000


@pytest.mark.anyio
async def test_after_a_reset_the_same_points_are_thrown():
    async with Client(server.server) as client:
        first = await client.call_tool("calculate_pi", {"iterations": 20_000})
        await client.call_tool("reset")
        second = await client.call_tool("calculate_pi", {"iterations": 20_000})
    assert first.structured_content == second.structured_content


@pytest.mark.anyio
async def test_progress_is_reported():
    seen = []

    async def on_progress(progress, total, message):
        seen.append((progress, total))

    async with Client(server.server) as client:
        await client.call_tool("calculate_pi", {"iterations": 25_000}, progress_callback=on_progress)
    assert seen == [(10_000, 25_000), (20_000, 25_000), (25_000, 25_000)]


@pytest.mark.anyio
@pytest.mark.parametrize("iterations", [999, 1_000_001])
async def test_the_number_of_points_is_limited(iterations):
    async with Client(server.server) as client:
        result = await client.call_tool("calculate_pi", {"iterations": iterations})
    assert result.is_error


@pytest.mark.anyio
async def test_a_reset_during_the_last_batch_leaves_the_estimate_as_it_was():
    class Silent:
        async def report_progress(self, *_):
            pass

    async def reset():
        return server.reset()

    result, forgot = await asyncio.gather(server.calculate_pi(1000, Silent()), reset())
    assert result.structured_content["points"] == 1000
    assert forgot == "Forgot 1,000 points."
    assert server.points.total == 0
