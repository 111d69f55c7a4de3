"""The demo's host page: a folder with `static/demo`, the host module, and the TypeScript client as one file."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from mcpframe.kit.base.bundled_scripts import HOST, bundled_script
from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.errors import ToolMissing
from mcpframe.kit.base.processes import run_tool
from mcpframe.kit.base.progress import Progress, silent

_SHOWN_BY = "visible.js"
"""The module for the texts that a host of ours shows."""
_FORMS = ("element-call.js", "element-form.js", "element-parts.js", "element-result.js")
"""The modules of `<mcp-server>` that the demo's page makes forms and results with."""

_CLIENT = "@modelcontextprotocol/client"

# `data:` is for images and sounds in the results of tools.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; media-src data:; "
    "frame-src {origin}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def bundle_client(modules: Path, *, progress: Progress = silent) -> Path:
    """Bundle the official TypeScript client, with all its exports, as one ES module.

    Args:
        modules: A `node_modules` folder with the client and esbuild, from `node.install_locked`.
        progress: Reports the step.

    Returns:
        The file, in `node_modules`, so that it is rebuilt whenever the lock changes.

    Raises:
        ToolMissing: esbuild has no program for this machine in `modules`.
        ToolFailed: esbuild failed.
    """
    target = modules / ".mcpframe" / "mcp-client.js"
    if target.is_file():
        return target
    with progress("Bundling the TypeScript client"):
        # esbuild writes the file only when it succeeds.
        bundle_module(_CLIENT, target, modules)
    return target


def bundle_module(
    entry: str,
    target: Path,
    modules: Path,
    *,
    external: Sequence[str] = (),
    record: Path | None = None,
    minify: bool = True,
    split: bool = False,
    options: Sequence[str] = (),
) -> None:
    """Bundle a module and its imports as one ES module.

    Args:
        entry: The name of a package in `modules`, or the path of a file, which finds its packages by itself.
        target: The file to write.
        modules: A `node_modules` folder with esbuild.
        external: Imports to leave unchanged.
        record: A file for esbuild's metadata, which lists the inputs.
        minify: Whether to minify it; otherwise only most comments are removed.
        split: Whether what is imported by `import()` becomes files of its own, in `chunks` beside the target.
        options: Further options of esbuild, which override these.

    Raises:
        ToolMissing: esbuild has no program for this machine in `modules`.
        ToolFailed: esbuild failed.
    """
    # The program in its optional package: the `esbuild` script works only after its install script.
    program = next(
        (file for pattern in ("*/bin/esbuild", "*/esbuild.exe") for file in (modules / "@esbuild").glob(pattern)), None
    )
    if program is None:
        raise ToolMissing(
            f"esbuild has no program for this machine in {modules}: run `npm ci` there without --omit=optional."
        )
    usual = ["--bundle", "--platform=browser", "--target=es2022", "--log-level=warning", "--format=esm"]
    usual.append("--minify" if minify else "--charset=utf8")
    usual += [f"--external:{name}" for name in external]
    usual += [f"--metafile={record}"] if record else []
    # So that imports of packages in `modules` resolve from any folder.
    environment = {**os.environ, "NODE_PATH": str(modules)}
    if split:
        usual += [
            "--splitting",
            f"--outdir={target.parent}",
            f"--entry-names={target.stem}",
            "--chunk-names=chunks/[name]-[hash]",
        ]
    else:
        usual.append(f"--outfile={target}")
    command = [str(program), entry, *usual, *options]
    run_tool(command, "esbuild", cwd=modules.parent, timeout=120, environment=environment)


def copy_host_modules(folder: Path) -> None:
    """Write host.js, and copy what shows texts, for a page in `folder`."""
    (folder / "host.js").write_text(bundled_script(HOST), "utf-8", newline="\n")
    shutil.copy2(static_dir() / "host" / _SHOWN_BY, folder)


def write_host_page(folder: Path, frame_url: str, client: Path) -> None:
    """Fill `folder` with a host page that frames the server at `frame_url`.

    Args:
        frame_url: The absolute URL of a bundle's page, on another origin than the host page.
        client: The TypeScript client, from `bundle_client`.
    """
    shutil.copytree(static_dir() / "demo", folder, dirs_exist_ok=True)
    copy_host_modules(folder)
    for name in _FORMS:
        shutil.copy2(static_dir() / "host" / name, folder)
    shutil.copy2(client, folder / "mcp-client.js")
    (folder / "config.json").write_text(json.dumps({"url": frame_url}), "utf-8", newline="\n")
    origin = "/".join(frame_url.split("/", 3)[:3])
    (folder / "_headers").write_text(
        f"/*\n  Content-Security-Policy: {_POLICY.format(origin=origin)}\n  Referrer-Policy: no-referrer\n",
        "utf-8",
        newline="\n",
    )
