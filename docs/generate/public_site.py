"""Builds the public site, static files for any host and path: front page, playground, gallery and documentation."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from docs.generate.playground import SOURCES, build_playground, runnable
from docs.generate.site import build_site
from mcpframe.kit.base.data import templates_dir
from mcpframe.kit.base.errors import KitError
from mcpframe.kit.base.progress import step
from mcpframe.kit.bridge.chromium.bridge_page import HOST_ORIGIN
from mcpframe.kit.publish.gallery.build import build_gallery

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "dist" / "site"


def main() -> int:
    """Build it into `dist/site`, and return the exit status."""
    try:
        with step("Building the documentation"):
            build_site(ROOT)
        shutil.rmtree(SITE, ignore_errors=True)
        shutil.copytree(SOURCES / "front", SITE)
        shutil.copytree(ROOT / "site", SITE / "docs")
        build_playground(ROOT, SITE / "playground", progress=step)
        edits = {name: f"../playground/#template={name}" for name in runnable(SITE / "playground")}
        # Clients of the bridge may use them, too; other pages build their own.
        gallery = build_gallery(
            templates_dir(),
            SITE / "gallery",
            title="Servers to try",
            edits=edits,
            allowed_origins=[HOST_ORIGIN],
            progress=step,
        )
        for root, error in gallery.failures.items():
            print(f"{root.name} is left out: {error}", file=sys.stderr)
        (SITE / ".nojekyll").write_bytes(b"")  # GitHub Pages leaves out _mcpframe without it
    except KitError as error:
        print(f"build.py: {error}", file=sys.stderr)
        return 1
    print(f"site: {SITE.relative_to(ROOT)}, to be seen with mcpframe serve {SITE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
