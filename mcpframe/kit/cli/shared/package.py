"""`package:NAME`: the project of a public package, its settings, and the limits found in its code."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcpframe.kit.cli.shared.common_options import words_of
from mcpframe.kit.cli.shared.output import err as _err
from mcpframe.kit.cli.shared.output import escape
from mcpframe.kit.cli.shared.output import out as _out

PROJECT_HELP = "A server's folder, its pyproject.toml, its Python file, or package:NAME for somebody else's package."
FOUND = "found"
"""The value of a setting that stands for what the package's code has."""
_LISTS = ("allowed_origins", "persist", "csp.connect_src", "leave_out", "visitor_env")
SETTINGS = f"args=WORDS, env.NAME=VALUE, {', '.join(f'{key}=VALUE' for key in _LISTS)}, build_sdists=true"
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="For package:NAME: a value of [tool.mcpframe] in its project, such as args='--root /data', "
        f"env.LEVEL=debug, csp.connect_src=api.example or {FOUND}; may be repeated.",
    ),
]
"""The one option of all commands for the project of a package."""

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from mcpframe.kit.base.errors import BuildError
    from mcpframe.kit.base.progress import Progress
    from mcpframe.kit.bundle.code.code_limits import Outlook
    from mcpframe.kit.bundle.packages.explain import Explained
    from mcpframe.kit.project.packaged import PackageOptions


def apply_settings(word: str, settings: Sequence[str] | None, progress: Progress) -> None:
    """Make the project of `package:NAME` in the cache with the settings of `--set`, or add them to it.

    Raises:
        BadParameter: There are settings, and the word is not a package.
    """
    from mcpframe.kit.servers.named_server import package_folder

    if settings and (name := package_of(word, settings)):
        make_project(name, package_folder(name), settings, progress=progress)


def package_of(word: str, settings: Sequence[str] | None = None) -> str:
    """Return the name in `package:NAME`; empty for another word, which raises `BadParameter` if there are settings."""
    from mcpframe.kit.servers.named_server import PACKAGE

    if word.startswith(PACKAGE):
        from mcpframe.kit.base.extras import need

        need("author", "Building a package")
        return word.removeprefix(PACKAGE)
    if settings:
        raise typer.BadParameter("only for package:NAME; a project has [tool.mcpframe].", param_hint="--set")
    return ""


def make_project(
    package: str, folder: Path, settings: Sequence[str], *, upgrade: bool = False, progress: Progress
) -> None:
    """Make the project of a package, or add settings to it.

    Args:
        settings: The values of `--set`.
        upgrade: Whether to resolve its requirements anew, if its code has to be read.
        progress: Reports long steps.
    """
    from mcpframe.kit.project.packaged import PackageOptions, package_project

    given, to_find = _options_of(settings)
    package_project(package, folder, given)
    if to_find:
        from mcpframe.kit.bundle.code.variables import asked_of_visitors
        from mcpframe.kit.bundle.project_lock import lock_project

        lock_project(folder, upgrade=upgrade, progress=progress)
        with progress("Looking at the package's code"):
            outlook = read_outlook(package, folder)
        if outlook is not None:
            asked = [name for name in asked_of_visitors(outlook.variables) if name not in given.env]
            in_code = PackageOptions(
                connect_src=outlook.hosts if "csp.connect_src" in to_find else (),
                visitor_env=asked if "visitor_env" in to_find else (),
            )
            package_project(package, folder, in_code)


def _options_of(settings: Sequence[str]) -> tuple[PackageOptions, set[str]]:
    """Return the options of a package's project, and the keys whose values are to be found in its code."""
    from mcpframe.kit.project.packaged import PackageOptions

    lists: dict[str, list[str]] = {key: [] for key in _LISTS}
    env: dict[str, str] = {}
    args: list[str] = []
    build_sdists = False
    for item in settings:
        key, equals, value = item.partition("=")
        kind, _, variable = key.partition(".")
        if key in lists and equals:
            lists[key].append(value)
        elif kind == "env" and variable and equals:
            env[variable] = value
        elif key == "args" and equals:
            args += words_of(value, "--set args")
        elif item == "build_sdists=true":
            build_sdists = True
        else:
            raise typer.BadParameter(f"{item!r} is not a setting: write one of {SETTINGS}.", param_hint="--set")
    to_find = {key for key in ("csp.connect_src", "visitor_env") if FOUND in lists[key]}
    named = {key: [value for value in values if value != FOUND or key not in to_find] for key, values in lists.items()}
    sources = _sources(named.pop("csp.connect_src"))
    return PackageOptions(args, env, connect_src=sources, build_sdists=build_sdists, **named), to_find


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
            param_hint="--set csp.connect_src",
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
        _out.print(f"  it reads     {escape(', '.join(unset))} (--set env.NAME=VALUE, or visitor_env=NAME)")
    if config.visitor_env:
        _out.print(
            f"  asks for     {escape(', '.join(config.visitor_env))}: in its setup, kept in the visitor's browser"
        )
    allowed = config.csp.connect_src
    for hosts, whose in ((outlook.hosts, "its code"), (outlook.other_hosts, "the code of its requirements")):
        if missing := [host for host in hosts if host not in allowed]:
            _out.print(f"  hosts        {escape(', '.join(missing))}, in {whose}: its page may not reach them yet")
    if any(host not in allowed for host in outlook.hosts):
        _out.print(f"               (--set csp.connect_src=HOST, or {FOUND} for all in its code)")
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
