"""Takes the pictures of the hub: two tabs of the template `shop`, and a client that has called one's tool."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from pathlib import Path
from typing import Any, Literal

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from playwright.async_api import BrowserContext, Page, ViewportSize, async_playwright, expect

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.browser.chromium import ensure_chromium, launch_options

STYLE = Path(__file__).with_name("picture.css")
"""The style of the page of a picture."""
_TAB: ViewportSize = {"width": 860, "height": 560}
_PICTURE: ViewportSize = {"width": 1180, "height": 700}
_PATIENCE = 120
_FILL = """({ tabs, tools, call, result }) => {
  tabs.forEach(({ address, picture }, index) => {
    document.querySelectorAll(".address")[index].textContent = address;
    document.querySelectorAll("img")[index].src = picture;
  });
  for (const [id, text] of Object.entries({ tools, call, result })) {
    const place = document.getElementById(id);
    place.replaceChildren(...text.split(/(tab2)/).map((part) =>
      part === "tab2" ? Object.assign(document.createElement("mark"), { textContent: part }) : part));
  }
  return Promise.all([...document.images].map((image) => image.decode()));
}"""


def take_hub_picture(address: str, scheme: Literal["light", "dark"], image: Path) -> None:
    """Take it.

    Args:
        address: The address of the shop.
        scheme: The colours.
        image: The file.
    """
    with scratch("pictures") as profile:
        asyncio.run(_take(address, scheme, image, profile))


async def _take(address: str, scheme: Literal["light", "dark"], image: Path, profile: Path) -> None:
    options = launch_options(ensure_chromium(install=True))
    options["args"] = [*options["args"], "--remote-debugging-port=0"]
    async with async_playwright() as playwright:
        context = await playwright.chromium.launch_persistent_context(
            profile, viewport=_TAB, device_scale_factor=2, color_scheme=scheme, **options
        )
        port = (profile / "DevToolsActivePort").read_text().splitlines()[0]
        command = ["-m", "mcpframe", "hub", "--attach", f"http://127.0.0.1:{port}", "--site", "*"]
        server = StdioServerParameters(command=sys.executable, args=command, cwd=checkout_dir())
        async with asyncio.timeout(_PATIENCE), Client(stdio_client(server), cache=None) as client:
            await _use(context, client, address, image)
        await context.close()


async def _use(context: BrowserContext, client: Client, address: str, image: Path) -> None:
    tabs = []
    for number in (1, 2):
        tabs.append(await context.new_page())
        await tabs[-1].goto(address)
        await _tool(client, number, "add_to_cart")
    add = await _tool(client, 2, "add_to_cart")
    arguments = {"product": "oolong", "quantity": 2}
    result = await client.call_tool(add, arguments)
    await _tool(client, 2, "check_out")
    await expect(tabs[1].get_by_role("status")).to_contain_text("Oolong")
    listed = [tool.name for tool in (await client.list_tools()).tools]
    filled = {
        "tabs": [{"address": tab.url, "picture": await _picture(tab)} for tab in tabs],
        "tools": "\n".join(listed),
        "call": f"{add}\n{json.dumps(arguments)}",
        "result": getattr(result.content[0], "text", ""),
    }
    page = await context.new_page()
    await page.set_viewport_size(_PICTURE)
    await page.set_content((Path(__file__).with_suffix(".html")).read_text("utf-8"))
    await page.add_style_tag(path=STYLE)
    await page.evaluate(_FILL, filled)
    await page.screenshot(path=image, full_page=True)


async def _picture(tab: Page) -> str:
    await tab.bring_to_front()
    await tab.evaluate("Promise.all(document.getAnimations().map((each) => each.finished))")
    return f"data:image/png;base64,{base64.b64encode(await tab.screenshot()).decode()}"


async def _tool(client: Client, tab: int, name: str) -> str:
    """Wait until a client is offered a tool of a tab, and return its name."""
    while True:
        listed: list[Any] = (await client.list_tools()).tools
        for tool in listed:
            if tool.name.endswith(f"_tab{tab}_{name}"):
                return str(tool.name)
        await asyncio.sleep(0.1)
