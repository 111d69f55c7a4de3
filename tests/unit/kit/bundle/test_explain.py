"""The reasons that stop or limit a server: the chain of requirements, and the place in the code."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.packages.explain import Explained, explain
from mcpframe.kit.bundle.packages.lock import Lock, Locked
from mcpframe.kit.bundle.packages.no_wheel import NoWheelFound
from mcpframe.kit.bundle.packages.wheels import wheel_path
from tests.support.wheels import write_wheel

Adding = Callable[..., Locked]


@pytest.fixture
def adding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Adding:
    """Add a wheel to the cache."""
    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path / "cache"))

    def add(name: str, files: Mapping[str, str], *required_by: str, requires: Iterable[str] = ()) -> Locked:
        wheel = write_wheel(tmp_path / "index", name, files, requires=requires)
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        locked = Locked(name, "1.0", wheel.name, digest, "index", required_by)
        wheel_path(locked).parent.mkdir(parents=True)
        shutil.copy(wheel, wheel_path(locked))
        return locked

    return add


@pytest.fixture
def lock(adding: Adding) -> Lock:
    packages = (
        adding("mcp", {"mcp/__init__.py": "import socket"}, "mcpframe", "tool", requires=["uvicorn>=1"]),
        adding("tool", {"tool/__init__.py": "import part"}, "server"),
        adding("part", {"part/__init__.py": "import subprocess\n\nimport lost.inner\n"}, "tool"),
    )
    return Lock("", packages)


def test_what_limits_a_server_has_its_chain_and_its_place(lock: Lock) -> None:
    found = explain(lock)
    assert Explained("part uses other programs", ("tool", "part"), ("part/__init__.py, line 1: subprocess",)) in found
    assert not [item for item in found if item.what.startswith("mcp uses")]
    [left_out] = [item for item in found if "left out" in item.what]
    assert left_out.what.startswith("uvicorn is left out: mcp needs it for HTTP")
    assert left_out.chain == ("mcp", "uvicorn")


def test_an_error_is_traced_to_the_packages_that_it_passes_through(lock: Lock) -> None:
    traceback = (
        'File "/mcpframe/packages/tool/__init__.py", line 1, in <module>\n'
        'File "/mcpframe/packages/part/__init__.py", line 3, in <module>\n'
    )
    error = BuildError(f"It does not start: ModuleNotFoundError: No module named 'lost'\n{traceback}")
    imported, *passed = explain(lock, error)
    assert imported == Explained(
        "part imports lost", ("tool", "part"), ("part/__init__.py, line 3 (when the module is imported)",)
    )
    assert passed == [
        Explained("the error passes through tool", ("tool",), ("tool/__init__.py, line 1",)),
        Explained("the error passes through part", ("tool", "part"), ("part/__init__.py, line 3",)),
    ]


def test_a_package_without_a_wheel_is_explained_without_a_lock() -> None:
    error = NoWheelFound("told", "psutil 7", ("a", "psutil"), ("a.py, line 1",))
    assert explain(None, error) == (Explained("psutil 7 has no wheel that runs in Pyodide", error.chain, error.places),)
    assert explain(None, BuildError("something else")) == ()


def test_a_wheel_that_the_cache_has_lost_explains_nothing(lock: Lock) -> None:
    for package in lock.packages:
        wheel_path(package).unlink()
    assert explain(lock) == ()
