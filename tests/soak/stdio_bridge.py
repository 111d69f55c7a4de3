"""A bridge over stdio without a browser, as a program: its server runs where a page would be."""

from __future__ import annotations

import asyncio

from mcpframe.kit.edges.stdio.edge import serve_stdio
from tests.support.bridged import Place

if __name__ == "__main__":
    asyncio.run(serve_stdio(Place().open_page))  # type: ignore[arg-type]
