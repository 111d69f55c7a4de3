"""The server in plain CPython: in memory, as a program over stdio, and its weather."""

import sys
from datetime import date
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import server
from weather import SOURCE, invent

URI = "ui://weather/forecast"
FIRST = date(2026, 11, 22)


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def check(client):
    result = await client.call_tool("get_forecast", {"place": "Wien", "days": 3})
    assert (result.structured_content["place"], len(result.structured_content["days"])) == ("Wien", 3)
    assert result.structured_content["source"] == SOURCE
    assert result.content[0].text.startswith(f"Wien. {SOURCE}.\n")
    shown, refresh = (await client.list_tools()).tools
    assert shown.meta["ui"] == {"resourceUri": URI}
    assert refresh.meta["ui"] == {"resourceUri": URI, "visibility": ["app"]}
    (view,) = (await client.read_resource(URI)).contents
    assert view.mime_type == "text/html;profile=mcp-app"
    assert server.PUBLISHED in view.text


@pytest.mark.anyio
async def test_in_memory(client):
    await check(client)


@pytest.mark.anyio
async def test_over_stdio():
    program = Path(server.__file__)
    parameters = StdioServerParameters(
        command=sys.executable, args=[str(program)], env={"PYTHONPATH": ":".join(sys.path)}
    )
    async with Client(stdio_client(parameters)) as client:
        await check(client)


@pytest.mark.anyio
@pytest.mark.parametrize("arguments", [{"place": ""}, {"place": "Wien", "days": 11}, {"place": "Wien", "days": 1}])
async def test_arguments_are_checked(client, arguments):
    assert (await client.call_tool("get_forecast", arguments)).is_error


def test_the_weather_is_the_same_for_everybody_and_later_runs_are_near():
    forecast = invent(" Wien ", 7, 1, FIRST)
    assert forecast == invent("Wien", 7, 1, FIRST)
    later = invent("Wien", 7, 2, FIRST)
    assert later.days != forecast.days
    assert all(abs(a.high - b.high) < 8 for a, b in zip(forecast.days, later.days, strict=True))
    assert all(day.low < day.high for day in forecast.days)
