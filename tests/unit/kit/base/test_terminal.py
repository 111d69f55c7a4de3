"""Text of others on a terminal."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from mcpframe.kit.base.terminal import visible
from mcpframe.kit.cli.shared import output

KIT = Path(output.__file__).parents[1]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ü 漢 😀\n\tnext", "plain ü 漢 😀\n\tnext"),
        ("\x1b[2J\x1b]0;title\x07", r"\x1b[2J\x1b]0;title\x07"),
        ("a\rb\x08\x7f", r"a\rb\x08\x7f"),
        ("\x9b31m", r"\x9b31m"),
        ("file\u202egpj.exe", r"file\u202egpj.exe"),
        ("\ud800", r"\ud800"),
    ],
)
def test_what_would_move_the_cursor_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_neither_markup_nor_controls_take_effect(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "[red]a[/] \x1b[31mb[link=x]"
    output.out.print(f"[bold]{output.escape(hostile)}[/]")
    assert capsys.readouterr().out == "[red]a[/] \\x1b[31mb[link=x]\n"


LOGGING = """
import logging, sys
from mcpframe.kit.cli.main import main
sys.argv = ["mcpframe", "--version"]
try:
    main()
finally:
    logging.getLogger("mcpframe.kit.bridge").warning("The page says \\x1b[2J")
"""


def test_what_commands_log_is_shown_so() -> None:
    done = subprocess.run([sys.executable, "-c", LOGGING], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == "The page says \\x1b[2J\n"


def test_errors_are_shown_so(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_error(ValueError("it says \x1b[2J\nand \x1b[3J"))
    assert "\x1b" not in capsys.readouterr().err


def test_commands_escape_in_one_place_only() -> None:
    """rich's own `escape` leaves control characters as they are."""
    for path in (KIT / "cli").glob("*.py"):
        names = {
            f"{node.module}.{name.name}"
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.ImportFrom)
            for name in node.names
        }
        assert "rich.markup.escape" not in names, path


UNREAD = """
import asyncio, sys
from playwright.async_api import Error
from mcpframe.kit.base.terminal import log_visibly
log_visibly()

async def main():
    for error in (Error("Connection closed"), ValueError("kept")):
        asyncio.get_running_loop().create_future().set_exception(error)

asyncio.run(main())
"""


def test_answers_of_a_browser_that_has_ended_are_not_missed() -> None:
    done = subprocess.run([sys.executable, "-c", UNREAD], capture_output=True, text=True, timeout=60, check=True)
    assert "Connection closed" not in done.stderr
    assert "ValueError: kept" in done.stderr


# An interrupted import, wherever Ctrl-C meets it.
INTERRUPTED = """
import sys
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
from mcpframe.__main__ import main
main()
"""


def test_ctrl_c_while_the_command_line_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (130, "")
