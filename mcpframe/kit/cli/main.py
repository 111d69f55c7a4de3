"""The command line: `mcpframe`. Its commands have modules of their own, in rooms by what they are for."""

from __future__ import annotations

import errno
import os
import sys
from importlib.metadata import version
from typing import Annotated, Any

import typer

from mcpframe.frame.core.errors import McpFrameError
from mcpframe.kit.base.errors import WriteError
from mcpframe.kit.base.processes import end_on_signals
from mcpframe.kit.base.terminal import log_visibly, print_any_text
from mcpframe.kit.cli.building import announce, build, check, dev, new, packages_fetch, publish, testing
from mcpframe.kit.cli.calling import call, listing
from mcpframe.kit.cli.connecting import bridge as commands_bridge
from mcpframe.kit.cli.connecting import hub as commands_hub
from mcpframe.kit.cli.connecting import install
from mcpframe.kit.cli.serving import inspect, proxy, run, serve
from mcpframe.kit.cli.shared.output import err as _err
from mcpframe.kit.cli.shared.output import escape, print_error

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Write an MCP server in Python, publish it as a static page that runs it in the browser.",
)

_WrongUsage: type[Exception] = typer.BadParameter.__mro__[1]  # UsageError, which typer does not export

# One line per command, named after its function unless a name is given.
app.command(epilog=new.EXAMPLES)(new.new)
app.command(epilog=build.EXAMPLES)(build.build)
app.command(epilog=dev.EXAMPLES)(dev.dev)
app.command("test", epilog=testing.EXAMPLES, context_settings=testing.SETTINGS)(testing.run_tests)
app.command(epilog=publish.EXAMPLES)(publish.publish)
app.command(epilog=check.EXAMPLES)(check.check)
app.command("list", epilog=listing.EXAMPLES)(listing.list_server)
app.command(epilog=call.EXAMPLES)(call.call)
app.command(epilog=inspect.EXAMPLES)(inspect.inspect)
app.command(epilog=run.EXAMPLES)(run.run)
app.command(epilog=serve.EXAMPLES)(serve.serve)
app.command(epilog=announce.EXAMPLES)(announce.announce)

app.command(epilog=proxy.EXAMPLES)(proxy.proxy)

commands_bridge.register(app)
install.register(app)
commands_hub.register(app)
app.add_typer(packages_fetch.app)


@app.callback()
def _root(
    show_version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, help="Show the version and exit.", callback=lambda on: _version(on)),
    ] = False,
) -> None:
    pass


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mcpframe {version('mcpframe')}")
        raise typer.Exit


def main() -> None:
    """Run the command line. The exit status is 0; 1 after an error; 2 for wrong usage; 130 after Ctrl-C.

    SIGTERM and SIGHUP also end all programs that were started; the status is 143 or 129.
    """
    end_on_signals()
    log_visibly()
    print_any_text()
    try:
        status = app(prog_name="mcpframe", standalone_mode=False)
        sys.exit(status if isinstance(status, int) else 0)
    except _WrongUsage as error:
        _tell_usage(error)
        sys.exit(2)
    except McpFrameError as error:
        print_error(error)
        sys.exit(1)
    except OSError as error:
        if error.errno == errno.EPIPE:  # the reader of our output has closed it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        _tell_system(error)
        sys.exit(1)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)


def _tell_usage(error: Any) -> None:
    """Print an error in the command line, and how to get help."""
    message = error.format_message().replace("Value error, ", "").rstrip(".")
    if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help
        _err.print(escape(message))
        return
    command = error.ctx.command_path if error.ctx else "mcpframe"
    end = "" if message.endswith("?") else "."
    _err.print(f"[bold red]error:[/] {escape(message)}{end} See {escape(command)} --help.")


def _tell_system(error: OSError) -> None:
    """Print an error of the operating system that no other code has handled."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        place = f" ({error.filename})" if error.filename else ""
        print_error(WriteError(f"The disk is full{place}: free some space and run this again."))
        return
    if error.filename is None or error.strerror is None:
        raise error
    print_error(WriteError(f"{error.filename}: {error.strerror}."))
