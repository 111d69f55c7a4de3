"""The front door of the repository.

    python3 build.py                     build every server in templates/ into dist/
    python3 build.py demo [--once]       serve one with a host page and the inspector, and call it in a real browser
    python3 build.py test [ARGUMENTS]    run the tests; arguments go to pytest. --quick: those without a browser;
                                         --all: the extended ones too. --repeat N --load: the named tests N times on
                                         a busy machine, with a count of the failures. --rounds N: whole runs
    python3 build.py fixtures            build the bundles that tests serve, once; `test` does it first
    python3 build.py check               lint, format and type checks, of Python and JavaScript
    python3 build.py bench [ARGUMENTS]   run the benchmark
    python3 build.py conformance [ARGS]  run the official conformance suite against the bridge
    python3 build.py soak [ARGUMENTS]    call the bridge, the hub and framed servers by the thousand
    python3 build.py survey [NAMES]      build public packages by their names, and call a tool of each
    python3 build.py docs [--check]      write the generated parts of docs/ (or only compare them), and build its site
    python3 build.py site                build the public site into dist/site: front page, playground, gallery, docs
    python3 build.py screenshots [NAMES] renew the documentation's pictures
    python3 build.py scripts             bundle the scripts of static/page, static/app and static/host, after a change
    python3 build.py host                pack the npm package @mcpframe/host into dist/
    python3 build.py release [--final]   build the wheel, the sdist, the npm package and the extension into dist/, check
                                         them, and use them as their users do; publishes nothing
    python3 build.py lock                renew the lock files
    python3 build.py weight [COMMIT]     print the lines of code of each room, and what has changed since a commit

It needs only Python 3.11 or newer: the first run creates the environment .venv from the locks, and later runs use it.
Until then only the standard library is used.
"""

from __future__ import annotations

import argparse
import errno
import hashlib
import json
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
_MOST_TEST_PROCESSES = 4  # each has a browser of its own
_WITHOUT_SNAPSHOT = [
    f"tests/browser/test_{name}.py" for name in ("features", "author", "contract_bundle", "boot_capability")
]
_COMPILED = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(ROOT / ".cache" / "pycache")}
"""Hundreds of programs that tests start import the same modules: compiled once, even where the shell forbids it."""
LOCKS = [ROOT / "requirements" / "bootstrap.txt", ROOT / "requirements" / "dev.txt", ROOT / "pyproject.toml"]

if sys.version_info < (3, 11):  # noqa: UP036  (that is the point)
    sys.exit(f"mcpframe needs Python 3.11 or newer; this is {sys.version.split()[0]}.")

sys.path.insert(0, str(ROOT))

from mcpframe.kit.base.errors import DownloadError, KitError, ToolFailed  # noqa: E402
from mcpframe.kit.base.processes import run_tool  # noqa: E402
from mcpframe.kit.base.progress import step  # noqa: E402


