"""What a message to a page and back takes over DevTools, by a client that does nothing else."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

from mcpframe.kit.browser.devtools.protocol import DevTools
from mcpframe.kit.browser.devtools.websocket import connect

_BINDING = "mcpframeBenchmark"
_FUNCTION = f"(text) => {_BINDING}(JSON.stringify(JSON.parse(text)))"


async def crossings(address: str, url: str, count: int, length: int) -> float:
    """Pass a text to a page, which reports it back, so many times, one after another.

    Args:
        address: Where the browser's DevTools are.
        url: The beginning of the page's address.
        count: How often.
        length: The length of the text.

    Returns:
        How long each took, in milliseconds.
    """
    devtools = DevTools(await connect(address))
    try:
        targets = (await devtools.command("Target.getTargets"))["targetInfos"]
        target = next(each["targetId"] for each in targets if each["type"] == "page" and each["url"].startswith(url))
        attached = await devtools.command("Target.attachToTarget", targetId=target, flatten=True)
        session: str = attached["sessionId"]
        report: asyncio.Future[str]

        def heard(method: str, params: dict[str, Any]) -> None:
            if method == "Runtime.bindingCalled" and params["name"] == _BINDING:
                report.set_result(params["payload"])

        devtools.handle(session, heard)
        await devtools.command("Runtime.enable", session)
        await devtools.command("Runtime.addBinding", session, name=_BINDING)
        window = await devtools.command("Runtime.evaluate", session, expression="globalThis")
        text = json.dumps({"text": "x" * length}, separators=(",", ":"))
        start = time.perf_counter()
        for _ in range(count):
            report = asyncio.get_running_loop().create_future()
            devtools.post(
                "Runtime.callFunctionOn",
                session,
                functionDeclaration=_FUNCTION,
                objectId=window["result"]["objectId"],
                arguments=[{"value": text}],
            )
            assert await report == text
        return (time.perf_counter() - start) * 1000 / count
    finally:
        await devtools.close()
