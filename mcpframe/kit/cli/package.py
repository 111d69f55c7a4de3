"""`mcpframe build --package`: the project of a public package, and the limits found in its code."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mcpframe.kit.cli.common_options import words_of
from mcpframe.kit.cli.output import err as _err
from mcpframe.kit.cli.output import escape
from mcpframe.kit.cli.output import out as _out

FOUND = "found"
"""The value of an option that stands for what the package's code has."""

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from mcpframe.kit.base.errors import BuildError
    from mcpframe.kit.base.progress import Progress
    from mcpframe.kit.bundle.code.code_limits import Outlook
    from mcpframe.kit.bundle.packages.explain import Explained


def make_project(
    package: str,
    folder: Path | None,
    args: str | None,
    env: Sequence[str],
    *,
    origins: Sequence[str] = (),
    hosts: Sequence[str] = (),
    persist: Sequence[str] = (),
    leave_out: Sequence[str] = (),
    ask: Sequence[str] = (),
    build_sdists: bool = False,
    upgrade: bool = False,
    progress: Progress,
) -> Path:
    """Create the project of a package from the command line's options, and return its folder.

    Args:
        hosts: Hosts that it may reach; `FOUND` for those in its code.
        ask: Variables that its visitor enters; `FOUND` for those in its code.
        build_sdists: Whether packages that have only sources may be built.
        upgrade: Whether to resolve its requirements anew, if its code has to be read.
        progress: Reports long steps.
    """
    from mcpframe.kit.project.packaged import PackageOptions, package_project

    variables: dict[str, str] = {}
    for item in env:
        name, equals, value = item.partition("=")
        if not name or not equals:
            raise typer.BadParameter(f"{item!r} is not a variable: write NAME=VALUE.", param_hint="--env")
        variables[name] = value
    given = PackageOptions(
        words_of(args or "", "--args"),
        variables,
        origins,
        persist,
        _sources([host for host in hosts if host != FOUND]),
        leave_out,
        [name for name in ask if name != FOUND],
        build_sdists,
    )
    folder = package_project(package, folder, given)
    if FOUND in hosts or FOUND in ask:
        from mcpframe.kit.bundle.code.variables import asked_of_visitors
        from mcpframe.kit.bundle.project_lock import lock_project

        lock_project(folder, upgrade=upgrade, progress=progress)
        with progress("Looking at the package's code"):
            outlook = read_outlook(package, folder)
        if outlook is not None:
            asked = [name for name in asked_of_visitors(outlook.variables) if name not in variables]
            found = PackageOptions(
                connect_src=outlook.hosts if FOUND in hosts else (), visitor_env=asked if FOUND in ask else ()
            )
            package_project(package, folder, found)
    return folder


@contextmanager
def removed_without_lock(folder: Path) -> Iterator[None]:
    """Remove the project of a package again if the block fails before its requirements are locked.

    Then there is no such package, or not for a page: no user has a project of it to edit.
    """
    file, was_there = folder / "pyproject.toml", folder.exists()
    is_new = not file.exists()
    try:
        yield
    except BaseException:
        if is_new and not (folder / "mcpframe.lock").exists():
            with suppress(OSError):
                file.unlink()
                if not was_there:
                    folder.rmdir()
        raise


def _sources(hosts: Sequence[str]) -> list[str]:
    """Return hosts as sources of a policy, with https unless they have a scheme."""
    from pydantic import ValidationError

    from mcpframe.kit.project.pyproject import CspConfig

    sources = [
        item if "://" in item or item.endswith(":") or item in ("", "*") else f"https://{item}" for item in hosts
    ]
    try:
        return list(CspConfig(connect_src=sources).connect_src)
    except ValidationError:
        raise typer.BadParameter(
            f"{', '.join(map(repr, hosts))}: write hosts or origins, such as api.example or http://localhost:8000, or "
            f"{FOUND} for those in its code.",
            param_hint="--connect-src",
        ) from None


def read_outlook(package: str, folder: Path) -> Outlook | None:
    """Return what the code of a project's package says; None if it has no wheel."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    from mcpframe.kit.bundle.outlook import outlook_of
    from mcpframe.kit.bundle.packages.lock import read_lock
    from mcpframe.kit.project.project import find_project

    lock = read_lock(find_project(folder).lock_path)
    return None if lock is None else outlook_of(canonicalize_name(Requirement(package).name), lock)


def print_outlook(outlook: Outlook, folder: Path) -> None:
    """Print a package's limits, and its possible needs.

    Args:
        outlook: The result of `read_outlook`.
    """
    from mcpframe.kit.project.project import find_project

    config = find_project(folder).config
    for limit in outlook.limits:
        _out.print(f"  not there    {escape(limit.meaning)}: {escape(limit.name)} in {escape(limit.place)}")
    if unset := [name for name in outlook.variables if name not in (*config.env, *config.visitor_env)]:
        _out.print(f"  it reads     {escape(', '.join(unset))} (--env; --ask for what each visitor enters)")
    if config.visitor_env:
        _out.print(
            f"  asks for     {escape(', '.join(config.visitor_env))}: in its setup, kept in the visitor's browser"
        )
    allowed = config.csp.connect_src
    for hosts, whose in ((outlook.hosts, "its code"), (outlook.other_hosts, "the code of its requirements")):
        if missing := [host for host in hosts if host not in allowed]:
            _out.print(f"  hosts        {escape(', '.join(missing))}, in {whose}: its page may not reach them yet")
    if any(host not in allowed for host in outlook.hosts):
        _out.print(f"               (--connect-src HOST, or --connect-src {FOUND} for all in its code)")
    file = escape(str(folder / "pyproject.toml"))
    _out.print(f"  its project  {file}: edit it, and run mcpframe build {escape(str(folder))}")


@contextmanager
def explaining(path: Path) -> Iterator[None]:
    """Print why a build of the project at a path fails, before its error."""
    from mcpframe.kit.base.errors import BuildError

    try:
        yield
    except BuildError as error:
        print_limits(explained(path, error), _err)
        raise


def print_limits(reasons: Iterable[Explained], on: Console = _out) -> None:
    """Print the causes that stop or limit the server of a project."""
    for reason in reasons:
        on.print(f"  because      {escape(reason.what)}")
        if reason.chain:
            on.print(f"    required   {escape(' → '.join(reason.chain))}")
        for place in reason.places:
            on.print(f"    in         {escape(place)}")


def explained(path: Path, error: BuildError | None = None) -> tuple[Explained, ...]:
    """Explain why a build of the project at a path failed, or its server's limits."""
    from mcpframe.kit.bundle.packages.explain import explain
    from mcpframe.kit.bundle.packages.lock import read_lock
    from mcpframe.kit.project.project import find_project

    return explain(read_lock(find_project(path).lock_path), error)
