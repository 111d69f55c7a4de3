"""`mcpframe build --package`: the project of a public package, and the limits found in its code."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mcpframe.kit.cli.common_options import words_of
from mcpframe.kit.cli.output import err as _err
from mcpframe.kit.cli.output import escape
from mcpframe.kit.cli.output import out as _out

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from mcpframe.kit.base.errors import BuildError
    from mcpframe.kit.bundle.code.code_limits import Outlook
    from mcpframe.kit.bundle.packages.explain import Explained


def make_project(
    package: str,
    folder: Path | None,
    args: str | None,
    env: Sequence[str],
    *,
    origins: Sequence[str],
    hosts: Sequence[str],
    persist: Sequence[str] = (),
    leave_out: Sequence[str] = (),
) -> Path:
    """Create the project of a package from the command line's options, and return its folder."""
    from mcpframe.kit.project.packaged import PackageOptions, package_project

    variables: dict[str, str] = {}
    for item in env:
        name, equals, value = item.partition("=")
        if not name or not equals:
            raise typer.BadParameter(f"{item!r} is not a variable: write NAME=VALUE.", param_hint="--env")
        variables[name] = value
    words = words_of(args or "", "--args")
    return package_project(
        package, folder, PackageOptions(words, variables, origins, persist, _sources(hosts), leave_out)
    )


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
            f"{', '.join(map(repr, hosts))}: write hosts or origins, such as api.example or http://localhost:8000.",
            param_hint="--connect-src",
        ) from None


def read_outlook(package: str, folder: Path) -> Outlook | None:
    """Return the limits of the code of a project's package; None if it has no wheel.

    The hosts of its requirements are included if it makes requests itself, as the client of a service does.
    """
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    from mcpframe.kit.bundle.code.code_limits import look_at
    from mcpframe.kit.bundle.features import HTTP_PACKAGES, uses_http
    from mcpframe.kit.bundle.packages.lock import read_lock
    from mcpframe.kit.bundle.packages.wheels import wheel_path
    from mcpframe.kit.bundle.pyodide.archive import unpack, unpacking
    from mcpframe.kit.project.project import find_project
    from mcpframe.kit.project.pyproject import MOST_UNPACKED

    name = canonicalize_name(Requirement(package).name)
    lock = read_lock(find_project(folder).lock_path)
    near = [item for item in lock.packages if name in (item.name, *item.required_by)] if lock else []
    with unpacking(MOST_UNPACKED):  # the build has checked them
        files = {item.name: unpack(wheel_path(item)) for item in near}
    if name not in files:
        return None
    outlook = look_at(files.pop(name))
    asking = [wheel for package, wheel in files.items() if package not in HTTP_PACKAGES and uses_http(wheel)]
    hosts = {host for wheel in asking for host in look_at(wheel).hosts}
    return replace(outlook, hosts=tuple(sorted({*outlook.hosts, *hosts})))


def print_outlook(outlook: Outlook, folder: Path) -> None:
    """Print a package's limits, and its possible needs.

    Args:
        outlook: The result of `read_outlook`.
    """
    from mcpframe.kit.project.project import find_project

    for limit in outlook.limits:
        _out.print(f"  not there    {escape(limit.meaning)}: {escape(limit.name)} in {escape(limit.place)}")
    if outlook.variables:
        _out.print(f"  it reads     {escape(', '.join(outlook.variables))} (--env, or tool.mcpframe.env)")
    allowed = find_project(folder).config.csp.connect_src
    if missing := [host for host in outlook.hosts if host not in allowed]:
        listed = ", ".join(f'"{host}"' for host in [*allowed, *missing])
        _out.print(
            f"  hosts        {escape(', '.join(missing))}: its page may not reach them yet; those that it has to, in "
            "tool.mcpframe (or --connect-src):"
        )
        _out.print(f"               {escape(f'csp = {{ connect_src = [{listed}] }}')}", soft_wrap=True)
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