def main(arguments: Sequence[str]) -> int:
    """Run one command and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="build.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", metavar="COMMAND")
    demo_options = verbs.add_parser("demo", help="call a framed server in a real browser")
    demo_options.add_argument("--once", action="store_true", help="exit after the answer; status 0 only if it is right")
    demo_options.add_argument("--port", type=int, default=0, help="port of the server's origin (a free one)")
    demo_options.add_argument("--page-port", type=int, default=0, help="port of the host page's origin (a free one)")
    verbs.add_parser("build", help="build templates/ into dist/ (the default)")
    verbs.add_parser("check", help="lint and type checks")
    docs_options = verbs.add_parser("docs", help="the documentation's generated parts, and its site in site/")
    docs_options.add_argument("--check", action="store_true", help="only complain where a generated part is stale")
    verbs.add_parser("scripts", help="bundle the scripts of static/page, static/app and static/host, after a change")
    verbs.add_parser("host", help="pack the npm package @mcpframe/host into dist/")
    verbs.add_parser("fixtures", help="build the bundles that tests serve, once")
    verbs.add_parser("lock", help="renew the lock files")
    # All arguments after these, options included, go to the program that they run.
    verbs.add_parser("site", help="the public site in dist/site: front page, playground, gallery, docs", add_help=False)
    verbs.add_parser("test", help="run the tests", add_help=False)
    verbs.add_parser("bench", help="run the benchmark", add_help=False)
    verbs.add_parser("conformance", help="run the official conformance suite against the bridge", add_help=False)
    verbs.add_parser("soak", help="call the bridge, the hub and framed servers by the thousand", add_help=False)
    verbs.add_parser("survey", help="build public packages by their names, and call a tool of each", add_help=False)
    verbs.add_parser("screenshots", help="renew the documentation's pictures, in docs/images/", add_help=False)
    verbs.add_parser("release", help="build and check the packages of a release", add_help=False)
    verbs.add_parser("profile", help="profile which WebAssembly functions serving runs", add_help=False)
    verbs.add_parser("weight", help="lines of code by room, and what has changed since a commit", add_help=False)
    options, rest = parser.parse_known_args(arguments)
    passing = ("site", "test", "bench", "conformance", "soak", "survey", "screenshots", "release", "profile", "weight")
    if rest and options.verb not in passing:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    os.environ.update(_COMPILED)
    try:
        ensure_environment()
        if Path(sys.prefix).resolve() != VENV.resolve():
            return go_on_inside(arguments)
        if options.verb == "demo":
            demo(options)
        elif options.verb == "test":
            return test(rest)
        elif options.verb == "fixtures":
            return fixtures(set_up())
        elif options.verb == "bench":
            return bench(rest)
        elif options.verb == "conformance":
            return conformance(rest)
        elif options.verb == "soak":
            return soak(rest)
        elif options.verb == "survey":
            return survey(rest)
        elif options.verb == "release":
            return release(rest)
        elif options.verb == "profile":
            return subprocess.call([sys.executable, "-m", "tests.wasm_profile", *rest], cwd=ROOT, env=set_up())
        elif options.verb == "weight":
            from tests.support import weight

            return weight.main(rest)
        elif options.verb == "check":
            return check()
        elif options.verb == "screenshots":
            return subprocess.call([sys.executable, "-m", "docs.generate.screenshots", *rest], cwd=ROOT, env=set_up())
        elif options.verb == "docs":
            return docs(check=options.check)
        elif options.verb == "site":
            return subprocess.call([sys.executable, "-m", "docs.generate.public_site", *rest], cwd=ROOT, env=set_up())
        elif options.verb == "lock":
            lock()
        elif options.verb == "scripts":
            from mcpframe.kit.base.node import install_locked
            from tests.release.host_package import write_host_scripts
            from tests.release.page_script import write_page_scripts, write_view_module

            modules = install_locked(ROOT, progress=step)
            for path in (*write_page_scripts(modules), write_view_module(modules), *write_host_scripts(modules)):
                print(path.relative_to(ROOT))
        elif options.verb == "host":
            from mcpframe.kit.base.node import install_locked
            from tests.release.host_package import pack_host_package

            print(pack_host_package(ROOT / "dist", install_locked(ROOT, progress=step)).relative_to(ROOT))
        else:
            build()
    except KitError as error:
        print(f"build.py: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        print("build.py: The disk is full: free some space and run this again.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def ensure_environment() -> None:
    """Create .venv, or update it to the locks, unless its stamp says that it is up to date."""
    owner = VENV.resolve().parent
    if owner != VENV.parent.resolve() and (owner / "build.py").is_file():  # its packages are linked to that clone
        raise KitError(f"{VENV} is a link to the environment of {owner}: remove the link, and run this again.")
    stamp = VENV / "mcpframe-locks"
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in LOCKS)).hexdigest()
    if VENV_PYTHON.exists() and stamp.is_file() and stamp.read_text() == digest:
        return
    new = not VENV_PYTHON.exists()
    stamp.unlink(missing_ok=True)
    remedy = "install Python's venv module (Debian's python3-venv)"
    try:
        if new:
            with step("Making the environment .venv"):
                run_tool([sys.executable, "-m", "venv", "--clear", str(VENV)], "python -m venv")
        remedy = ""
        with step("Installing the locked packages"):
            hashed = ["--require-hashes", "-r"]
            pip = [str(VENV_PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--retries", "2", "--quiet"]
            run_tool([*pip, *hashed, str(LOCKS[0])], "pip")
            uv = [str(VENV_PYTHON), "-m", "uv", "pip", "install", "--quiet", "--python", str(VENV_PYTHON)]
            run_tool([*uv, *hashed, str(LOCKS[1])], "uv", timeout=1800)
            run_tool([*uv, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)], "uv")
        stamp.write_text(digest)
    except BaseException as error:
        full = shutil.disk_usage(ROOT).free < 20_000_000  # the failed program does not always report it
        if new:
            shutil.rmtree(VENV, ignore_errors=True)
        if isinstance(error, ToolFailed):
            reason = str(error).rstrip(".")
            advice = "free some disk space" if full else remedy or error.remedy
            raise KitError(f"The environment .venv could not be made ({reason}): {advice} and run it again.") from error
        raise


def go_on_inside(arguments: Sequence[str]) -> int:
    """Run this script again with the environment's Python."""
    command = [str(VENV_PYTHON), str(ROOT / "build.py"), *arguments]
    if os.name != "nt":  # exec there returns to the shell at once
        os.execv(command[0], command)  # noqa: S606
    return subprocess.call(command)


