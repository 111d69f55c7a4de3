"""Takes the pictures of the template data-analyst: a person has chosen a file, and a client has called its tools."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, Literal

from mcp import Client
from playwright.async_api import ViewportSize, async_playwright

from mcpframe.hosts import Options, OuterFrame
from mcpframe.kit.browser.chromium import ensure_chromium, launch_options
from mcpframe.kit.browser.playwright_window import PlaywrightPlace

PAGE = Path(__file__).with_suffix(".html")
"""The page around the server: a picture is one of it."""
_PICTURE: ViewportSize = {"width": 1180, "height": 900}
_PATIENCE = 180
_SCALE = {"Oslo": 90, "Rome": 70, "Lima": 45}
SALES = "city,month,amount\n" + "".join(
    f"{city},{month},{scale + (month * scale // 9 + month * month * 7) % 41}\n"
    for city, scale in _SCALE.items()
    for month in range(1, 13)
)
_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("query", {"expression": "sales.groupby('city').amount.agg(['sum', 'max'])"}),
    (
        "plot",
        {
            "expression": "sales.pivot_table(index='month', columns='city', values='amount')",
            "kind": "line",
            "title": "Sales 2026",
        },
    ),
)
_ADD = """([tool, given, answer]) => {
  const add = (name, text) => Object.assign(document.querySelector("#calls").appendChild(document.createElement(name)),
    { textContent: text });
  add("h2", "tools/call");
  add("pre", `${tool}\n${given}`);
  add("h2", "result");
  if (answer.type === "image") add("img", "").src = `data:${answer.mimeType};base64,${answer.data}`;
  else add("pre", answer.text);
}"""


def take_analyst_picture(address: str, host: str, scheme: Literal["light", "dark"], image: Path) -> None:
    """Take it.

    Args:
        address: The address of the server.
        host: The address of `PAGE`.
        scheme: The colours.
        image: The file.
    """
    asyncio.run(_take(address, host, scheme, image))


async def _take(address: str, host: str, scheme: Literal["light", "dark"], image: Path) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**launch_options(ensure_chromium(install=True)))
        page = await browser.new_page(viewport=_PICTURE, device_scale_factor=2, color_scheme=scheme)
        page.set_default_timeout(_PATIENCE * 1000)
        await page.goto(host)
        await page.evaluate("text => { document.querySelector('#address').textContent = text; }", address)
        outer = OuterFrame(address, visibility="required", options=Options(handshake_timeout=_PATIENCE))
        async with asyncio.timeout(_PATIENCE), Client(outer.connect(PlaywrightPlace(page, "#page"))) as client:
            frame = page.frame_locator("#page iframe")
            file = {"name": "sales.csv", "mimeType": "text/csv", "buffer": SALES.encode()}
            await frame.locator("#file").set_input_files(file)  # type: ignore[arg-type]
            await frame.locator("#tables li").wait_for()
            for tool, arguments in _CALLS:
                result = await client.call_tool(tool, arguments)
                content = result.content[0]  # the link to a kept table follows
                answer = content.model_dump(mode="json", by_alias=True)
                await page.evaluate(_ADD, [tool, json.dumps(arguments, indent=1), answer])
            await frame.locator("#result img").wait_for()
            await page.screenshot(path=image)
        await browser.close()
