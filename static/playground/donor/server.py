"""The server in whose place the playground puts its user's; its imports decide which parts of mcpframe are there."""

import threading
import urllib.request

from mcpframe import FrameServer

server = FrameServer("playground")
PARTS = (threading, urllib.request)


@server.tool()
def nothing() -> None:
    """Do nothing."""
