"""Bundle the scripts of framed pages; the results are in the repository.

The modules of a page's script become one file. Those of the shim, the view that frames a bundle, become
`mcpframe/views/bundle_page_shim.py`, as a framed server has views, too, but no folder `static`.
"""

from __future__ import annotations

import json
from pathlib import Path

from mcpframe.kit.base.data import page_dir, static_dir
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle.output.assets import integrity
from mcpframe.kit.bundle.page.scripts import BUNDLED, BUNDLED_INBOX, SOURCES, with_record
from mcpframe.kit.web.host_page import bundle_module

SHIM_MODULE = Path(__file__).resolve().parents[2] / "views" / "bundle_page_shim.py"
"""The Python module with the text of the shim."""
_SHIM = ("app/shim.html", "app/shim.js")
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
        # Comments are removed, but names are kept, so that error reports have the names of the sources. The inline
        # script is in every page.
        minify = name == BUNDLED_INBOX
        bundle_module(str(static_dir() / SOURCES[name]), made, modules, record=record, minify=minify)
        inputs = json.loads(record.read_text("utf-8"))["inputs"]
        text = made.read_text("utf-8")
    if minify:
        text = f"(()=>{{{text.strip()}}})()\n"
    static = static_dir().resolve()
    sources = [(modules.parent / path).resolve().relative_to(static).as_posix() for path in inputs]
    return with_record(text, sources)


def write_shim_module(modules: Path) -> Path:
    """Bundle the shim and write its Python module; see `write_page_scripts`."""
    SHIM_MODULE.write_text(shim_module(modules), "utf-8", newline="\n")
    return SHIM_MODULE


def shim_module(modules: Path) -> str:
    """Return the text of the shim's module; see `write_shim_module`."""
    page, entry = (static_dir() / name for name in _SHIM)
    with scratch("bundling") as folder:
        made = folder / "shim.js"
        bundle_module(str(entry), made, modules)
        script = f"(()=>{{{made.read_text('utf-8').strip()}}})()"
    text = page.read_text("utf-8").replace("\n", "")
    text = text.replace("SCRIPT_HASH", integrity(script.encode())).replace("SCRIPT", script)
    lines = "\n".join(f"    {text[at : at + _WIDTH]!r}" for at in range(0, len(text), _WIDTH))
    return f"""\
\"\"\"The text of the shim, from `static/app`, by `python3 build.py scripts`. See `mcpframe.views.bundle_page`.\"\"\"

SHIM = (
{lines}
)
"""