def set_up() -> dict[str, str]:
    """Install the tests' requirements besides Python packages; return the environment variables for them."""
    from mcpframe.kit.base.node import install_locked
    from mcpframe.kit.browser.chromium import ensure_chromium
    from mcpframe.kit.bundle.pyodide.runtime import ensure_runtime

    ensure_runtime(progress=step)
    chromium = ensure_chromium(install=True, progress=step)
    install_locked(ROOT, progress=step)
    return {**os.environ, "MCPFRAME_CHROMIUM": str(chromium)}


def build() -> None:
    """Build every template into dist/."""
    from mcpframe.kit.base.data import templates_dir
    from mcpframe.kit.bundle.pipeline import build as build_bundle
    from mcpframe.kit.bundle.pyodide.packages import CDN
    from mcpframe.kit.bundle.snapshot.camera import camera

    with camera(reused=True) as taking:
        for project in sorted(path.parent for path in templates_dir().glob("*/pyproject.toml")):
            try:
                built = build_bundle(project, ROOT / "dist", progress=step, taking=taking)
            except DownloadError as error:
                if CDN not in str(error):
                    raise
                print(f"{project.name}: left out: {error}", file=sys.stderr)  # the only one with native packages
                continue
            print(f"{built.folder.relative_to(ROOT)}: {'unchanged' if built.unchanged else 'built'}")
            for warning in built.warnings:
                print(f"{project.name}: {warning}", file=sys.stderr)


def demo(options: argparse.Namespace) -> None:
    from mcpframe.kit.dev.demo import run_demo

    run_demo(once=options.once, port=options.port, page_port=options.page_port, progress=step)


