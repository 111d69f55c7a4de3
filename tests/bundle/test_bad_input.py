"""Failures of `mcpframe build`, as a program: one sentence, status 1, and nothing lost or half-written."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.errors import WriteError
from mcpframe.kit.bundle.assembly.built_manifest import read_manifests
from mcpframe.kit.bundle.output_root import find_current
from mcpframe.kit.bundle.pipeline import build
from tests.bundle.conftest import SERVER, Adder
from tests.bundle.test_build import contents, copied
from tests.support.suites import extended

pytestmark = pytest.mark.usefixtures("one_browser")

PATIENCE = 300.0
BUILD = [sys.executable, "-m", "mcpframe", "build"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(checkout_dir())}


@cache
def may_mount() -> bool:
    """Whether a program may have a file system of its own here: on most Linux machines, and in some containers."""
    command = ["unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=60).returncode == 0
    except OSError:
        return False


@pytest.fixture
def no_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds do not spend their time on a snapshot."""
    monkeypatch.setenv("MCPFRAME_SNAPSHOT", "0")


needs_mounts = pytest.mark.skipif(
    "not may_mount()", reason="programs may have no file system of their own here (unshare --mount)"
)

# The first argument: mount options; the second: a shell command to begin with; then the command. The folder is $out.
_MOUNTED = """
mount -t tmpfs -o "$1" tmpfs "$out" && eval "$2" || exit 99
shift 2
before=$(cd "$out" && find . -type f ! -name "*.gz" ! -name "*.lock" -exec sha256sum {} + | sort)
"$@"; status=$?
after=$(cd "$out" && find . -type f ! -name "*.gz" ! -name "*.lock" -exec sha256sum {} + | sort)
[ "$before" = "$after" ] && echo unchanged || printf "%s\n" "$after"
find "$out" -name ".*.????????" | sed "s/^/left behind: /"
exit $status
"""


