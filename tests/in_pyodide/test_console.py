"""A handler's prints, and the traceback of one that fails, are in the page's console."""

from __future__ import annotations

SERVE = """
import json
from mcpframe.frame.compat import sdk
sdk.prepare()
from mcpframe import FrameServer
from tests.support.memory import Heard, connected, logging_to, text

server = FrameServer("s")

@server.tool()
def greet():
    print("hello from the tool")
    return "greeted"

@server.tool()
def fail():
    raise LookupError("the key is gone")

heard = Heard()
async with connected(server, "2026", **logging_to(heard, "2026")) as client:
    await client.call_tool("greet")
    failed = text(await client.call_tool("fail"))
json.dumps([heard.logs, failed])
"""


def test_prints_and_tracebacks_are_in_the_console(selenium):
    logs, failed = selenium.python(SERVE)
    assert logs == [["info", "hello from the tool"]]
    assert failed == "Error executing tool fail: the key is gone"
    console = selenium.logs
    assert "hello from the tool" in console.splitlines()
    assert "Traceback (most recent call last):" in console
    assert "LookupError: the key is gone" in console
