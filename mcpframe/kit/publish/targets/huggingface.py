"""Hugging Face: the `README.md` of a static Space, in the output root, which is the whole Space."""

from __future__ import annotations

import json
from pathlib import Path

from mcpframe.kit.base.processes import shell_text
from mcpframe.kit.publish.targets.deployment import Deployment, PublishTarget
from mcpframe.kit.publish.targets.own_files import MARKED
from mcpframe.kit.static_hosts.hugging_face import HUGGING_FACE

_LARGE = 10_000_000  # bytes: above, git needs an extension, and `hf upload` does not


def _files(site: Deployment) -> dict[Path, str]:
    title = next(iter(site.manifests.values()))["title"] if len(site.manifests) == 1 else site.name
    text = f"""---
{MARKED}title: {json.dumps(title, ensure_ascii=False)}
sdk: static
app_file: {json.dumps(site.start, ensure_ascii=False)}
custom_headers:
  cross-origin-resource-policy: cross-origin
---

MCP servers that run in the page: frame the Space's own address, `https://OWNER-SPACE.static.hf.space/`, with one of
these paths.

{"".join(f"- `{name}/`{chr(10)}" for name in site.manifests)}"""
    return {site.out / "README.md": text}


def _steps(site: Deployment) -> tuple[str, ...]:
    return (
        shell_text(["hf", "upload", "OWNER/SPACE", str(site.out), ".", "--repo-type", "space"])
        + " (hf is of pip install huggingface_hub; log in with hf auth login)",
        f"hosts frame https://OWNER-SPACE.static.hf.space/{site.start_folder}",
    )


def _remarks(site: Deployment) -> tuple[str, ...]:
    nested = "the Space's page on huggingface.co is a frame around yours: hosts frame the Space's own address instead"
    large = [path for path, size in site.listed.items() if size > _LARGE]
    lfs = f"{', '.join(large)}: above 10 MB, so git needs LFS for it; `hf upload` does not"
    return (nested, lfs) if large else (nested,)


HUGGINGFACE = PublishTarget("huggingface", HUGGING_FACE, _steps, _files, _remarks)
