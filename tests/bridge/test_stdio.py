"""The stdio edge by hand: bad input, and ends of every kind."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.bridge.programs import PATIENCE, gone, start


async def test_bad_input_and_a_browser_that_is_killed(server: str, tmp_path: Path) -> None:
    async with start(server, "--timeout", str(PATIENCE), profile=tmp_path) as bridge:
        await bridge.initialize()
        await bridge.send(b"{broken\n")
        broken = await bridge.next()
        assert (broken["id"], broken["error"]["code"]) == (None, -32700)

        await bridge.send(b'{"jsonrpc":"2.0","id":"large","method":"tools/call","params":{"x":"')
        for _ in range(100):
            await bridge.send(b"x" * 1_000_000)
        await bridge.send(b'"}}\n')
        large = await bridge.next()
        assert (large["id"], large["error"]["code"]) == ("large", -32600)
        assert "limit" in large["error"]["message"]

        wait = {"name": "wait", "arguments": {"name": "x"}, "_meta": {"progressToken": 1}}
        await bridge.request(1, "tools/call", **wait)
        assert (await bridge.next())["method"] == "notifications/progress"
        for params in (None, {"requestId": [1]}, {"requestId": {}}):
            await bridge.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        refused = await bridge.next()
        assert (refused["id"], refused["error"]["code"]) == (None, -32600)
        os.killpg(os.getpgid(bridge.browsers()[0]), signal.SIGKILL)
        failed = await bridge.next()
        assert (failed["id"], failed["error"]["code"]) == (1, -32000)
        assert "Chromium has ended" in failed["error"]["message"]

        # It is opened again, and the client goes on without noticing.
        await bridge.request(2, "tools/call", name="echo", arguments={"text": "again"})
        answer = await bridge.next()
        assert (answer["id"], answer["result"]["content"][0]["text"]) == (2, "again")

        await bridge.request(3, "tools/call", name="speak", arguments={"text": "aloud"})
        await bridge.answer(3)

        assert bridge.process.stdin
        bridge.process.stdin.close()
        status, told = await bridge.ended()
        assert status == 0
        assert "It is opened again" in told
        assert "Traceback" not in told
        said = [line for line in told.splitlines() if line.endswith("aloud")]
        assert said == ["printed aloud", "complained aloud", "written aloud", "WARNING warned aloud"]
        await gone(bridge)


async def test_a_client_that_dies_in_mid_call_leaves_nothing(server: str, tmp_path: Path) -> None:
    async with start(server, "--timeout", str(PATIENCE), profile=tmp_path) as bridge:
        await bridge.initialize()
        wait = {"name": "wait", "arguments": {"name": "x"}, "_meta": {"progressToken": 1}}
        await bridge.request(1, "tools/call", **wait)
        await bridge.next()
        assert bridge.browsers()
        bridge.process._transport.get_pipe_transport(0).abort()  # type: ignore[attr-defined]
        bridge.process._transport.get_pipe_transport(1).close()  # type: ignore[attr-defined]
        status, told = await bridge.ended()
        assert (status, "Traceback" in told) == (0, False)
        await gone(bridge)


async def test_a_bridge_that_is_killed_takes_its_browser_along(server: str, tmp_path: Path) -> None:
    async with start(server, "--timeout", str(PATIENCE), profile=tmp_path) as bridge:
        await bridge.initialize()
        assert bridge.browsers()
        bridge.process.kill()
        await bridge.ended()
        await gone(bridge)
