"""Hostile pages in a browser of `mcpframe hub`, beside an honest one: `tests/unit/hostile/test_hub.py` for real."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.bridge.hub_pages import Site, hub_site
from tests.bridge.programs import PATIENCE, ROOT, environment
from tests.contract.damaged import Record

WAYS = ("flood", "huge", "mimic", "liar", "mute", "busy", "leaves", "loud", "proto", "twice")
"""Those of `hub_evil.js`."""

_PAGE = """<!doctype html>
<meta charset="utf-8">
<link rel="icon" href="data:,">
<body>
<script type="module" src="hub_evil.js"></script>
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    (folder / "evil.html").write_text(_PAGE, "utf-8")
    (folder / "hub_evil.js").write_text(Path(__file__).with_name("hub_evil.js").read_text("utf-8"), "utf-8")
    with hub_site(folder) as served:
        yield served


def name(way: str, tool: str) -> str:
    return f"website_tool_{way}_localhost_tab1_{tool}"


class Caller:
    """A client that calls honest and hostile tools."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.lines = 0

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool; return its text, or the reason why there is none."""
        self.lines += 1
        with anyio.fail_after(PATIENCE):
            try:
                result = await self.client.call_tool(tool, arguments)
            except MCPError as error:
                return (error.error.data or {}).get("reason", error.error.message)
        return f"failed: {result.content}" if result.is_error else result.content[0].text

    async def works(self) -> None:
        assert await self.call(name("shop", "add"), a=2, b=3) == "5"

    async def offered(self, *wanted: str) -> list[str]:
        """Wait until tools are offered; return the names of all."""
        names: list[str] = []
        with anyio.move_on_after(PATIENCE):
            while True:
                names = [each.name for each in (await self.client.list_tools()).tools]
                if set(wanted) <= set(names):
                    return names
                await anyio.sleep(0.05)  # several pages change all the time
        raise AssertionError(f"{set(wanted) - set(names)} are not offered")


@pytest.mark.extended  # tests/unit/hub has its rules
async def test_hostile_pages_beside_an_honest_one(site: Site, tmp_path: Path, record_property: Record) -> None:
    pages = [site.shop(), *(f"{site.origin(way)}/evil.html?{way}" for way in WAYS)]
    options = ["--headless", "--profile", str(tmp_path / "profile"), "--log", str(tmp_path / "log")]
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "mcpframe", "hub", *pages, *options], env=environment(), cwd=ROOT
    )
    async with Client(stdio_client(server), mode="auto", cache=None) as client:
        caller = Caller(client)
        tools = ("good", "lie", "wait", "spin", "go", "shout", "get", "one")
        one_each = zip(("huge", "liar", "mute", "busy", "leaves", "loud", "proto", "twice"), tools, strict=True)
        names = await caller.offered(name("shop", "add"), *(name(*each) for each in one_each), name("mimic", "add"))
        await caller.works()

        # Lists: of a flood some are taken, of odd tools those that are tools, and nobody has another's name.
        assert all(re.fullmatch("[a-zA-Z0-9_]{1,128}", each) for each in names)
        assert len(set(names)) == len(names)
        assert sum("_flood_" in each for each in names) <= 256
        assert sorted(each for each in names if "_huge_" in each) == [name("huge", "good")]
        assert [each for each in names if "_twice_" in each] == [name("twice", "one")]
        listed = {each.name: each.description or "" for each in (await client.list_tools()).tools}
        for tool, description in listed.items():
            way = next(each for each in ("shop", *WAYS) if f"_{each}_" in tool)
            assert description.startswith((f"[{way}.localhost]", f"[{way}.localhost \u2022 Active]"))
        for tool in [each for each in names if "_mimic_" in each]:
            assert await caller.call(tool) == "stolen"  # of its own page, whatever it is named after

        # Answers: each call has one, and those of others are nobody's.
        honest = [asyncio.ensure_future(caller.works()) for _ in range(20)]
        lies = [await caller.call(name("liar", "lie")) for _ in range(3)]
        assert all(isinstance(lie, str) for lie in lies)
        await asyncio.gather(*honest)
        assert await caller.call(name("twice", "one")) == "by the server"
        huge = asyncio.ensure_future(caller.call(name("huge", "good")))  # over the limit: it is never read
        for count in (1, 50_000_000):  # the second is more than any message of DevTools may have
            shouting = asyncio.ensure_future(caller.call(name("loud", "shout"), count=count, text="\x01"))
            await caller.works()
            assert await shouting in ("shouted", "RequestTimeout")
        assert (await huge).startswith(("RequestTimeout", "failed"))
        for _ in range(2):
            await caller.offered(name("leaves", "go"))
            assert await caller.call(name("leaves", "go")) in ("TabClosed", "TabNotFound")
        # Some never answer: others are not kept waiting.
        waiting = [
            asyncio.ensure_future(caller.call(name(way, tool)))
            for way, tool in (("mute", "wait"), ("busy", "spin"), ("proto", "get"))
        ]
        await caller.works()
        assert [await each for each in waiting[:2]] == ["RequestTimeout"] * 2
        assert await waiting[2] != "by the server"
        await caller.works()
        await caller.offered(name("shop", "add"))
    said = (tmp_path / "log").read_text("utf-8")
    assert "Traceback" not in said
    assert len(said) < 2_000_000
    record_property("lines", caller.lines + len(WAYS))
