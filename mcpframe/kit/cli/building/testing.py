"""`mcpframe test`: pytest with the plugin."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated

import typer

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.base.extras import need
from mcpframe.kit.cli.shared.examples import examples
from mcpframe.kit.cli.shared.output import print_error

EXAMPLES = examples(
    "mcpframe test",
    "mcpframe test my-server -k add -x",
    "mcpframe test tests/test_server.py",
    "mcpframe test . --mcpframe-memory",
)

SETTINGS = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Unknown options are passed on to pytest."""

_NO_TESTS = 5  # pytest.ExitCode.NO_TESTS_COLLECTED
PLUGIN = "mcpframe.kit.testing.plugin"


def run_tests(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(help="The project's folder.")] = Path(),
) -> None:
    """Run a project's tests with pytest; further arguments and options go to pytest."""
    if str(path).startswith("-") or path.is_file() or "::" in str(path):  # an argument of pytest, like all others
        arguments, path = [str(path), *context.args], Path()
    else:
        arguments = list(context.args)
    need("test", "mcpframe test")
    if not path.is_dir():
        raise ConfigError(f"{path} is not a folder: give the folder of a project, then pytest's arguments.")
    command = [sys.executable, "-m", "pytest", *plugin_arguments(), *arguments]
    status = subprocess.call(command, cwd=path)
    if status == _NO_TESTS:
        print_error(
            ConfigError(
                f"{path.absolute()}: no test was run: write one in tests/test_server.py, as `mcpframe new` does, or "
                "correct the names given."
            )
        )
    raise typer.Exit(status)


def plugin_arguments() -> list[str]:
    """Return the arguments that load the plugin, if it is not installed as an entry point: an older installation."""
    known = any(point.value == PLUGIN for point in entry_points(group="pytest11"))
    return [] if known else ["-p", PLUGIN]
