"""The environment of the author's code, which is set before that code is imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from mcpframe.frame.compat import in_pyodide, sdk
from mcpframe.frame.compat.resource_addresses import accept_spellings
from mcpframe.frame.compat.text_arguments import keep_texts
from mcpframe.frame.results.tools import convert_results, convert_results_of_fastmcp
from mcpframe.frame.session import printing


def set_environment(
    args: Sequence[str],
    env: Mapping[str, str],
    program: str = "",
    *,
    world: bool = False,
    processes: bool = False,
    at_home: bool = False,
    absent: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Set the environment of the author's code before it is imported: `sys.argv`, variables, standard streams.

    Args:
        args: the arguments after the program's name in `sys.argv`.
        env: variables to add.
        program: the program's name; empty to leave it.
        world: whether the code was written for a process: see `mcpframe.frame.world`.
        processes: whether the code starts processes: see `mcpframe.frame.worker.pool`.
        at_home: whether the home folder becomes the current one.
        absent: the arguments of `absent.answer_imports`, for code that was not written for mcpframe.
    """
    if in_pyodide():
        printing.install()
        if absent is not None:
            import_module("mcpframe.frame.compat.third_party_placeholders").answer_imports(**absent)
    if world:
        import_module("mcpframe.frame.world").prepare()
    if processes and in_pyodide():
        import_module("mcpframe.frame.worker.pool").replace()
    if at_home:
        os.chdir(os.path.expanduser("~"))  # noqa: PTH111  pathlib is not needed otherwise
    os.environ.update(env)
    if args or program:
        sys.argv[:] = [program or next(iter(sys.argv), ""), *args]
    sdk.load_fastmcp()
    convert_results()
    accept_spellings()
    keep_texts()
    if sdk.has_fastmcp():
        convert_results_of_fastmcp()
