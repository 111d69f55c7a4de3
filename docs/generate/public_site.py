"""Builds the public site, static files for any host and path: the front page, the playground and the documentation."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from docs.generate.playground import SOURCES, build_playground
from docs.generate.site import build_site
from mcpframe.kit.base.errors import KitError
from mcpframe.kit.base.progress import step

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
        (SITE / ".nojekyll").write_bytes(b"")  # GitHub Pages leaves out _mcpframe without it
    except KitError as error:
        print(f"build.py: {error}", file=sys.stderr)
        return 1
    print(f"site: {SITE.relative_to(ROOT)}, to be seen with mcpframe serve {SITE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
