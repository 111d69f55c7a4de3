"""The templates' own tests pass in plain CPython, as their READMEs say."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mcpframe.kit.data import templates_dir

TEMPLATES = sorted(path.parent.name for path in templates_dir().glob("*/tests"))


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_tests_of_a_template_pass(name):
    folder = templates_dir() / name
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), "-c"]
    done = subprocess.run(
        [*command, str(folder / "pyproject.toml"), str(folder)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
