"""Shows a roll of the server in the view as each known host would, under its policy: in headless Chromium."""

import json
import shlex
import subprocess
import sys

import pytest

from mcpframe.hosts import HOST_PROFILES

TEXT = {"default"}
"""Hosts that allow neither frames of other sites nor WebAssembly: the text of the result stands in for the view."""


@pytest.fixture(scope="module")
def outcomes(pytestconfig):
    if pytestconfig.getoption("--mcpframe-memory"):
        pytest.skip("needs a browser, and --mcpframe-memory is given")
    server = shlex.join([sys.executable, "server.py"])
    command = [sys.executable, "-m", "mcpframe", "check", "--views", "--server", server, "--json"]
    checked = subprocess.run(command, cwd=pytestconfig.rootpath, stdout=subprocess.PIPE, text=True)
    (report,) = json.loads(checked.stdout)
    assert (report["tool"], report["note"]) == ("roll_dice", "")
    return {row["profile"]: row for row in report["rows"]}


@pytest.mark.parametrize("host", HOST_PROFILES)
def test_the_view_in_each_host(host, outcomes):
    assert outcomes[host]["outcome"] == ("text" if host in TEXT else "draws"), outcomes[host]
    assert not outcomes[host]["error_page"]
