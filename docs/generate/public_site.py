"""Builds the public site, static files for any host and path: front page, playground, gallery and documentation."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from docs.generate.offline import write_offline_worker
from docs.generate.playground import MODELS, SOURCES_OF_FILES, build_playground, bytes_of_run, runnable
from docs.generate.playground_packages import USUAL, Installing, installing_from
from docs.generate.run_origin import RunOrigin, parse_run_origin
from docs.generate.site import build_site
from mcpframe.frame.core.allowed_origins import parse_origin
from mcpframe.kit.base.data import static_dir, templates_dir
from mcpframe.kit.base.errors import KitError
from mcpframe.kit.base.progress import Progress, silent, step
from mcpframe.kit.bridge.chromium.bridge_page import HOST_ORIGIN
from mcpframe.kit.bundle.pyodide.packages import CDN
from mcpframe.kit.publish.gallery.build import build_gallery

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "dist" / "site"
RUNS = ROOT / "dist" / "run-origin"
_FRONT = ("index.html", "front.css")


def build_public_site(
    site: Path,
    *,
    docs: Path,
    servers: Path,
    sources: Sequence[str] = SOURCES_OF_FILES,
    models: Sequence[str] = MODELS,
    installing: Installing = USUAL,
    run_origin: RunOrigin | None = None,
    run_page: Path | None = None,
    snapshot: bool | None = None,
    pictures: bool = True,
    progress: Progress = silent,
) -> list[str]:
    """Write the site into an empty folder.

    Args:
        site: The folder.
        docs: The documentation's pages.
        servers: The folder of the gallery's projects; one of them is pi-calculator, which the front page runs.
        sources: The origins of which the playground opens files.
        models: The origins of models that the playground's user may ask.
        installing: What the playground installs further packages from.
        run_origin: As for `build_playground`.
        run_page: As for `build_playground`.
        snapshot: As for `build`.
        pictures: As for `build_gallery`.
        progress: Called with a description of each step.

    Returns:
        A line for each server that could not be built, and is left out.

    Raises:
        KitError: Something else could not be built.
    """
    site.mkdir(parents=True, exist_ok=True)
    front = [Path(shutil.copy(static_dir() / "site" / name, site)) for name in _FRONT]
    shutil.copytree(docs, site / "docs")
    build_playground(
        ROOT,
        site / "playground",
        sources=sources,
        models=models,
        installing=installing,
        run_origin=run_origin,
        run_page=run_page,
        snapshot=snapshot,
        progress=progress,
    )
    edits = {name: f"../playground/#template={name}" for name in runnable(site / "playground")}
    # Clients of the bridge may use them, too; other pages build their own.
    gallery = build_gallery(
        servers,
        site / "gallery",
        title="Servers to try",
        edits=edits,
        runs="../../playground/run.html",
        allowed_origins=[HOST_ORIGIN],
        snapshot=snapshot,
        pictures=pictures,
        progress=progress,
    )
    write_offline_worker(site, [*front, site / "gallery" / "_gallery" / "element.js"])
    (site / ".nojekyll").write_bytes(b"")  # GitHub Pages leaves out _mcpframe without it
    return [f"{root.name} is left out: {error}" for root, error in gallery.failures.items()]


def main() -> int:
    """Build it into `dist/site`, and return the exit status."""
    parser = argparse.ArgumentParser(prog="build.py site")
    parser.add_argument(
        "--files-of", action="append", metavar="ORIGIN", help="the playground opens files of this origin"
    )
    parser.add_argument(
        "--models", action="append", default=[], metavar="ORIGIN", help="the playground asks models of this origin, too"
    )
    parser.add_argument(
        "--index", action="append", default=[], metavar="URL", help="the playground installs from this package index"
    )
    parser.add_argument(
        "--wheels-of", action="append", default=[], metavar="ORIGIN", help="wheels of the index are at this origin, too"
    )
    parser.add_argument(
        "--distribution",
        default=CDN,
        metavar="PLACE",
        help="the playground installs from this distribution of Pyodide: an address, or a folder; empty for none",
    )
    parser.add_argument(
        "--run-origin",
        metavar="https://*.run.example",
        help="the playground's servers run at origins of their own there",
    )
    parser.add_argument("--site-origin", metavar="ORIGIN", help="with --run-origin: the origin of this site")
    options = parser.parse_args()
    try:
        sources = [parse_origin(each) for each in options.files_of or SOURCES_OF_FILES]
        models = (*MODELS, *map(parse_origin, options.models))
        installing = installing_from(options.index, options.wheels_of, options.distribution)
        run_origin = parse_run_origin(options.run_origin, options.site_origin) if options.run_origin else None
        with step("Building the documentation"):
            build_site(ROOT)
        shutil.rmtree(SITE, ignore_errors=True)
        shutil.rmtree(RUNS, ignore_errors=True)
        for line in build_public_site(
            SITE,
            docs=ROOT / "site",
            servers=templates_dir(),
            sources=sources,
            models=models,
            installing=installing,
            run_origin=run_origin,
            run_page=RUNS,
            progress=step,
        ):
            print(line, file=sys.stderr)
    except (KitError, ValueError) as error:
        print(f"build.py: {error}", file=sys.stderr)
        return 1
    print(f"The first run in the playground fetches {bytes_of_run(SITE / 'playground') / 1e6:.1f} MB.")
    if run_origin:
        print(f"runs: {RUNS.relative_to(ROOT)}, to be published at {run_origin.pattern}")
    print(f"site: {SITE.relative_to(ROOT)}, to be seen with mcpframe serve {SITE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
