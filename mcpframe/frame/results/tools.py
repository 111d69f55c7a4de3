"""Tools whose results are converted, in every SDK: `MCPServer` of mcp 2.x, `FastMCP` of mcp 1.x and of fastmcp; and
resources of the official ones. The package fastmcp refuses what it cannot send.

Each SDK makes a tool of a function in one place, `from_function`. Here that gets a function with the same parameters,
whose result is converted, and whose return annotation is that of the converted result: an SDK reads its output schema
from that, and refuses some annotations that it does not know.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, partial, wraps
from importlib import import_module
from importlib.util import find_spec
from typing import Any, get_origin

from typing_extensions import is_typeddict

from mcpframe.frame.compat import sdk
from mcpframe.frame.results.content import Block
from mcpframe.frame.results.conversion import UNDECLARED, Result, as_resource, as_result, converted, declared

_CONTENT = {
    "image": "ImageContent",
    "audio": "AudioContent",
    "resource": "EmbeddedResource",
    "resource_link": "ResourceLink",
}
"""The SDK's class for each type of content."""
_NONE = inspect.Signature.empty


@cache
def convert_results() -> None:
    """Convert the results of the official SDK's tools and resources that are added from now on.

    Does nothing when repeated.
    """
    _convert_in(sdk.server_part("tools.base").Tool, partial(_with_conversion, send=_result_of_mcp))
    resources = sdk.server_part("resources")
    for cls in (resources.FunctionResource, resources.ResourceTemplate):
        _convert_in(cls, _reading)


@cache
def convert_results_of_fastmcp() -> None:
    """Convert the results of fastmcp's tools that are added from now on. Does nothing when repeated.

    Raises:
        ModuleNotFoundError: The package fastmcp is not there, or not yet.
    """
    is_earlier = find_spec("fastmcp.tools.function_tool") is None
    place = import_module("fastmcp.tools.tool" if is_earlier else "fastmcp.tools.function_tool")
    tools = getattr(place, "FunctionTool", None) or place.Tool  # before fastmcp 2.7
    tool_result = getattr(place, "ToolResult", None)
    if tool_result is None:  # before 2.10, without structured results
        send: Callable[[Result], Any] = _content_of
    else:
        send = partial(_result_of_fastmcp, tool_result)
    _convert_in(tools, partial(_with_conversion, send=send))


def _content_of(result: Result) -> list[Any]:
    return [_block(item) for item in result.content]


def _convert_in(made: Any, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Convert the results of an SDK's class of tools or resources.

    Args:
        made: The class, which has `from_function`.
        wrap: Returns a function whose result is converted, for an author's function.
    """
    make = made.from_function.__func__

    @wraps(make)
    def from_function(cls: type, fn: Callable[..., Any], *args: Any, **options: Any) -> Any:
        return make(cls, wrap(fn), *args, **options)

    made.from_function = classmethod(from_function)


def _result_of_mcp(result: Result) -> Any:
    fields = {"content": _content_of(result), "structuredContent": result.data}
    return sdk.model("CallToolResult").model_validate(fields)


def _result_of_fastmcp(tool_result: Callable[..., Any], result: Result) -> Any:
    return tool_result(content=_content_of(result), structured_content=result.data)


def _block(item: Block | str) -> Any:
    if isinstance(item, str):
        return sdk.model("TextContent")(type="text", text=item)
    return sdk.model(_CONTENT[item.fields["type"]]).model_validate(item.fields)


def _with_conversion(function: Callable[..., Any], send: Callable[[Result], Any]) -> Callable[..., Any]:
    """Return a function whose result every client can use; the same one if it is none whose result can be known."""
    if not inspect.isroutine(function) or inspect.isasyncgenfunction(function):
        return function
    try:
        signature = inspect.signature(function, eval_str=True)
    except (NameError, TypeError, ValueError):
        return function  # the SDK says what is wrong with it
    before = signature.return_annotation
    after = before if before is _NONE else declared(before)
    undeclared = after is UNDECLARED
    after = _NONE if undeclared else after

    def fits(data: Any) -> bool:
        if after is _NONE:
            return True
        from pydantic import TypeAdapter, ValidationError  # late: `wrap` imports this module without any SDK

        try:
            TypeAdapter(after).validate_python(data)
        except ValidationError:
            return False
        return True

    def sent(value: Any) -> Any:
        result = converted(value, fits)
        if result is None and value is not None:  # a number without a JSON form
            result = None if after is not _NONE else "null"
        if undeclared and isinstance(result, dict):
            result = as_result(result)
        if isinstance(result, Result):
            return send(result) if _is_object(after) else _content_of(result)
        if isinstance(result, Block) and result.note:
            result = result.noted
        if isinstance(result, list):
            return [_block(item) if isinstance(item, Block) else item for item in result]
        return _block(result) if isinstance(result, Block) else result

    call = _then(function, sent)
    call.__signature__ = signature.replace(return_annotation=after)  # type: ignore[attr-defined]
    annotations = {name: each.annotation for name, each in signature.parameters.items()} | {"return": after}
    call.__annotations__ = {name: each for name, each in annotations.items() if each is not _NONE}
    return call


def _reading(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of a resource with its result as a text or bytes."""
    return _then(function, as_resource) if inspect.isroutine(function) else function


def _then(function: Callable[..., Any], finish: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a function like another, whose result is passed through `finish`."""
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def awaited(*args: Any, **named: Any) -> Any:
            return finish(await function(*args, **named))

        return awaited

    @wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        return finish(function(*args, **named))

    return call


def _is_object(annotation: Any) -> bool:
    """Return whether the structured content for an annotation is an object, and not wrapped in one."""
    cls = get_origin(annotation) or annotation
    return cls is _NONE or is_typeddict(cls) or (isinstance(cls, type) and issubclass(cls, dict))
