"""Bundle the scripts of framed pages; the results are in the repository.

The modules of a page's script become one file. The text of a view becomes `mcpframe/views/view_text.py`, as a framed
server has views, too, but no folder `static`.
"""

from __future__ import annotations

import json
from pathlib import Path

from mcpframe.kit.base.bundled_scripts import with_record
from mcpframe.kit.base.data import checkout_dir, page_dir, static_dir
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle.assembly.assets import integrity
from mcpframe.kit.bundle.assembly.page_scripts import BUNDLED, BUNDLED_INLINE, SOURCES
from mcpframe.kit.web.host_page import bundle_module

VIEW_MODULE = checkout_dir() / "mcpframe" / "views" / "view_text.py"
"""The Python module with the text of a view."""
_VIEW = ("app/view.html", "app/view.js")
_WIDTH = 100


def write_page_scripts(modules: Path) -> list[Path]:
    """Bundle the page's scripts and write the files.

    Args:
        modules: A `node_modules` folder with esbuild, as `node.install_locked` creates it.

    Returns:
        The written files.

    Raises:
        KitError: esbuild is missing or fails.
    """
    (page_dir() / BUNDLED).parent.mkdir(exist_ok=True)
    for name in SOURCES:
        (page_dir() / name).write_text(bundled_page_script(modules, name), "utf-8", newline="\n")
    return [page_dir() / name for name in SOURCES]


def bundled_page_script(modules: Path, name: str = BUNDLED) -> str:
    """Return the text of a bundled script; see `write_page_scripts`."""
    with scratch("bundling") as folder:
        made, record = folder / "script.js", folder / "inputs.json"
        # Comments are removed, but names are kept, so that error reports have the names of the sources. The others
        # are in every page.
        minify = name != BUNDLED
        options = ['--define:process.env.NODE_ENV="production"']
        bundle_module(str(static_dir() / SOURCES[name]), made, modules, record=record, minify=minify, options=options)
        inputs = json.loads(record.read_text("utf-8"))["inputs"]
        text = made.read_text("utf-8")
    if name not in (BUNDLED, BUNDLED_INLINE):
        text = f"(()=>{{{text.strip()}}})()\n"
    static = static_dir().resolve()
    paths = [(modules.parent / path).resolve() for path in inputs]
    sources = [path.relative_to(static).as_posix() for path in paths if path.is_relative_to(static)]
    return with_record(text, sources)


def write_view_module(modules: Path) -> Path:
    """Bundle the script of a view and write the module of its text; see `write_page_scripts`."""
    VIEW_MODULE.write_text(view_module(modules), "utf-8", newline="\n")
    return VIEW_MODULE


def view_module(modules: Path) -> str:
    """Return the text of that module; see `write_view_module`."""
    page, entry = (static_dir() / name for name in _VIEW)
    with scratch("bundling") as folder:
        made = folder / "view.js"
        bundle_module(str(entry), made, modules)
        script = f"(()=>{{{made.read_text('utf-8').strip()}}})()"
    head, tail = page.read_text("utf-8").replace("\n", "").split("SCRIPT")
    parts = "\n".join(f"    (\n{_lines(part)}\n    )," for part in (head, script, tail))
    return f"""\
\"\"\"The text of a view, from `static/app`, by `python3 build.py scripts`. See `mcpframe.views.html`.\"\"\"

SCRIPT_HASH = {integrity(script.encode())!r}

TEXT = (
{parts}
)
"""


def _lines(text: str) -> str:
    return "\n".join(f"        {text[at : at + _WIDTH]!r}" for at in range(0, len(text), _WIDTH))
