"""The public names: importable from `mcpframe`, documented, and free until they are used."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import mcpframe

REFERENCE = (Path(__file__).parents[2] / "docs" / "reference" / "python.md").read_text("utf-8")
DOCUMENTED = re.findall(r"^::: (mcpframe\.(?!views)[\w.]+)$", REFERENCE, flags=re.MULTILINE)
ERRORS = {"errors", "SetupCancelled", "SetupFailed"}  # docs/reference/errors.md has them
PLAIN = ["Closed", "Element", "File", "Options", "Refused", "SetupRequired", "VisibilityChanged", "Wire"]


@pytest.mark.parametrize("path", DOCUMENTED)
def test_what_the_reference_documents_is_importable_from_the_root(path: str) -> None:
    module, _, name = path.rpartition(".")
    assert name in mcpframe.__all__
    assert getattr(mcpframe, name) is getattr(import_module(module), name)


def test_every_public_name_is_documented() -> None:
    assert set(mcpframe.__all__) - ERRORS == {path.rpartition(".")[2] for path in DOCUMENTED}


def test_names_are_imported_when_they_are_used_and_plain_ones_without_the_sdk() -> None:
    program = (
        "import sys, mcpframe\n"
        "assert [name for name in sys.modules if name.startswith('mcpframe.')] == []\n"
        f"from mcpframe import {', '.join(PLAIN)}\n"
        "print('mcp' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "False"
