"""The hub's core in Pyodide: what a page that leads an app imports, and what it does for many tabs."""

from __future__ import annotations

import pytest

WORLD = """
import asyncio, json, sys, time
from mcpframe.frame.compat import sdk
sdk.prepare()
import mcp.client, mcp.server.mcpserver
before = set(sys.modules)
from mcpframe.hub.homes.page import page_hub
imported = sorted(set(sys.modules) - before)
from tests.support.fake_hub import HubWorld, text_result, tool
answered = 0
world = HubWorld()
async with world.hub.running():
    ten = [tool(f"t{number}") for number in range(10)]
    ports = [world.page(number, f"https://a{number}.example/", *ten) for number in range(200)]
    names = world.names
    for port, name in zip(ports, names[::10]):
        calling = world.calling(name, a=1)
        while not port.calls:
            await asyncio.sleep(0)
        port.answers(text_result(name))
        answered += (await calling)["content"][0]["text"] == name
    for port in ports:
        world.close(port)
json.dumps([len(names), len(set(names)), answered, world.names, imported])
"""


@pytest.mark.extended
def test_the_hub_of_two_hundred_tabs(selenium):
    listed, different, answered, left, imported = selenium.python(WORLD)
    assert (listed, different, answered, left) == (2000, 2000, 200, [])
    assert not {name.partition(".")[0] for name in imported} & {"starlette", "httpx", "uvicorn", "cryptography"}
    assert {"mcpframe.hub.homes.page.leading", "mcpframe.frame.browser.hub_tab"} <= set(imported)
