"""Tools that ask the client's user or model before they answer.

The SDK asks as the client's protocol revision has it: with a request of its own up to 2025-11-25, with a result that
requires input from 2026-07-28 on.
"""

from typing import Annotated

from mcp.server.mcpserver import AcceptedElicitation, Context, Elicit, ElicitationResult, Resolve, Sample
from mcp_types import CreateMessageResult, SamplingMessage, TextContent
from pydantic import BaseModel, Field

from mcpframe import FrameServer


class Person(BaseModel):
    """Who the user is."""

    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


class Defaults(BaseModel):
    """A default of every primitive type."""

    name: str = Field("John Doe", description="User name")
    age: int = Field(30, description="User age")
    score: float = Field(95.5, description="User score")
    status: str = Field(
        "active", description="User status", json_schema_extra={"enum": ["active", "inactive", "pending"]}
    )
    verified: bool = Field(True, description="Verification status")


def titled(**titles: str) -> list[dict[str, str]]:
    """Return the options of a choice, each with its title."""
    return [{"const": value, "title": title} for value, title in titles.items()]


OPTIONS = ["option1", "option2", "option3"]


class Choices(BaseModel):
    """Every way to offer a choice."""

    untitledSingle: str = Field(  # noqa: N815  (the suite's names)
        description="One of three", json_schema_extra={"enum": OPTIONS}
    )
    titledSingle: str = Field(  # noqa: N815
        description="One of three, with titles",
        json_schema_extra={"oneOf": titled(value1="First Option", value2="Second Option", value3="Third Option")},
    )
    legacyEnum: str = Field(  # noqa: N815
        description="One of three, with titles in the old way",
        json_schema_extra={"enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
    )
    untitledMulti: list[str] = Field(  # noqa: N815
        description="Any of three", json_schema_extra={"items": {"type": "string", "enum": OPTIONS}}
    )
    titledMulti: list[str] = Field(  # noqa: N815
        description="Any of three, with titles",
        json_schema_extra={
            "items": {"anyOf": titled(value1="First Choice", value2="Second Choice", value3="Third Choice")}
        },
    )


async def ask_the_model(prompt: str) -> Sample:
    """Pass the prompt on."""
    return Sample([SamplingMessage(role="user", content=TextContent(type="text", text=prompt))], max_tokens=100)


async def test_sampling(prompt: str, answer: Annotated[CreateMessageResult, Resolve(ask_the_model)]) -> str:
    """Ask the client's model."""
    return f"LLM response: {answer.content.text if isinstance(answer.content, TextContent) else answer.content.type}"


async def ask_who(message: str) -> Elicit[Person]:
    """Ask the user who they are."""
    return Elicit(message, Person)


async def test_elicitation(message: str, who: Annotated[ElicitationResult[Person], Resolve(ask_who)]) -> str:
    """Ask the user for a name and an address."""
    return f"User response: {outcome(who)}"


async def ask_with_defaults() -> Elicit[Defaults]:
    """Ask the user for what has a default already."""
    return Elicit("Please review the defaults", Defaults)


async def test_elicitation_sep1034_defaults(
    answer: Annotated[ElicitationResult[Defaults], Resolve(ask_with_defaults)],
) -> str:
    """Ask the user, with a default of every primitive type."""
    return f"Elicitation completed: {outcome(answer)}"


async def ask_for_choices() -> Elicit[Choices]:
    """Ask the user to choose."""
    return Elicit("Please choose", Choices)


async def test_elicitation_sep1330_enums(
    answer: Annotated[ElicitationResult[Choices], Resolve(ask_for_choices)],
) -> str:
    """Ask the user to choose, in every way to offer a choice."""
    return f"Elicitation completed: {outcome(answer)}"


def outcome(answer: ElicitationResult[BaseModel]) -> str:
    """Say what a user did, and what they wrote."""
    content = answer.data.model_dump_json() if isinstance(answer, AcceptedElicitation) else "{}"
    return f"action={answer.action}, content={content}"


async def greet_the_model() -> Sample:
    """Say hello."""
    return await ask_the_model("Hello")


async def test_missing_capability(answer: Annotated[CreateMessageResult, Resolve(greet_the_model)]) -> str:
    """Need the client's model: a client without one is refused."""
    return "The client can sample."


async def ask_for_a_name() -> Elicit[Person]:
    """Ask in the middle of the work."""
    return Elicit("Who are you?", Person)


async def test_streaming_elicitation(
    ctx: Context, who: Annotated[ElicitationResult[Person], Resolve(ask_for_a_name)]
) -> str:
    """Report progress and ask the user, in one call."""
    await ctx.report_progress(1, 1, "asked")
    return f"User response: {outcome(who)}"


def register(server: FrameServer) -> None:
    """Add the tools."""
    for tool in (
        test_sampling,
        test_elicitation,
        test_elicitation_sep1034_defaults,
        test_elicitation_sep1330_enums,
        test_missing_capability,
        test_streaming_elicitation,
    ):
        server.add_tool(tool)
