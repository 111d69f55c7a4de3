"""A bridge over stdio starts without the SDK: a client would wait for its import longer than for all else."""

from __future__ import annotations

import subprocess
import sys

_SLOW = ("mcp", "mcp_types", "wsproto")
_RUN = """
import sys
from mcpframe.kit.bridge import run
from mcpframe.kit.cli.main import main

def bridged(options):
    import mcpframe.kit.edges.stdio.edge, mcpframe.kit.servers.bundle_site
    print([name for name in {slow} if name in sys.modules])

run.bridge_stdio = bridged
sys.argv = ["mcpframe", "bridge", "https://tools.example/pi/"]
main()
"""


def test_what_answers_first_imports_no_sdk() -> None:
    command = [sys.executable, "-c", _RUN.format(slow=_SLOW)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
