"""`build.py weight [COMMIT]`: lines of code by room, and what has changed since a commit."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path, PurePosixPath

from mcpframe.kit.base.errors import KitError

ROOT = Path(__file__).parents[2]
CODE = (".py", ".pyi", ".js", ".mjs", ".ts", ".css", ".html")
SOURCES = {"product": ("mcpframe", "static", "templates"), "tests": ("tests",)}


def count_lines(commit: str = "", root: Path = ROOT) -> Counter[str]:
    """Return the lines of each file of code, at a commit or as they are now; generated files do not count."""
    tops = [top for each in SOURCES.values() for top in each]
    paths = [f":(glob){top}/**/*{suffix}" for top in tops for suffix in CODE]
    searched = ["", commit] if commit else ["--untracked", ""]
    listed = _git(root, "grep", "-Ic", *searched, "--", *paths, statuses=(0, 1))
    rows = (line.rpartition(":") for line in listed.splitlines())
    lines = {path.removeprefix(f"{commit}:"): int(number) for path, _, number in rows}
    attributes = _git(root, "check-attr", "linguist-generated", "--stdin", standard_input="\n".join(lines))
    generated = {row.split(": ")[0] for row in attributes.splitlines() if row.endswith(": set")}
    return Counter({path: number for path, number in lines.items() if path not in generated})


def room(path: str) -> str:
    """Return the folder that a file counts for: three levels of the package, two elsewhere."""
    parts = PurePosixPath(path).parent.parts
    return "/".join(parts[: 3 if parts[0] == "mcpframe" else 2])


def table(now: Counter[str], before: Counter[str] | None = None) -> list[str]:
    """Return a line for each room, under the sum of its source: lines now, and how many more than before."""
    shown = []
    for source, tops in SOURCES.items():
        rows: dict[str, list[int]] = {source: [0, 0]}
        for path in sorted({*now, *(before or ())}):
            if path.split("/")[0] in tops:
                for name in (source, room(path)):
                    row = rows.setdefault(name, [0, 0])
                    row[0] += now[path]
                    row[1] += now[path] - (now if before is None else before)[path]
        width = max(map(len, rows))
        for name, (lines, more) in rows.items():
            change = f"{more:+8}" if more else ""
            shown.append(f"{name:{width}}{lines:8}{change}")
    return shown


def main(arguments: list[str]) -> int:
    if len(arguments) > 1 or any(each.startswith("-") for each in arguments):
        print("build.py: weight takes at most a commit: python3 build.py weight [COMMIT]", file=sys.stderr)
        return 2
    commit = ""
    if arguments:
        commit = _git(ROOT, "rev-parse", "--quiet", "--verify", f"{arguments[0]}^{{commit}}", statuses=(0, 1)).strip()
        if not commit:
            raise KitError(f"There is no commit {arguments[0]!r} here: see `git log --oneline`.")
    print(*table(count_lines(), count_lines(commit) if commit else None), sep="\n")
    return 0


def _git(root: Path, *arguments: str, statuses: tuple[int, ...] = (0,), standard_input: str = "") -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=root, input=standard_input, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode not in statuses:
        raise KitError(f"git {arguments[0]} failed: {done.stderr.strip()}")
    return done.stdout
