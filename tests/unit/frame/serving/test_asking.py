"""Console scripts whose variables the visitor enters: the form, and the program's environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcpframe.frame.serving import asking_program as asking
from mcpframe.frame.serving.asking_program import KEY, AskingProgram, form
from mcpframe.frame.serving.frame_session import local_session
from mcpframe.frame.serving.server_module import server_module
from mcpframe.frame.session.lines import PlainMessages

PROGRAM = """
import os

from mcp.server import MCPServer

NAME = os.environ["ASKING_KEY"]  # as many programs do

def main():
    MCPServer(NAME).run()
"""


def test_the_form_has_a_field_for_each_variable() -> None:
    html = form(["A_KEY", "A_URL", "<b>"], {"A_KEY": "secret"}, "R&D")
    assert html.count('type="password"') == 2
    assert html.count('type="text"') == 1
    assert '<label for="env-1">A_URL</label>' in html
    assert "R&amp;D" in html
    assert "&lt;b&gt;" in html
    assert "secret" not in html
    assert "kept" in html


async def test_the_program_is_imported_with_what_its_visitor_has_entered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "asking_program.py").write_text(PROGRAM)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    server = AskingProgram("asking_program:main", ["ASKING_KEY"], "Program")
    assert server_module("program", server) is asking
    assert isinstance(asking.messages(), PlainMessages)
    server.session = local_session()
    await server.session.storage.set(KEY, {"ASKING_KEY": "of the visitor"})
    ask, read = anyio.create_memory_object_stream[Any](1)
    write, answers = anyio.create_memory_object_stream[Any](10)
    about = {"name": "client", "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
    async with answers, anyio.create_task_group() as tasks:
        with anyio.fail_after(30):
            tasks.start_soon(asking.serve, server, read, write)
            await ask.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
            while "id" not in (answer := (await answers.receive())[1]):
                pass
            await ask.aclose()
    assert answer["result"]["serverInfo"]["name"] == "of the visitor"
