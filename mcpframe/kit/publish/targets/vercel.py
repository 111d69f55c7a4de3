"""Vercel: `vercel.json` beside the project, with the headers, and `.vercelignore`: only the site is uploaded."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from mcpframe.kit.bundle.assembly.built_manifest import policies_of, trials_of
from mcpframe.kit.publish.targets.deployment import Deployment, PublishTarget, ignored, without_copies
from mcpframe.kit.publish.targets.own_files import MARKED, UNSIGNED
from mcpframe.kit.static_hosts.rules import json_text, pages_of
from mcpframe.kit.static_hosts.vercel import VERCEL as HOST


def _files(site: Deployment) -> dict[Path, str]:
    folder = site.folder
    pages = pages_of(policies_of(site.manifests), trials_of(site.manifests))
    configuration = {
        # JSON has no comments, and Vercel refuses unknown keys.
        "$schema": f"https://openapi.vercel.sh/vercel.json#{UNSIGNED}",
        "framework": None,
        "installCommand": "",  # skipped: the folder is built before it is uploaded
        "buildCommand": "",
        "outputDirectory": folder,
        **json.loads(HOST.text(pages)),
    }
    return {
        site.base / "vercel.json": json_text(configuration),
        site.base / ".vercelignore": f"{MARKED}{_only(folder)}!/vercel.json\n{without_copies(site)}",
    }


def _only(folder: str) -> str:
    """Return patterns that leave out all but a folder: what is beside it, at each depth, may be private."""
    parts = [ignored(part) for part in folder.split("/")]
    above = ["".join(f"/{part}" for part in parts[:depth]) for depth in range(len(parts) + 1)]
    return "".join(f"{outer}/*\n!{inner}\n" for outer, inner in pairwise(above))


def _steps(site: Deployment) -> tuple[str, ...]:
    return (
        "npx vercel deploy --prod",
        f"the address is then https://PROJECT.vercel.app/{site.start_folder}",
        "after each build: mcpframe publish vercel, as vercel.json has the policies of the bundles",
    )


VERCEL = PublishTarget("vercel", HOST, _steps, _files)
