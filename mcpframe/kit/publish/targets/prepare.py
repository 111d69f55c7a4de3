"""Prepare a built site for a target: its limits are checked first, then the files are written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcpframe.kit.base.cache import sha256_of
from mcpframe.kit.base.errors import PublishError
from mcpframe.kit.bundle.assembly.built_manifest import read_manifests
from mcpframe.kit.project.project import find_project
from mcpframe.kit.publish.targets.costs import Cost, costs_of
from mcpframe.kit.publish.targets.deployment import FRAMED_BY_ANY, Deployment, PublishTarget
from mcpframe.kit.publish.targets.own_files import State, write_own
from mcpframe.kit.static_hosts.limits import over_limits, rules_of

_THIS_MACHINE = re.compile(r"https?://(.*\.)?(localhost|127(\.\d+){3}|\[::1\])(:\d+)?")


@dataclass(frozen=True)
class Prepared:
    """A site that is ready to be published.

    Attributes:
        files: The files that were written for the host, with what became of each.
        first_visits: The bytes of a first visit of each bundle, by folder, as the host sends them at best.
        costs: What the host costs visitors of each bundle, by folder.
        remarks: What its visitors do not have there.
        steps: What its author does next, a line each.
    """

    files: Mapping[Path, State]
    first_visits: Mapping[str, int]
    costs: Mapping[str, tuple[Cost, ...]]
    remarks: tuple[str, ...]
    steps: tuple[str, ...]


def deployment_of(path: Path, out: Path, *, keep: int = 0) -> Deployment:
    """Return the built site of a project.

    Args:
        path: The project.
        out: The output root that it was built into.
        keep: The hours for which builds at the host keep the files that they replace.

    Raises:
        ConfigError: There is no project.
        PublishError: The output root has no bundle, or a bundle is not complete.
    """
    project = find_project(path)
    root, folder = project.root.resolve(), out.resolve()
    manifests = read_manifests(folder)
    if not manifests:
        raise PublishError(f"{out} has no bundle: run `mcpframe build` first, or name the folder with --out.")
    for name, manifest in manifests.items():
        _check_complete(folder, name, manifest)
    sizes = {
        file.relative_to(folder).as_posix(): file.stat().st_size for file in sorted(folder.rglob("*")) if file.is_file()
    }
    base = root if folder.is_relative_to(root) and folder != root else folder.parent
    return Deployment(root, base, project.name, folder, manifests, sizes, keep)


def _check_complete(folder: Path, name: str, manifest: Mapping[str, Any]) -> None:
    for entry in manifest["files"]:
        path = folder / entry["path"]
        if not path.is_file() or sha256_of(path) != entry["sha256"]:
            state = "is changed" if path.is_file() else "is missing"
            raise PublishError(f"{path} {state}, which the bundle {name!r} needs: run `mcpframe build` again.")


def prepare(site: Deployment, target: PublishTarget) -> Prepared:
    """Check the limits of a target, and write its files.

    Raises:
        PublishError: A limit is exceeded, or a file is there that is the author's. Nothing was written.
        WriteError: A file cannot be written.
    """
    problems = [*_problems(site, target)]
    if problems:
        more = "\n".join(problems[1:])
        raise PublishError(f"{problems[0]}\n{more}" if more else problems[0])
    files = write_own(target.files(site))
    return Prepared(
        files,
        {name: manifest["sizes"]["first_visit"] for name, manifest in site.manifests.items()},
        {name: tuple(costs_of(target.host, manifest)) for name, manifest in site.manifests.items()},
        (*_framed_here_only(site), *(() if target.host.sends_headers else (FRAMED_BY_ANY,)), *target.remarks(site)),
        (*target.steps(site), "mcpframe check ADDRESS says from outside whether all has arrived"),
    )


def _framed_here_only(site: Deployment) -> Iterator[str]:
    """Return a remark on each bundle that only pages of this machine may frame, as a new project's."""
    for name, manifest in site.manifests.items():
        origins = manifest.get("allowed_origins", ())
        if origins and all(_THIS_MACHINE.fullmatch(origin) for origin in origins) and "dialect_origins" not in manifest:
            yield (
                f"{name} may be framed by pages of your own machine only ({', '.join(origins)}): set allowed_origins "
                "of [tool.mcpframe] to those of its hosts, and build again"
            )


def _problems(site: Deployment, target: PublishTarget) -> Iterator[str]:
    yield from over_limits(target.host, site.listed if target.left_out else site.sizes)
    rules, most = rules_of(site.manifests), target.host.most_rules
    if most is not None and rules > most:
        yield (
            f"{len(site.manifests)} bundles need {rules} rules of {target.host.files[0]}, and {target.host.title} "
            f"reads {most}: publish them in several sites."
        )
