"""`mcpframe call`: one call of one tool of a server, for scripts."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mcpframe.kit.base.terminal import visible
from mcpframe.kit.cli.calling.listing import entries_of
from mcpframe.kit.cli.shared import package as packages
from mcpframe.kit.cli.shared.common_options import (
    AsJson,
    Dialect,
    Enter,
    Era,
    Origin,
    Setup,
    Timeout,
    Where,
    duration,
    is_writable_folder,
)
from mcpframe.kit.cli.shared.examples import examples
from mcpframe.kit.cli.shared.output import Meter, err, escape, out, silently, some_of, step
from mcpframe.kit.cli.shared.served_target import addressed

if TYPE_CHECKING:
    import mcp_types as types
    from mcp import Client

    from mcpframe.kit.cli.calling.questions import Questions
    from mcpframe.kit.client.session import Logs

EXAMPLES = examples(
    "mcpframe call https://tools.example/pi/ calculate_pi iterations=1000",
    "mcpframe call . add a=1 b=2",
    "mcpframe call URL search --args '{\"where\": [1, 2]}' --json",
    "mcpframe call URL book train=night --answer seats=2 --save tickets",
    "mcpframe call URL find name=Ada --enter 'Choose a file=@people.json' --enter 'Use this document'",
)

Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency", "none"]


def call(
    url: Where,
    tool: Annotated[str, typer.Argument(help="The tool's name.")],
    pairs: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Arguments, typed by the tool's schema.")
    ] = None,
    args: Annotated[str | None, typer.Option(help="All arguments as a JSON object; - reads it from stdin.")] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            callback=is_writable_folder,
            metavar="FOLDER",
            help="Save images, sounds and files of the answer there, as new files.",
        ),
    ] = None,
    log: Annotated[
        Level,
        typer.Option(metavar="LEVEL", help="What the server logs from this level on goes to stderr, print as info."),
    ] = "info",
    origin: Origin = None,
    dialect: Dialect = None,
    era: Era = "auto",
    timeout: Timeout = 30.0,
    call_timeout: Annotated[float, duration("Seconds until the tool has to have answered.")] = 300.0,
    answer: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="An answer to a question of the tool, by its name; give it once each."),
    ] = None,
    setup: Setup = False,
    enter: Enter = None,
    settings: packages.Settings = None,
    as_json: AsJson = False,
) -> None:
    """Call one tool, print its result, and exit with 1 if that is an error.

    Its progress, its questions and the server's output go to stderr. On a terminal you are asked what no --answer says.
    """
    import asyncio

    from mcpframe.kit.base.errors import CallError
    from mcpframe.kit.cli.calling.arguments import split_pairs
    from mcpframe.kit.cli.calling.questions import Questions
    from mcpframe.kit.cli.calling.result_table import print_tables
    from mcpframe.kit.cli.calling.tool_result import raised_at, shown
    from mcpframe.kit.cli.calling.tool_result import save as save_files
    from mcpframe.kit.client.session import check_origin, one_session

    check_origin(origin)
    if args is not None and pairs:
        raise CallError("Give the arguments as key=value or with --args, not both.")
    split_pairs(pairs or [])
    given = None if args is None else _object(_stdin() if args == "-" else args)
    entries = entries_of(setup, enter)
    answers = split_pairs(answer or [])
    progress = silently if as_json else step
    packages.apply_settings(url, settings, progress)
    with ExitStack() as stack:
        address = stack.enter_context(addressed(url, progress=progress))
        _check_early(address, tool, pairs or [], given, timeout)
        meter = stack.enter_context(Meter(tool))
        questions = Questions(url, answers, meter.clear)
        session = one_session(
            address,
            origin=origin,
            dialect=dialect,
            era=era,
            patience=timeout,
            setup=entries,
            logs=_logs(log, meter.clear),
            elicit=questions.callback,
        )
        result, mismatch = asyncio.run(_called(session, tool, pairs or [], given, meter, call_timeout, questions))
    if questions.unused:
        err.print(f"[dim]not asked for: {some_of(questions.unused)}[/]")
    saved = save_files(result, save, tool) if save else {}
    if as_json:
        typer.echo(json.dumps(result, indent=2))
        for path in saved.values():
            err.print(escape(f"saved as {path}"))
    elif result.get("isError"):
        text = shown(result, saved) or "The tool reports an error without a text."
        err.print(f"[bold red]error:[/] {escape(text + questions.advice(text))}")
        if place := raised_at(result):
            err.print(f"[dim]{escape(place)}[/]")
    elif not (out.is_terminal and print_tables(result)):
        text = shown(result, saved)
        typer.echo(visible(text) if out.is_terminal else text)
    if mismatch:
        err.print(f"[bold red]error:[/] {escape(mismatch)}")
    if mismatch or result.get("isError"):
        raise typer.Exit(1)


def _stdin() -> str:
    from mcpframe.kit.base.errors import CallError

    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError:
        raise CallError("`--args -` reads JSON from standard input, and this input is not UTF-8: convert it.") from None


def _object(text: str) -> dict[str, Any]:
    from mcpframe.kit.base.errors import CallError
    from mcpframe.kit.cli.calling.arguments import read_json

    try:
        value = read_json(text)
    except ValueError as error:
        raise CallError(f"--args is not JSON ({error}).") from None
    if not isinstance(value, dict):
        raise CallError("--args has to be a JSON object, such as '{\"a\": 1}'.")
    return value


def _logs(level: Level, before: Callable[[], None]) -> Logs | None:
    """Return the settings that print the server's logs to stderr; `before` is called first."""
    from mcpframe.kit.client.session import Logs

    if level == "none":
        return None

    async def tell(params: types.LoggingMessageNotificationParams) -> None:
        text = params.data if isinstance(params.data, str) else json.dumps(params.data, ensure_ascii=False)
        before()
        source = "" if params.level == "info" or params.level in text.lower() else f"{params.level}: "
        err.print(f"[dim]{escape(source + text)}[/]")

    return Logs(level, tell)


