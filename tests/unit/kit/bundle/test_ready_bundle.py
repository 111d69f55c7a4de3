"""Projects that a page refuses to bundle. Whole: tests/browser/test_playground_bundle.py."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from unittest.mock import Mock

import pytest

from mcpframe.kit.base.errors import BuildError, ConfigError
from mcpframe.kit.bundle.assembly.donor import Donor
from mcpframe.kit.bundle.assembly.packages import Packages
from mcpframe.kit.bundle.assembly.ready_bundle import CheckedProject, checked_project

SERVER = "from mcpframe import FrameServer\nserver = FrameServer('new')\n"
DONOR = Donor(
    Packages({"mcp": "2.3.0", "mcpframe": "0.1.0"}, frozenset()), Mock(), (), {}, b"", {}, {}, None, {}
)  # its scripts are not read


def compiled(sources: Sequence[tuple[bytes, str]], *, docstrings: bool) -> list[bytes | str]:
    """A compiler that writes nothing: this Python is not that of bundles."""
    return [b"" for _ in sources]


def checked(folder: Path, server: str = SERVER, dependency: str = "mcpframe", **settings: str) -> CheckedProject:
    own = {"entry": '"server:server"', "allowed_origins": '["https://a.example"]', **settings}
    (folder / "server.py").write_text(server)
    (folder / "pyproject.toml").write_text(
        f'[project]\nname = "new"\ndependencies = ["{dependency}"]\n[tool.mcpframe]\n'
        + "".join(f"{key} = {value}\n" for key, value in own.items())
    )
    return checked_project(folder, DONOR, compiler=compiled)


def test_a_project_and_the_environment_of_its_code(tmp_path: Path) -> None:
    found = checked(tmp_path, f"import threading\n{SERVER}", args='["--fast"]', env='{ LEVEL = "3" }')
    assert list(found.author) == ["server.py"]
    assert found.environment == {"args": ["--fast"], "env": {"LEVEL": "3"}, "world": True}
    assert checked(tmp_path).environment["world"] is False


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"allowed_origins": "[]"}, "no page may embed"),
        ({"kind": '"page"'}, "is a page, not a server"),
        (
            {"npm": '{ left-pad = { version = "1.3.0", integrity = "sha512-' + "A" * 86 + '==", files = ["a.js"] } }'},
            "npm needs a package registry",
        ),
        ({"entry": '"server:missing"'}, "missing"),
        ({"dependency": "numpy"}, "numpy is not in the bundle that lends its packages"),
        ({"lazy": '["pandas"]'}, "pandas is not in the bundle that lends its packages"),
        ({"tool_timeout": "3"}, "tool_timeout needs runs_in"),
    ],
)
def test_what_a_page_cannot_make_a_bundle_of(tmp_path: Path, settings: dict[str, str], told: str) -> None:
    with pytest.raises((ConfigError, BuildError), match=told):
        checked(tmp_path, **settings)