def refused(arguments: list[str], *, steps: list[str] | None = None, **variables: str) -> str:
    """Run a program that has to fail with one sentence, and give that.

    Args:
        arguments: The command line.
        steps: The steps that it may print before; None for any.
    """
    done = subprocess.run(
        arguments,
        env={**ENVIRONMENT, "MCPFRAME_SNAPSHOT": "0", **variables},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout == ("unchanged\n" if arguments[0] == "unshare" else "")
    [told] = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert "Traceback" not in done.stderr
    assert steps is None or done.stderr.splitlines() == [*steps, told]
    return told


def in_file_system(out: Path, options: str, first: str, command: list[str], **variables: str) -> str:
    """Run a program that has to fail and to leave a folder as it was, which is a file system of its own for it."""
    out.mkdir()
    unshare = ["unshare", "--map-root-user", "--mount", "sh", "-c", _MOUNTED, "sh", options, first]
    return refused([*unshare, *command], out=str(out), **variables)


@pytest.fixture
def changed(adder: Adder, tmp_path: Path) -> Path:
    """The project of `adder` with another server in it, so that there is something to write."""
    project, _ = copied(adder, tmp_path)
    (project / "server.py").write_text(SERVER.replace("Adds two numbers", "Adds"))
    return project


@needs_mounts
def test_a_full_disk(changed: Path, tmp_path: Path) -> None:
    out = tmp_path / "small"
    told = in_file_system(out, "size=1m", ":", [*BUILD, str(changed), "--out", str(out)])
    assert re.search(r"Cannot write \S+small/\S+, as the disk is full: free some space, or choose another", told)


@needs_mounts
def test_a_full_disk_leaves_the_bundle_that_was_there(adder: Adder, changed: Path, tmp_path: Path) -> None:
    out = tmp_path / "small"
    fill = f'cp -r "{adder.out}/." "$out"; dd if=/dev/zero of="$out/filler" bs=4k 2>/dev/null; true'
    told = in_file_system(out, "size=64m", fill, [*BUILD, str(changed), "--out", str(out)])
    assert "the disk is full: free some space" in told


@needs_mounts
def test_a_full_disk_with_the_cache_on_it(changed: Path, tmp_path: Path) -> None:
    full, out = tmp_path / "full", tmp_path / "new"
    fill = 'dd if=/dev/zero of="$out/filler" bs=4k 2>/dev/null; true'
    command = [*BUILD, str(changed), "--out", str(out)]
    told = in_file_system(full, "size=64k", fill, command, MCPFRAME_CACHE=str(full))
    assert "choose another cache folder with MCPFRAME_CACHE" in told
    assert not out.exists()


@needs_mounts
def test_a_read_only_file_system(changed: Path, tmp_path: Path) -> None:
    out = tmp_path / "out-there"
    told = in_file_system(out, "ro", ":", [*BUILD, str(changed), "--out", str(out)])
    assert "as the file system is read-only: choose another folder" in told


def _forbidden(tmp_path: Path) -> Path:
    folder = tmp_path / "forbidden"
    folder.mkdir()
    folder.chmod(0o555)
    return folder


def _file(tmp_path: Path) -> Path:
    file = tmp_path / "file"
    file.write_text("mine")
    return file


@pytest.mark.parametrize(
    ("place", "said"),
    [
        pytest.param(
            _forbidden,
            "permission is denied",
            marks=pytest.mark.skipif(
                "not hasattr(os, 'geteuid') or os.geteuid() == 0", reason="root may write into any folder"
            ),
        ),
        pytest.param(
            lambda _: Path("/sys/dist"),
            "permission is denied",
            marks=pytest.mark.skipif("not sys.platform.startswith('linux')", reason="only Linux has /sys"),
        ),
    ],
)
def test_a_folder_that_cannot_be_written(
    changed: Path, tmp_path: Path, place: Callable[[Path], Path], said: str
) -> None:
    out = place(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    (changed / "mcpframe.lock").unlink()
    told = refused([*BUILD, str(changed), "--out", str(out)], steps=[])  # before anything is resolved or fetched
    assert f"Cannot write {out}, as {said}: change that, or choose another folder" in told
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("place", [_file, lambda tmp_path: _file(tmp_path) / "dist"], ids=["file", "below"])
def test_a_file_in_place_of_a_folder(changed: Path, tmp_path: Path, place: Callable[[Path], Path]) -> None:
    out = place(tmp_path)
    with pytest.raises(WriteError, match="there is a file where a folder is needed"):
        build(changed, out)
    done = subprocess.run([*BUILD, str(changed), "--out", str(out)], env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 2  # it is known before anything is done
    assert str(tmp_path / "file") in done.stderr
    assert (tmp_path / "file").read_text() == "mine"


KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


@pytest.mark.skipif("sys.platform == 'win32'", reason="Windows has no signals to send to one program")
@pytest.mark.parametrize(
    ("during", "how"),
    [
        extended("Compiling", signal.SIGINT),
        extended("Taking a snapshot", signal.SIGINT),  # `test_nothing_left.py` has it
        ("Writing", KILL),
        extended("Compiling", KILL),
        extended("Taking a snapshot", KILL),
        extended("Writing", signal.SIGINT),
    ],
)
def test_an_interrupted_build_leaves_a_whole_bundle(
    adder: Adder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, during: str, how: signal.Signals
) -> None:
    project, out = copied(adder, tmp_path)
    (project / "server.py").write_text(f"{SERVER}\n# {during} {how.name}\n")  # not compiled before
    stages = ["Fetching", "Compiling", "Importing", "Taking a snapshot", "Writing"]
    if during != "Taking a snapshot":  # which takes most of the time
        monkeypatch.setenv("MCPFRAME_SNAPSHOT", "0")
        stages.remove("Taking a snapshot")
    last = stages[stages.index(during) - 1]  # of what is over
    process = subprocess.Popen(
        [*BUILD, str(project), "--out", str(out)], env=os.environ | ENVIRONMENT, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr
    for line in process.stderr:
        if line.startswith(last):
            process.send_signal(how)
            break
    rest = process.stderr.read()
    process.stderr.close()
    status = process.wait(PATIENCE)
    assert "Traceback" not in rest
    if during != "Writing":  # which may have been over
        assert status == (130 if how is signal.SIGINT else -KILL)
    [manifest] = read_manifests(out).values()
    assert find_current(out, "adder", manifest["inputs"]) is not None
    build(project, out)
    build(project, tmp_path / "fresh")
    assert contents(out) == contents(tmp_path / "fresh")


@pytest.mark.usefixtures("no_snapshot")
def test_two_builds_at_once(adder: Adder, tmp_path: Path) -> None:
    out = tmp_path / "together"
    projects = []
    for number in range(2):
        project = Path(shutil.copytree(adder.project, tmp_path / f"project{number}"))
        (project / "server.py").write_text(SERVER.replace("Adds two numbers", f"Adds, says {number}"))
        projects.append(project)
    commands = [[*BUILD, str(project), "--out", str(out)] for project in projects]
    both = [
        subprocess.Popen(command, env=os.environ | ENVIRONMENT, stderr=subprocess.PIPE, text=True)
        for command in commands
    ]
    for process in both:
        _, told = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, told
    [manifest] = read_manifests(out).values()
    assert find_current(out, "adder", manifest["inputs"]) is not None
    [tool] = manifest["tools"]
    build(projects[int(tool["description"][-2])], tmp_path / "fresh")  # the one that was later
    assert contents(out) == contents(tmp_path / "fresh")
