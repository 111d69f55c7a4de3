"""The packages as their users meet them: installed in empty folders, without anything of the clone, and used."""

from __future__ import annotations

import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from uv import find_uv_bin

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.errors import KitError
from mcpframe.kit.base.node import find_node, install_locked
from mcpframe.kit.base.processes import run_tool
from mcpframe.kit.base.scratch import scratch
from tests.release.packages import Packages

_FOREIGN = ("PYTHON", "PYTEST", "VIRTUAL_ENV", "CONDA", "NODE_")
"""The environment variables that could lead to packages of the clone."""
_WINDOWS = os.name == "nt"
_PYTHON_EXAMPLE = re.compile(r"```python\n(.*?)```", re.DOTALL)
_TYPESCRIPT = {"target": "es2022", "strict": True, "skipLibCheck": True, "noEmit": True, "types": []}
_TYPED = 'import * as module{number} from "@mcpframe/host{path}";\nvoid module{number};\n'


def use_wheel(packages: Packages) -> None:
    """Install the wheel in an empty environment, and walk the README's path of an author there.

    The dependencies are those of the lock: a release of somebody else's does not fail a change here.

    Raises:
        KitError: A step failed or answered something else; the message names it.
    """
    with scratch("release") as folder:
        venv, work = folder / "venv", folder / "work"
        work.mkdir()
        python = venv / ("Scripts/python.exe" if _WINDOWS else "bin/python")
        _run(work, find_uv_bin(), "venv", "--quiet", "--python", sys.executable, venv)
        locked = ["--constraint", checkout_dir() / "requirements" / "dev.txt"]
        _run(work, find_uv_bin(), "pip", "install", "--python", python, *locked, f"{packages.wheel}[node,test]")
        place = _run(work, python, "-P", "-c", "import mcpframe; print(mcpframe.__file__)").strip()
        if not Path(place).resolve().is_relative_to(venv.resolve()):
            raise KitError(f"The installed mcpframe was imported from {place}, not from the wheel.")
        _walk(python.with_name("mcpframe.exe" if _WINDOWS else "mcpframe"), work)


def _walk(mcpframe: Path, work: Path) -> None:
    with ThreadPoolExecutor() as pool:  # each waits for a browser half of its time
        for walk in [pool.submit(each, mcpframe, work) for each in (_walk_server, _walk_view, _walk_file)]:
            walk.result()


def _walk_server(mcpframe: Path, work: Path) -> None:
    project = work / "adder"
    _run(work, mcpframe, "new", project.name)
    _run(project, mcpframe, "test", "-q", "-W", "error")
    _run(project, mcpframe, "build")
    _expect("3", _run(project, mcpframe, "call", Path("dist", project.name), "add", "a=1", "b=2"))


def _walk_view(mcpframe: Path, work: Path) -> None:
    _run(work, mcpframe, "new", "--view", "dice")
    _run(work / "dice", mcpframe, "test", "-q", "-W", "error")


def _walk_file(mcpframe: Path, work: Path) -> None:
    [source] = _PYTHON_EXAMPLE.findall((checkout_dir() / "README.md").read_text("utf-8"))
    (work / "single.py").write_text(source, "utf-8")  # without a lock, so that its packages are resolved
    _expect("3", _run(work, mcpframe, "call", "single.py", "add", "a=1", "b=2"))


def use_host(packages: Packages) -> None:
    """Install the npm package in an empty Node.js project; import each of its modules, and check its types.

    Raises:
        KitError: npm, Node.js or TypeScript refuses it.
    """
    modules = install_locked(checkout_dir())
    node = find_node()
    with scratch("release") as folder:
        (folder / "package.json").write_text('{"private": true, "type": "module"}')
        options = ("--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps")
        node.npm("install", *options, str(packages.host), cwd=folder)
        for name in ("@modelcontextprotocol", "@types", "zod", "undici-types"):
            if (modules / name).exists():
                (folder / "node_modules" / name).symlink_to(modules / name, target_is_directory=True)
        package = folder / "node_modules" / "@mcpframe" / "host"
        exports = json.loads((package / "package.json").read_text("utf-8"))["exports"]
        paths = [path.removeprefix(".") for path, export in exports.items() if isinstance(export, dict)]
        for script in sorted(package.glob("*.js")):
            node.run("--check", str(script))
        for path in paths:
            node.run("--input-type=module", "--eval", f"await import('@mcpframe/host{path}')", cwd=folder)
        typed = "".join(_TYPED.format(number=number, path=path) for number, path in enumerate(paths))
        (folder / "use.ts").write_text(typed, "utf-8")
        for module, resolution in (("nodenext", "nodenext"), ("esnext", "bundler")):
            options = {"module": module, "moduleResolution": resolution, **_TYPESCRIPT}
            (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "files": ["use.ts"]}))
            node.run(str(modules / "typescript" / "lib" / "tsc.js"), cwd=folder, timeout=300)


def own_environment() -> dict[str, str]:
    """Return this process's environment without what could lead to packages of the clone."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}


def _run(cwd: Path, *command: str | Path) -> str:
    words = [str(word) for word in command]
    return run_tool(words, f"{Path(words[0]).stem} {words[1]}", cwd=cwd, timeout=300, environment=own_environment())


def _expect(answer: str, printed: str) -> None:
    if printed.strip() != answer:
        raise KitError(f"`mcpframe call` printed {printed.strip()!r} with the wheel, not {answer!r}.")