def _arguments(pairs: list[str], given: dict[str, Any] | None, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call. Raises `CallError` if the schema does not allow them."""
    from mcpframe.kit.cli.calling.arguments import check_arguments, parse_pairs

    arguments = parse_pairs(pairs, schema) if given is None else given
    check_arguments(arguments, schema)
    return arguments


def _hint_at_undeclared(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    from mcpframe.kit.cli.calling.arguments import undeclared

    if names := undeclared(arguments, schema):
        err.print(f"[dim]not among the tool's declared arguments: {escape(some_of(names))}[/]")


def _check_early(address: str, tool: str, pairs: list[str], given: dict[str, Any] | None, patience: float) -> None:
    """Check the arguments by the server's manifest, before a browser is started; the server may have further tools."""
    from mcpframe.kit.servers.published import fetch, read_manifest

    manifest = read_manifest(fetch(address, patience=patience).url, patience=patience) or {}
    for listed in manifest.get("tools") or ():
        if listed["name"] == tool:
            _arguments(pairs, given, listed["inputSchema"])


async def _called(
    session: AbstractAsyncContextManager[Client],
    name: str,
    pairs: list[str],
    given: dict[str, Any] | None,
    meter: Meter,
    deadline: float,
    questions: Questions,
) -> tuple[dict[str, Any], str]:
    """Return the tool's result, as on the wire, and in which way it does not fit the tool's output schema."""
    from mcp.shared.exceptions import MCPError

    from mcpframe.frame.core.jsonrpc import CONNECTION_CLOSED
    from mcpframe.kit.base.errors import CallError
    from mcpframe.kit.base.server_lists import list_all
    from mcpframe.kit.cli.calling.call_deadline import call_deadline
    from mcpframe.kit.cli.calling.tool_result import mismatch_of

    expired = CallError(
        f"{name} has not answered within {deadline:g} s: allow it more with --call-timeout, or see in the tool's code "
        "what it waits for."
    )
    async with session as client, call_deadline(deadline, expired) as pause:
        questions.pause = pause
        client.session.validate_tool_result = _unchecked  # type: ignore[method-assign]  # it would withhold the result
        try:
            tools = {tool["name"]: tool for tool in await list_all(client.list_tools, "tools")}
        except MCPError as error:
            raise CallError(f"The server does not list its tools: {str(error).rstrip('.')}.") from error
        if name not in tools:
            raise CallError(f"The server has no tool {name!r}; it has: {', '.join(tools) or 'none'}.")
        arguments = _arguments(pairs, given, tools[name]["inputSchema"])
        _hint_at_undeclared(arguments, tools[name]["inputSchema"])
        try:
            result = await client.call_tool(name, arguments, progress_callback=meter.show)
        except MCPError as error:
            reason = str(error)
            what = "The call has no answer" if error.error.code == CONNECTION_CLOSED else "The server refuses the call"
            raise CallError(f"{what}: {reason.rstrip('.')}.{questions.advice(reason)}") from error
        questions.check()
        dumped: dict[str, Any] = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        if "structured_content" in result.model_fields_set:
            dumped.setdefault("structuredContent", None)  # null is a value here
        return dumped, mismatch_of(dumped, tools[name])


async def _unchecked(name: str, result: types.CallToolResult) -> None:
    """Check nothing: see `mismatch_of`."""