def test(arguments: Sequence[str]) -> int:
    """Run pytest; without arguments for pytest in several processes, and the tests of one file in one of them.

    Files are scheduled in the order of tests/conftest.py, the longest first. `--all` runs the tests of a
    server's page once more without a snapshot. `--rounds N` makes N runs, each in several processes.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=1)
    options, arguments = parser.parse_known_args(arguments)
    suites = [each for each in arguments if each in ("--quick", "--all")]
    arguments = [each for each in arguments if each not in suites]
    quick, everything = "--quick" in suites, "--all" in suites and not arguments
    environment = set_up()
    if not (arguments or quick) and (status := fixtures(environment)):
        return status
    command = [sys.executable, "-m", "pytest", *suites]
    # One more than processors, as a quarter of the time is spent on waiting; with more, time limits are too short.
    processes = str(min((os.cpu_count() or 1) + 1, _MOST_TEST_PROCESSES))
    several = ["-n", processes, "--dist", "loadfile", "--no-loadscope-reorder"]
    chosen = arguments or (["tests/unit"] if quick else [])
    if not arguments or options.rounds > 1:
        chosen = [*several, *chosen]
    statuses = []
    for number in range(1, options.rounds + 1):
        statuses.append(subprocess.call([*command, *chosen], cwd=ROOT, env=environment))
        if options.rounds > 1:
            failed = len(statuses) - statuses.count(0)
            print(f"round {number} of {options.rounds}: {failed} failed", flush=True)
    status = next((each for each in statuses if each), 0)
    if everything:
        without = {**environment, "MCPFRAME_TEST_SNAPSHOTS": "0"}
        status = subprocess.call([*command, *several, *_WITHOUT_SNAPSHOT], cwd=ROOT, env=without) or status
    return status


def fixtures(environment: dict[str, str]) -> int:
    """Build the bundles that tests serve, unless they exist."""
    return subprocess.call([sys.executable, "-m", "tests.support.built"], cwd=ROOT, env=environment)


def bench(arguments: Sequence[str]) -> int:
    return subprocess.call([sys.executable, "-m", "tests.benchmarks", *arguments], cwd=ROOT, env=set_up())


def conformance(arguments: Sequence[str]) -> int:
    return subprocess.call([sys.executable, "-m", "tests.conformance", *arguments], cwd=ROOT, env=set_up())


def soak(arguments: Sequence[str]) -> int:
    return subprocess.call([sys.executable, "-m", "tests.soak", *arguments], cwd=ROOT, env=set_up())


def survey(arguments: Sequence[str]) -> int:
    return subprocess.call([sys.executable, "-m", "tests.survey", *arguments], cwd=ROOT, env=set_up())


def release(arguments: Sequence[str]) -> int:
    return subprocess.call([sys.executable, "-m", "tests.release", *arguments], cwd=ROOT, env=set_up())


def check() -> int:
    """Run every check, even after one has failed; return 1 if any has."""
    from mcpframe.kit.base.node import find_node, install_locked
    from mcpframe.kit.bundle.assembly.page_scripts import inbox_script, loader_script

    commands = (["ruff", "check"], ["ruff", "format", "--check"], ["mypy"])
    statuses = [subprocess.call([sys.executable, "-m", *command], cwd=ROOT) for command in commands]
    node, modules = str(find_node().executable), install_locked(ROOT, progress=step)
    scripts = (["@biomejs/biome/bin/biome", "check"], ["typescript/lib/tsc.js", "--project", str(ROOT)])
    statuses += [subprocess.call([node, str(modules / script), *more], cwd=ROOT) for script, *more in scripts]
    inbox_script()
    loader_script()  # raises if it does not fit its sources
    return int(any(statuses))


def docs(*, check: bool) -> int:
    """Update the generated parts of docs/, or only compare them; then build the site."""
    return subprocess.call([sys.executable, "-m", "docs.generate", *(["--check"] if check else [])], cwd=ROOT)


def lock() -> None:
    """Pin the newest versions that the ranges allow, with hashes and without naming an index."""
    from mcpframe.kit.base.node import find_node

    compiling = [
        sys.executable,
        "-m",
        "uv",
        "pip",
        "compile",
        "--quiet",
        "--upgrade",
        "--universal",
        "--python-version",
        "3.11",
    ]
    compiling += ["--generate-hashes", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
    compiling += ["--custom-compile-command", "python3 build.py lock"]
    compiling += ["--unsafe-package", "pip", "--no-emit-package", "pip"]  # an environment keeps its Python's own
    extras = [word for name in ("test", "node", "server", "public", "metrics") for word in ("--extra", name)]
    for sources, target in (
        (["requirements/bootstrap.in"], "requirements/bootstrap.txt"),
        (["pyproject.toml", *extras, "requirements/dev.in"], "requirements/dev.txt"),
        *(([str(path)], str(path.with_suffix(".txt"))) for path in sorted(Path("requirements/sdks").glob("*.in"))),
    ):
        with step(f"Locking {target}"):
            run_tool([*compiling, *sources, "--output-file", target], "uv", cwd=ROOT)
    for folder in (ROOT, ROOT / "tests" / "conformance", ROOT / "tests" / "release"):
        path = folder / "package-lock.json"
        with step(f"Locking {path.relative_to(ROOT)}"):
            options = ["--package-lock-only", "--omit-lockfile-registry-resolved", "--ignore-scripts", "--no-audit"]
            find_node().npm("install", *options, cwd=folder)
        content = json.loads(path.read_text("utf-8"))
        for package in content["packages"].values():
            package.pop("funding", None)  # irrelevant addresses
        path.write_text(json.dumps(content, indent=2) + "\n", "utf-8")


def other_build() -> int:
    """Run the packaging tool `build`: in this folder, `python -m build` finds this file in its place."""
    sys.path[:] = [path for path in sys.path if Path(path).resolve() != ROOT]
    try:
        runpy.run_module("build", run_name="__main__", alter_sys=True)
    except ImportError as error:
        print(f"build.py: There is no package 'build' ({error}): install it, or run python3 build.py.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(other_build() if globals().get("__spec__") else main(sys.argv[1:]))
