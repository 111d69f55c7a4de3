"""Pictures are checked as the client gets them."""

import asyncio
import base64

import png
from mcp import Client
from mcp_types import CallToolResult

from server import BLUE, chart, server


async def call(tool: str, **arguments: object) -> CallToolResult:
    async with Client(server) as client:
        return await client.call_tool(tool, arguments)


async def store_and_show(picture: bytes) -> CallToolResult:
    await server.session.storage.set("picture", picture)
    await server.session.storage.set("format", "png")
    return await call("show_picture")


def test_a_chart_has_a_bar_for_each_value():
    picture, text = asyncio.run(call("draw_chart", values=[1, 3, 2])).content
    width, height, pixels, _ = png.Reader(bytes=base64.b64decode(picture.data)).asRGB()
    assert (width, height, text.text) == (120, 120, "3 bars, the highest for 3")
    assert tuple(next(iter(pixels))[180:183]) == BLUE


def test_values_that_cannot_be_drawn_are_an_error():
    assert asyncio.run(call("draw_chart", values=[])).is_error


def test_without_a_picture_the_call_is_an_error():
    assert asyncio.run(call("show_picture")).is_error


def test_the_users_picture_is_returned_as_it_is():
    [picture] = asyncio.run(store_and_show(chart([1]))).content
    assert base64.b64decode(picture.data) == chart([1])
    assert picture.mime_type == "image/png"
