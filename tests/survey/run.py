"""Tries packages one after the other, each in a process of its own with a deadline, and keeps the outcomes."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.errors import ConfigError, ToolFailed, ToolTimeout
from mcpframe.kit.base.processes import run_tool
from tests.survey.outcomes import Outcome, read_outcome, stage_of
from tests.survey.packages import Package

DEADLINE = 600.0
"""Seconds for one package."""

Attempt = Callable[[Package, Path], Outcome]
"""Tries a package in a folder."""


def survey(
    packages: Iterable[Package],
    folder: Path,
    *,
    names: Iterable[str] = (),
    again: bool = False,
    attempt: Attempt,
    tell: Callable[[str], None] = lambda _: None,
) -> list[Outcome]:
    """Try packages, and return an outcome for each: a kept one, if it is of the same trial.

    Args:
        packages: The packages.
        folder: Where outcomes are kept.
        names: The packages to try now, also if they have an outcome; by default those without one.
        again: Whether those are tried anew that failed.
        attempt: Tries one; see `in_process`.
        tell: Called with a line for each package that was tried.

    Raises:
        ConfigError: A name is not in the list.
    """
    packages, names = list(packages), set(names)
    if unknown := names - {package.name for package in packages}:
        raise ConfigError(f"Not in the list: {', '.join(sorted(unknown))}.")
    folder.mkdir(parents=True, exist_ok=True)
    outcomes = []
    for package in packages:
        kept = read_outcome(folder, package.name)
        if kept is not None and kept.digest != package.digest:
            kept = None
        wanted = package.name in names if names else kept is None or (again and bool(kept.stage))
        if wanted:
            kept = attempt(package, folder)
            kept.keep(folder)
            tell(f"{kept.name}: {f'{kept.stage}: {kept.why}' if kept.stage else 'answers'} ({kept.seconds:.0f} s)")
        if kept is not None:
            outcomes.append(kept)
    return outcomes


def in_process(listed: Path, *, deadline: float = DEADLINE) -> Attempt:
    """Return what tries a package of a list in a process of its own, which ends at a deadline with all it started."""

    def attempt(package: Package, folder: Path) -> Outcome:
        place = folder / package.name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        (folder / f"{package.name}.json").unlink(missing_ok=True)
        command = [sys.executable, "-m", "tests.survey.trial", str(listed.absolute()), package.name, str(place)]
        message = "it ended without an outcome"
        try:
            run_tool(command, package.name, cwd=checkout_dir(), timeout=deadline)
        except ToolTimeout:
            message = f"nothing came of it within {deadline:g} s"
        except ToolFailed as error:
            message = error.output[-2000:] or str(error)
        shutil.rmtree(place / "dist", ignore_errors=True)
        found = read_outcome(place, package.name)
        if found is not None:
            return found
        step = (place / "step").read_text() if (place / "step").is_file() else ""
        message = f"{step}: {message}".removeprefix(": ")
        return Outcome(package.name, package.digest, seconds=deadline, stage=stage_of(step, message), message=message)

    return attempt
