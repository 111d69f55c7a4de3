"""Netlify: `netlify.toml`. The headers are in `_headers`, which a build writes."""

from __future__ import annotations

import json
from pathlib import Path

from mcpframe.kit.base.processes import shell_text
from mcpframe.kit.publish.targets.deployment import Deployment, PublishTarget
from mcpframe.kit.publish.targets.own_files import MARKED
from mcpframe.kit.static_hosts.netlify import NETLIFY as HOST


def _files(site: Deployment) -> dict[Path, str]:
    folder = site.folder
    build = site.build_command(site.base)
    command = f"{site.install_command(site.base)} && {build}"
    # A string of JSON is one of TOML, too.
    text = f"""{MARKED}[build]
command = {json.dumps(command, ensure_ascii=False)}
publish = {json.dumps(folder, ensure_ascii=False)}

[build.environment]
PYTHON_VERSION = "3.13"

# Its post-processing would change files, whose hashes then do not match.
[build.processing]
skip_processing = true
"""
    return {site.base / "netlify.toml": text}


def _steps(site: Deployment) -> tuple[str, ...]:
    deploy = ["npx", "netlify-cli", "deploy", "--prod", "--no-build", "--dir", site.folder]
    return (
        "commit netlify.toml, and import the repository at app.netlify.com: each push is built and published",
        f"or publish what is built here: {shell_text(deploy)}",
        f"the address is then https://SITE.netlify.app/{site.start_folder}",
    )


def _remarks(site: Deployment) -> tuple[str, ...]:
    browser = (
        "a build at Netlify takes a snapshot only if it finds a Chromium there: without one, pages start later, and "
        "mcpframe check says so"
    )
    kept = "builds at Netlify begin without the earlier ones, so they keep no files: build here, and deploy the folder"
    return (*site.install_remarks("netlify"), browser, *((kept,) if site.keep else ()))


NETLIFY = PublishTarget("netlify", HOST, _steps, _files, _remarks)
