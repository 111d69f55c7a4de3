"""The template pi-calculator, end to end: its setup needs nobody, and its picture is drawn while it is shown."""

import math

import pytest

from tests.browser.hosts import Host
from tests.contract.playing import POLL

TEMPLATE = "pi-calculator"

COLOURED = """() => {
    const canvas = document.querySelector("#points");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let at = 3; at < data.length; at += 4) count += data[at] > 0;
    return count;
}"""


@pytest.fixture
def template() -> str:
    return TEMPLATE


async def test_from_setup_to_answers(host: Host) -> None:
    async with host.setup() as setting_up:
        result = await setting_up.result()
    assert result == {"title": "Pi calculator", "visibility": "optional", "message": None, "error": None}

    async with host.connect() as server:
        first = await server.ok("calculate_pi", iterations=50_000)
        assert first["structuredContent"]["points"] == 50_000
        assert abs(first["structuredContent"]["pi"] - math.pi) < 0.1
        assert first["progress"] == [10_000, 20_000, 30_000, 40_000, 50_000]

        # What was thrown unseen is drawn when the page is shown.
        await server.show(True)
        await server.frame.wait_for_selector("#total >> text=50,000")
        seen = await server.frame.evaluate(COLOURED)
        assert seen > 5000

        more = await server.ok("calculate_pi", iterations=100_000)
        await server.frame.wait_for_selector("#total >> text=150,000")
        assert await server.frame.evaluate(COLOURED) > seen
        shown = await server.frame.inner_text("#estimate")
        assert shown == f"{more['structuredContent']['pi']:.6f}"

        forgot = await server.ok("reset")
        assert forgot["content"][0]["text"] == "Forgot 150,000 points."
        await server.frame.wait_for_selector("#total >> text=0")
        assert await server.frame.evaluate(COLOURED) < seen


async def test_the_picture_grows_while_points_are_thrown(host: Host) -> None:
    async with host.connect() as server:
        await server.show(True)
        await server.frame.wait_for_selector("#total >> text=0")  # the server knows that it is seen
        await server.frame.evaluate(
            """() => {
                window.totals = [];
                const total = document.querySelector("#total");
                new MutationObserver(() => totals.push(total.textContent)).observe(total, { childList: true });
            }"""
        )
        await server.ok("calculate_pi", iterations=100_000)
        await server.frame.wait_for_function("() => totals.at(-1) === '100,000'", polling=POLL)
        assert len(await server.frame.evaluate("totals")) > 5
