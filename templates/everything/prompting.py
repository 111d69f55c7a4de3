"""Prompts, and the completion of their arguments."""

from mcp.server.mcpserver import Image, UserMessage
from mcp_types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

from contents import embedded
from mcpframe import FrameServer
from samples import PNG

VALUES = ["test-one", "test-two", "testing", "value1", "value2"]


def test_simple_prompt() -> list[UserMessage]:
    """A prompt without arguments."""
    return [UserMessage("This is a simple prompt for testing.")]


def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage]:
    """A prompt with two arguments."""
    return [UserMessage(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")]


def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803  (the suite's name)
    """A prompt with a resource in it."""
    return [
        UserMessage(embedded(resourceUri, "text/plain", "Embedded resource content for testing.")),
        UserMessage("Please process the embedded resource above."),
    ]


def test_prompt_with_image() -> list[UserMessage]:
    """A prompt with a picture in it."""
    return [
        UserMessage(Image(data=PNG, format="png").to_image_content()),
        UserMessage("Please analyze the image above."),
    ]


async def complete(
    ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument, context: CompletionContext | None
) -> Completion | None:
    """Complete the first argument of the prompt that has two."""
    if not (isinstance(ref, PromptReference) and ref.name == "test_prompt_with_arguments" and argument.name == "arg1"):
        return None
    values = [value for value in VALUES if value.startswith(argument.value)]
    return Completion(values=values, total=len(values), has_more=False)


def register(server: FrameServer) -> None:
    """Add the prompts and the completion."""
    for prompt in (
        test_simple_prompt,
        test_prompt_with_arguments,
        test_prompt_with_embedded_resource,
        test_prompt_with_image,
    ):
        server.prompt()(prompt)
    server.completion()(complete)
