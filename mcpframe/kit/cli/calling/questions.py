"""A tool's questions (MCP specification, client/elicitation), answered by options, then by the user of a terminal."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import typer

from mcpframe.kit.base.errors import CallError
from mcpframe.kit.base.terminal import visible
from mcpframe.kit.cli.calling.arguments import items_of, parse_pairs, properties_of, required_of
from mcpframe.kit.cli.calling.call_deadline import Pause
from mcpframe.kit.cli.shared.output import err, escape

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.client.session import ElicitationFnT

_CHECKED = ("type", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "format")
"""The rules that the specification has for an answer. A `pattern` could block, a `$ref` could fetch."""


class Questions:
    """Answers a tool's questions.

    Attributes:
        pause: Entered while the user is asked.
    """

    def __init__(self, server: str, answers: Mapping[str, str], before: Callable[[], None] = lambda: None) -> None:
        """Create it.

        Args:
            server: The name under which the user knows the server.
            answers: The texts that are given in advance, by property.
            before: Called before the user is asked.
        """
        self._server = server
        self._answers = answers
        self._before = before
        self.pause: Pause = nullcontext
        self._used: set[str] = set()
        self._error: CallError | None = None

    @property
    def callback(self) -> ElicitationFnT | None:
        """The elicitation callback of `mcp.Client`. None where nobody could answer: servers then do not ask."""
        return self._ask if self._answers or can_ask() else None

    @property
    def unused(self) -> list[str]:
        """The properties that no question had."""
        return [name for name in self._answers if name not in self._used]

    def advice(self, text: str) -> str:
        """Return how to answer, for the error of a server that could not ask; empty for other errors."""
        said = text.lower()
        if self.callback is None and "elicit" in said:
            return "\nIt asks its user: call it on a terminal, or give --answer KEY=VALUE."
        if "sampling" in said or "capability roots" in said:
            return "\n`mcpframe call` has no model and no folders: in `mcpframe inspect` you answer yourself."
        return ""

    def check(self) -> None:
        """Raise the `CallError` for which a question was cancelled."""
        if self._error:
            raise self._error

    async def _ask(self, context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        """Answer one question. What cannot be answered cancels it, and is the error of `check`."""
        import mcp_types as types

        if isinstance(params, types.ElicitRequestURLParams):
            return self._open(params)
        schema = params.requested_schema
        try:
            content = self._given(schema)
        except CallError as error:
            return self._cancelled(error)
        left = [name for name in properties_of(schema) if name not in content]
        if not can_ask():
            missing = [name for name in required_of(schema) if name in left]
            if missing or not content:
                named = " ".join(f"--answer {name}=…" for name in missing or left)
                hint = f"Answer it with {named}, or on a terminal." if named else "Answer it on a terminal."
                return self._cancelled(CallError(f"The tool asks: {params.message}\n{hint}"))
        elif left or not content:
            with self._asking(params.message):
                try:
                    content |= self._entered(left, schema)
                except EOFError:
                    return types.ElicitResult(action="decline")
        return types.ElicitResult(action="accept", content=content)

    def _open(self, params: types.ElicitRequestURLParams) -> types.ElicitResult:
        """Show an address, which only its user opens."""
        import mcp_types as types

        if not can_ask():
            return self._cancelled(
                CallError(f"The tool asks its user to open {params.url}: call it on a terminal.\n{params.message}")
            )
        with self._asking(params.message):
            err.print(f"  {escape(params.url)}")
            try:
                _line("Press Enter when it is open")
            except EOFError:
                return types.ElicitResult(action="decline")
        return types.ElicitResult(action="accept")

    def _cancelled(self, error: CallError) -> types.ElicitResult:
        import mcp_types as types

        self._error = error
        return types.ElicitResult(action="cancel")

    def _given(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        given = {name: text for name, text in self._answers.items() if name in properties_of(schema)}
        self._used |= given.keys()
        return {name: answer(name, text, schema) for name, text in given.items()}

    @contextmanager
    def _asking(self, message: str) -> Iterator[None]:
        """Ask the user in this block; the call's clock and progress stand still."""
        with self.pause(), _interruptible():
            self._before()
            err.print(f"[bold]{escape(self._server)} asks:[/] {escape(message)} [dim](Ctrl-D declines)[/]")
            yield

    def _entered(self, names: list[str], schema: Mapping[str, Any]) -> dict[str, Any]:
        """Ask for each property, until its answer is valid. Raises `EOFError` if the user declines."""
        content: dict[str, Any] = {}
        if not names:
            _line("Press Enter to accept")
        for name in names:
            about, required = _about(name, schema), name in required_of(schema)
            while True:
                text = _line(_prompt(name, about, required=required)) or _default_text(about)
                if not text and not required:
                    break
                try:
                    content[name] = answer(name, text, schema)
                except CallError as error:
                    err.print(f"  [red]{escape(str(error))}[/]")
                else:
                    break
        return content


