"""Progress and cancelling, in memory: the same happens in a page."""

import asyncio

from mcp import Client

from server import server


async def count(below: int) -> tuple[object, list[float]]:
    done: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        done.append(progress)

    async with Client(server) as client:
        result = await client.call_tool("count_primes", {"below": below}, progress_callback=on_progress)
        return result.structured_content, done


async def cancel_after_the_first_progress() -> object:
    begun = asyncio.Event()

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        begun.set()

    async with Client(server) as client:
        call = client.call_tool("count_primes", {"below": 10**9}, progress_callback=on_progress)
        task = asyncio.create_task(call)
        await begun.wait()
        task.cancel()
        await asyncio.wait([task])
        result = await client.call_tool("list_unfinished")
        return result.structured_content


def test_progress_leads_to_the_result():
    assert asyncio.run(count(5_000)) == ({"result": 669}, [2_000, 4_000, 5_000])


def test_a_cancelled_count_ends():
    assert asyncio.run(cancel_after_the_first_progress()) == {"result": [10**9]}
