"""How long a framed test takes with the pytest plugin, once the server is built and the browser runs."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from mcpframe.kit.project.scaffold import scaffold
from tests.benchmarks.browser import BenchmarkError
from tests.benchmarks.figures import Figure

_TESTS = """
import pytest

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.mark.parametrize("number", range({count}))
async def test_add(framed_client, number):
    result = await framed_client.call_tool("add", {{"a": number, "b": 1}})
    assert result.structured_content == {{"result": number + 1}}
"""
_DURATION = re.compile(r"^([\d.]+)s (?:setup|call|teardown) +\S+\[(\d+)\]$", re.MULTILINE)


def measure_framed_tests(rounds: int) -> list[Figure]:
    """The figure about tests of a new project, each with its setup and teardown as pytest counts them.

    Args:
        rounds: How many tests, after the first.

    Raises:
        BenchmarkError: A test fails.
    """
    with tempfile.TemporaryDirectory(prefix="mcpframe-bench-") as folder:
        project = scaffold("adder", parent=Path(folder))
        [file] = (project / "tests").glob("test_*.py")
        file.write_text(_TESTS.format(count=rounds + 1))
        command = [sys.executable, "-m", "mcpframe", "test", "--durations=0", "-vv", "-p", "no:xdist"]
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchmarkError(f"mcpframe test fails:\n{done.stdout}\n{done.stderr}")
    times: dict[int, float] = defaultdict(float)
    for seconds, number in _DURATION.findall(done.stdout):
        times[int(number)] += 1000 * float(seconds)
    # The first one builds and starts the browser, the last one ends it.
    samples = [times[number] for number in range(1, rounds)]
    return [Figure.of_times("a framed test after the first, with setup and teardown", samples, 1000)]