def can_ask() -> bool:
    """Return whether there is a user: a terminal in both directions."""
    return sys.stdin.isatty() and err.is_terminal


def answer(name: str, text: str, schema: Mapping[str, Any]) -> Any:
    """Return the value of an answer.

    Args:
        name: The property.
        text: A value as in `key=value`, the title of an option, or options separated by commas.
        schema: The question's schema.

    Raises:
        CallError: The schema does not allow it.
    """
    from jsonschema import Draft202012Validator as Validator
    from jsonschema.exceptions import SchemaError

    about = _about(name, schema)
    options = _options(about)
    if about.get("type") == "array" and not text.startswith("["):
        value: Any = [options.get(part.strip(), part.strip()) for part in text.split(",") if part.strip()]
    else:
        value = options[text] if text in options else parse_pairs([f"{name}={text}"], schema)[name]
    if options and (others := [each for each in _listed(value) if each not in options.values()]):
        raise CallError(f"{name}: {others[0]!r} is not a choice: take one of {', '.join(options)}.")
    rules = {key: rule for key, rule in about.items() if key in _CHECKED}
    try:
        Validator.check_schema(rules)
        wrong = next(Validator(rules, format_checker=Validator.FORMAT_CHECKER).iter_errors(value), None)
    except SchemaError:  # the server checks its answers, too
        wrong = None
    if wrong is not None:
        raise CallError(f"{name}: {wrong.message[:300]}.")
    return value


def _about(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    about = properties_of(schema)[name]
    return about if isinstance(about, dict) else {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _options(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a choice, or of a list of choices, by their titles and themselves."""
    if about.get("type") == "boolean":
        return {"yes": True, "no": False, "true": True, "false": False}
    choice = about.get("items") if about.get("type") == "array" else about
    if not isinstance(choice, dict):
        return {}
    listed = [option for key in ("oneOf", "anyOf") for option in items_of(choice, key)]
    titled = [option for option in listed if isinstance(option, dict) and "const" in option]
    options = {str(option.get("title", option["const"])): option["const"] for option in titled}
    values = items_of(choice, "enum")
    options |= dict(zip(map(str, items_of(choice, "enumNames")), values, strict=False))
    return options | {str(value): value for value in (*values, *(option["const"] for option in titled))}


def _default_text(about: Mapping[str, Any]) -> str:
    default = about.get("default")
    if isinstance(default, bool):
        return "yes" if default else "no"
    if isinstance(default, list):
        return ", ".join(map(str, default))
    return "" if default is None else str(default)


def _prompt(name: str, about: Mapping[str, Any], *, required: bool) -> str:
    """Return the line that asks for a property: its title, description, options and default."""
    kind = about.get("type")
    options = _options(about)
    hints = [
        "yes or no" if kind == "boolean" else ", ".join(options),
        "several, by commas" if kind == "array" else "",
        f"default {default}" if (default := _default_text(about)) else "" if required else "optional",
    ]
    hint = "; ".join(filter(None, hints))
    title, description = str(about.get("title") or name), about.get("description")
    return f"{title}{f' - {description}' if description else ''}{f' [{hint}]' if hint else ''}"


def _line(prompt: str) -> str:
    """Return a line of the terminal. Raises `EOFError` at its end."""
    typer.echo(f"  {visible(prompt).replace(chr(10), ' ')}: ", err=True, nl=False)
    line = sys.stdin.readline()
    if not line:
        typer.echo(err=True)
        raise EOFError
    return line.strip()


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end a read of the terminal, during which the event loop stands still, and then the program."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, before)
        signal.raise_signal(signal.SIGINT)  # asyncio ends its main task
        raise EOFError from None
    finally:
        signal.signal(signal.SIGINT, before)
