"""Cloudflare: `wrangler.jsonc` of a Worker that has static assets only. The headers are in `_headers`.

`.assetsignore` leaves out what no page asks for: the copies that a build has compressed, and files above the limit that
are no bundle's, such as one of `--single-file`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from mcpframe.kit.publish.targets.deployment import (
    NOT_SERVED,
    Deployment,
    PublishTarget,
    ignored,
    without_copies,
)
from mcpframe.kit.publish.targets.own_files import MARKED, UNSIGNED
from mcpframe.kit.static_hosts.cloudflare import CLOUDFLARE as HOST
from mcpframe.kit.static_hosts.limits import too_large

_LONGEST = 54  # of a Worker's name, with room for the prefix of a preview
_COMPATIBLE = "2026-11-01"
"""The behaviour of Workers that the configuration is written for; wrangler needs a date."""


def _files(site: Deployment) -> dict[Path, str]:
    configuration = {
        "$schema": "node_modules/wrangler/config-schema.json",
        "name": _name(site.name),
        "compatibility_date": _COMPATIBLE,
        "assets": {"directory": site.folder},
    }
    mark = f"// {UNSIGNED}: `mcpframe publish` renews this file until it is edited.\n"
    # Those of Cloudflare itself are read by wrangler, which does not upload them.
    others = sorted(name for name in NOT_SERVED - {*HOST.files} if name in site.sizes)
    left_out = "".join(f"/{ignored(name)}\n" for name in (*others, *_left_out(site)))
    return {
        site.base / "wrangler.jsonc": mark + json.dumps(configuration, indent=2, ensure_ascii=False) + "\n",
        site.out / ".assetsignore": f"{MARKED}{without_copies(site)}{left_out}",
    }


def _left_out(site: Deployment) -> list[str]:
    """Return the files above the limit that no bundle has."""
    needed = {*site.listed, *site.copies}
    return [
        path for path, size in sorted(site.sizes.items()) if path not in needed and any(too_large(HOST, {path: size}))
    ]


def _name(name: str) -> str:
    """Return the name of a Worker: lower-case letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[:_LONGEST].strip("-") or "mcp-server"


def _steps(site: Deployment) -> tuple[str, ...]:
    return (
        "npx wrangler deploy, which makes a Worker that has nothing but these files",
        f"the address is then https://{_name(site.name)}.ACCOUNT.workers.dev/{site.start_folder}",
        "after each build: mcpframe publish cloudflare, as wrangler.jsonc and .assetsignore follow the files",
    )


def _remarks(site: Deployment) -> tuple[str, ...]:
    return tuple(f"{path} is left out: it is too large, and no page needs it" for path in _left_out(site))


CLOUDFLARE = PublishTarget("cloudflare", HOST, _steps, _files, _remarks, left_out=True)
