"""The SDK's client is imported when it is first used, and is then the one that it always is."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

START = """
import json, sys
from contextlib import contextmanager
from mcpframe.frame.compat.later_client import LaterClient

entered = []

@contextmanager
def importing():
    entered.append("in")
    yield
    entered.append("out")

def loaded():
    return sorted(name for name in sys.modules if name == "mcp.client" or name.startswith("mcp.client."))

with LaterClient(importing).postponed():
    import mcp
    import mcp.server.mcpserver
before = [loaded(), entered[:], [name for name in mcp.__all__ if name in vars(mcp)].count("Client")]
"""


def outcome(code: str) -> Any:
    run = subprocess.run(
        [sys.executable, "-c", f"{START}\n{code}"], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_a_name_of_the_package_imports_what_it_is_from() -> None:
    before, stdio, is_it, entered = outcome(
        "session = mcp.ClientSession\n"
        "stdio = 'mcp.client.session_group' in sys.modules\n"
        "from mcp.client.session import ClientSession\n"
        "print(json.dumps([before, stdio, session is ClientSession is mcp.ClientSession, entered]))"
    )
    assert before == [[], [], 0]
    assert stdio is False, "it imports no more than that"
    assert is_it
    assert entered.count("in") == entered.count("out") > 0


def test_every_public_name_and_every_module_is_there() -> None:
    missing, types, error = outcome(
        "missing = [name for name in mcp.__all__ if not hasattr(mcp, name)]\n"
        "types = sorted({type(getattr(mcp, name)).__module__.partition('.')[0] for name in mcp.__all__})\n"
        "try:\n    mcp.nonsense\nexcept AttributeError as raised:\n    error = str(raised)\n"
        "print(json.dumps([missing, types, error]))"
    )
    assert missing == []
    assert "mcpframe" not in types
    assert error == "module 'mcp' has no attribute 'nonsense'"


def test_the_package_is_reached_as_an_attribute_with_what_the_sdk_imports_of_it() -> None:
    assert outcome(
        "print(json.dumps([mcp.client.session.ClientSession.__name__, mcp.client.stdio.stdio_client.__name__]))"
    ) == ["ClientSession", "stdio_client"]
    assert outcome("import mcp.client.sse\nprint(json.dumps(mcp.client.sse.sse_client.__name__))") == "sse_client"
    assert outcome("from mcp import *\nprint(json.dumps(Client.__module__))") == "mcp.client.client"
