"""Requests that a page of another site could send to an MCP endpoint, with large bodies that nobody may read."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import anyio


async def refused_before_their_bodies(address: str, patience: float) -> None:
    """Check that requests for another host, or from another origin, are refused by their heads alone.

    Args:
        address: The address of the endpoint.
        patience: Seconds for each answer.
    """
    url = urlsplit(address)
    for strange in ("Host: rebound.example", f"Host: {url.netloc}\r\nOrigin: https://rebound.example"):
        head = f"POST /mcp HTTP/1.1\r\n{strange}\r\nContent-Type: application/json\r\nContent-Length: 50000000\r\n\r\n"
        with anyio.fail_after(patience):
            reader, writer = await asyncio.open_connection(url.hostname, url.port)
            writer.write(head.encode())
            assert (await reader.readline()).split()[1] in (b"403", b"421")
            writer.close()
