"""The README's ten-line server is one that works."""

from __future__ import annotations

import re
from pathlib import Path

from mcp import Client

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")


async def test_the_server_on_the_first_screen_adds() -> None:
    [source] = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert README.index(source) < 1500
    module: dict[str, object] = {"__name__": "server"}
    exec(compile(source, "server.py", "exec"), module)
    async with Client(module["server"]) as client:  # type: ignore[arg-type]
        result = await client.call_tool("add", {"a": 1, "b": 2})
    assert result.structured_content == {"result": 3}
