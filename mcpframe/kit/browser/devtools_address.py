"""The address of a running Chromium's DevTools, for others than the program that has started it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from mcpframe.kit.base.errors import BrowserGone

_FILE = "DevToolsActivePort"
_SECONDS = 30.0
_INTERVAL = 0.02


async def devtools_address(profile: Path) -> str:
    """Return the address of the DevTools of a Chromium that runs with `--remote-debugging-port=0`.

    Chromium chooses the port and writes it into its profile, perhaps only after it answers to Playwright.

    Args:
        profile: The folder of its profile, which no earlier Chromium has used.

    Raises:
        BrowserGone: There is no port after half a minute.
    """
    try:
        async with asyncio.timeout(_SECONDS):
            while True:
                with suppress(OSError, IndexError, ValueError):  # not there yet, or empty
                    return f"http://127.0.0.1:{int((profile / _FILE).read_text('utf-8').splitlines()[0])}"
                await asyncio.sleep(_INTERVAL)  # another program's file: nobody reports it
    except TimeoutError:
        raise BrowserGone(f"Chromium has not written the port of its DevTools into {profile}: try again.") from None
