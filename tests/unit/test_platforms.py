"""macOS and Windows: modules import there, no call is missing there, and every clone has the same bytes."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcpframe.kit.base.data import checkout_dir
from tests.support.sources import PACKAGE, files, nodes, parsed

POSIX_ONLY = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "tty"}

_NAMES = {
    "os": re.compile(
        r"kill|killpg|fork|posix_spawn|waitpid|POSIX_SPAWN_\w+|[gs]et(e?[ug]id|pgid|sid)|mkfifo|fch(mod|own|dir)|chown|"
        r"uname|nice|getloadavg|sched_\w+|openpty|setsid|O_(CLOEXEC|NOFOLLOW|DIRECTORY)|statvfs"
    ),
    "signal": re.compile(r"SIG(KILL|HUP|USR1|USR2|ALRM|CHLD|QUIT|STOP|CONT)|alarm|setitimer|pthread_\w+|sigwait\w*"),
    "socket": re.compile(r"AF_UNIX|SO_REUSEPORT"),
    "shlex": re.compile(r"quote|join|split"),
}
_METHODS = re.compile(
    r"add_signal_handler|add_reader|add_writer|connect_(read|write)_pipe|(create|open|start)_unix_\w+|symlink_to|hardlink_to"
)
_ARGUMENTS = re.compile(r"preexec_fn|start_new_session|pass_fds|process_group")
_PLACES = re.compile(r"#!|/(tmp|bin|usr|dev|proc|sys|etc|var|home)(/|$)")

NO_NATIVE = "native messaging is not for Windows, and says so: `check_system`"
GUARDED = {
    ("kit/base/locking.py", "fcntl"): "Windows has msvcrt.locking, beside it",
    ("kit/base/processes.py", "start_new_session"): "only `start_watchdog`, which is not called on Windows",
    ("kit/base/processes.py", "/bin/sh"): "only `start_watchdog`, and below `os.name == 'posix'`",
    ("kit/base/processes.py", "process_group"): "None on Windows",
    ("kit/base/processes.py", "os.killpg"): "below `os.name == 'posix'`",
    ("kit/base/processes.py", "signal.SIGKILL"): "below `os.name == 'posix'`",
    ("kit/base/processes.py", "signal.pthread_kill"): "below `hasattr`",
    ("kit/base/processes.py", "shlex.join"): "Windows has subprocess.list2cmdline, beside it",
    ("kit/base/signals.py", "add_signal_handler"): "event loops of Windows refuse it, which is expected",
    ("kit/browser/chromium.py", "os.geteuid"): "below `hasattr`",
    ("kit/browser/devtools/launch.py", "fcntl"): "only with pipes: `_HAS_PIPES`",
    ("kit/browser/devtools/launch.py", "os.POSIX_SPAWN_DUP2"): "only with pipes: `_HAS_PIPES`",
    ("kit/browser/devtools/launch.py", "os.posix_spawn"): "only with pipes: `_HAS_PIPES`",
    ("kit/browser/devtools/launch.py", "os.waitpid"): "only with pipes: `_HAS_PIPES`",
    ("kit/browser/devtools/launch.py", "os.killpg"): "only with pipes: `_HAS_PIPES`",
    ("kit/browser/devtools/launch.py", "signal.SIGKILL"): "only with pipes: `_HAS_PIPES`",
    ("kit/browser/devtools/launch.py", "os.kill"): "with SIGTERM, by which Windows ends a process",
    ("kit/browser/devtools/launch.py", "start_new_session"): "without effect on Windows",
    ("kit/browser/devtools/protocol.py", "connect_read_pipe"): "only with pipes: `_HAS_PIPES` of launch.py",
    ("kit/browser/devtools/protocol.py", "connect_write_pipe"): "only with pipes: `_HAS_PIPES` of launch.py",
    ("kit/bundle/packages/indexes.py", "/etc/xdg"): "uv's own places, beside those on Windows",
    ("kit/bundle/packages/indexes.py", "/etc"): "uv's own places, beside those on Windows",
    ("kit/bundle/packages/inert_python.py", "#!"): "Windows gets a sitecustomize.py",
    (
        "kit/bundle/packages/inert_python.py",
        "shlex.quote",
    ): "Windows gets a sitecustomize.py",
    ("kit/hub/native/connect.py", "open_unix_connection"): NO_NATIVE,
    ("kit/hub/native/manifests.py", "#!"): NO_NATIVE,
    ("kit/hub/native/manifests.py", "shlex.join"): NO_NATIVE,
    ("kit/hub/native/meeting_place.py", "os.fchdir"): NO_NATIVE,
    ("kit/hub/native/meeting_place.py", "socket.AF_UNIX"): NO_NATIVE,
    ("kit/hub/native/run.py", "open_unix_connection"): NO_NATIVE,
    ("kit/publish/listings/install_page.py", "shlex.join"): "a text for visitors of any system, as in `links`",
    ("kit/publish/listings/links.py", "shlex.join"): "a text for visitors of any system, of words that need no quotes",
    ("kit/publish/targets/deployment.py", "shlex.join"): "for the host, which builds on Linux",
    ("kit/publish/targets/s3.py", "shlex.quote"): "a script for sh, as its name says: on Windows in WSL",
    ("kit/publish/targets/s3.py", "#!"): "a script for sh, as its name says: on Windows in WSL",
    ("kit/plain_python/workers.py", "socket.AF_UNIX"): "only with several processes, which Windows gets refused",
}
"""Each thing that only POSIX has, with the reason for which it may stay, by file."""


def posix_only(path: Path) -> Iterator[str]:
    """Return what a file uses that only POSIX has."""
    for node in nodes(path):
        if isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if owner in _NAMES and _NAMES[owner].fullmatch(node.attr):
                yield f"{owner}.{node.attr}"
            elif _METHODS.fullmatch(node.attr):
                yield node.attr
        elif isinstance(node, ast.keyword) and node.arg and _ARGUMENTS.fullmatch(node.arg):
            yield node.arg
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _PLACES.match(node.value):
            yield "#!" if node.value.startswith("#!") else node.value
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in POSIX_ONLY)
        elif isinstance(node, ast.ImportFrom) and (node.module or "") in {*POSIX_ONLY, *_NAMES}:
            yield from (f"{node.module}.{alias.name}" for alias in node.names if node.module != "signal")


def test_each_call_that_only_posix_has_is_guarded_for_a_reason() -> None:
    found = {
        (path.relative_to(PACKAGE).as_posix(), what)
        for folder in ("kit", "views", "hub")
        for path in files(PACKAGE / folder)
        if "in_pyodide" not in path.parts  # its jobs run in Pyodide
        for what in posix_only(path)
    }
    assert not found - set(GUARDED), "guard it for Windows, and add it to GUARDED with the reason"
    assert not set(GUARDED) - found, "it is gone: take it out of GUARDED"


def test_texts_are_written_with_the_same_bytes_everywhere() -> None:
    """Windows has another default encoding, and writes `\\r\\n` unless `newline` says otherwise."""
    wrong: list[tuple[Path, int]] = []
    for path in (file for folder in ("kit", "views", "hub") for file in files(PACKAGE / folder)):
        for node in nodes(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                given = {keyword.arg for keyword in node.keywords}
                if node.func.attr == "write_text" and (
                    "newline" not in given or not (len(node.args) > 1 or "encoding" in given)
                ):
                    wrong.append((path, node.lineno))
                if node.func.attr == "read_text" and not (node.args or "encoding" in given):
                    wrong.append((path, node.lineno))
    assert not wrong


def test_windows_and_macos_can_have_every_file() -> None:
    """No name that Windows forbids, no two that differ only in case, and none too long below a folder of packages."""
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=checkout_dir(), capture_output=True, text=True, check=True, timeout=60
    ).stdout
    paths = listing.rstrip("\0").split("\0")
    forbidden = re.compile(r'[<>:"\\|?*\x00-\x1f]|[. ](/|$)|(^|/)(con|prn|aux|nul|com\d|lpt\d)(\.|/|$)', re.IGNORECASE)
    assert not [path for path in paths if forbidden.search(path)]
    assert not [name for name, count in Counter(path.casefold() for path in paths).items() if count > 1]
    assert not [path for path in paths if len(path) > 140]  # of 260, with some hundred for the folder


@pytest.mark.parametrize("folder", ["kit", "views"])
def test_no_module_imports_at_its_start_what_windows_lacks(folder: str) -> None:
    wrong: list[tuple[Path, str]] = []
    for path in files(PACKAGE / folder):
        for node in parsed(path).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            wrong += [(path, name) for name in names if name in POSIX_ONLY]
    assert not wrong


def test_a_clone_has_the_same_line_ends_everywhere() -> None:
    listing = subprocess.run(
        ["git", "ls-files", "--eol"], cwd=checkout_dir(), capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert not [line for line in listing.splitlines() if not line.startswith(("i/lf", "i/-text", "i/none"))]
    assert not [line for line in listing.splitlines() if line.startswith("i/lf") and "eol=lf" not in line]
