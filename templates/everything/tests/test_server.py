"""The server in plain Python, with the official client in memory; the content of every answer is checked."""

import base64
import json

import pytest
from mcp import Client
from mcp.client.subscriptions import PromptsListChanged, ToolsListChanged
from mcp_types import (
    CreateMessageResult,
    ElicitResult,
    ListRootsResult,
    PromptReference,
    Root,
    TextContent,
)

import schemas
import server
from samples import PNG, WAV

ERAS = ("2026-07-28", "legacy")


@pytest.fixture
def anyio_backend():
    return "asyncio"


class Person:
    """Answers the server's requests to a client, and records them."""

    def __init__(self, **content):
        self.content = content
        self.asked = []

    async def elicit(self, context, params):
        self.asked.append(params)
        return ElicitResult(action="accept", content=self.content)

    async def sample(self, context, params):
        self.asked.append(params)
        return CreateMessageResult(role="assistant", model="m", content=TextContent(type="text", text="Paris"))

    async def roots(self, context):
        return ListRootsResult(roots=[Root(uri="file:///here", name="here")])


def connect(era="2026-07-28", person=None, **options):
    if person is not None:
        options |= {
            "elicitation_callback": person.elicit,
            "sampling_callback": person.sample,
            "list_roots_callback": person.roots,
        }
    return Client(server.server, mode=era, **options)


async def text_of(client, tool, arguments=None):
    result = await client.call_tool(tool, arguments or {})
    assert not result.is_error, result.content
    return result.content[0].text


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_everything_has_a_description(era):
    async with connect(era) as client:
        listed = [
            *(await client.list_tools()).tools,
            *(await client.list_resources()).resources,
            *(await client.list_resource_templates()).resource_templates,
            *(await client.list_prompts()).prompts,
        ]
    assert len(listed) > 30
    assert all(each.description for each in listed)


@pytest.mark.anyio
async def test_each_kind_of_content():
    async with connect() as client:
        assert await text_of(client, "test_simple_text") == "This is a simple text response for testing."
        [image] = (await client.call_tool("test_image_content")).content
        assert (image.mime_type, base64.b64decode(image.data)) == ("image/png", PNG)
        [sound] = (await client.call_tool("test_audio_content")).content
        assert (sound.mime_type, base64.b64decode(sound.data)) == ("audio/wav", WAV)
        [embedded] = (await client.call_tool("test_embedded_resource")).content
        assert embedded.resource.uri == "test://embedded-resource"
        assert embedded.resource.text == "This is an embedded resource content."
        text, image, embedded = (await client.call_tool("test_multiple_content_types")).content
        assert text.text == "Multiple content types test:"
        assert image.mime_type == "image/png"
        assert json.loads(embedded.resource.text) == {"test": "data", "value": 123}


@pytest.mark.anyio
async def test_an_error_is_for_the_model():
    async with connect() as client:
        result = await client.call_tool("test_error_handling")
    assert result.is_error
    assert result.content[0].text.endswith(": This tool intentionally returns an error for testing")


@pytest.mark.anyio
async def test_progress():
    seen = []

    async def note(done, total, message):
        seen.append((done, total))

    async with connect() as client:
        await client.call_tool("test_tool_with_progress", progress_callback=note)
    assert seen == [(0, 100), (50, 100), (100, 100)]


@pytest.mark.anyio
@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_log_messages():
    said = []

    async def note(params):
        said.append((params.level, params.data))

    async with connect("legacy", logging_callback=note) as client:
        await client.call_tool("test_tool_with_logging")
    assert said == [
        ("info", "Tool execution started"),
        ("info", "Tool processing data"),
        ("info", "Tool execution completed"),
    ]


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_the_model_is_asked(era):
    person = Person()
    async with connect(era, person) as client:
        assert await text_of(client, "test_sampling", {"prompt": "Which city?"}) == "LLM response: Paris"
    [asked] = person.asked
    assert asked.max_tokens == 100


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_the_user_is_asked(era):
    person = Person(username="ann", email="ann@example.com")
    async with connect(era, person) as client:
        answer = await text_of(client, "test_elicitation", {"message": "Who?"})
    assert answer == 'User response: action=accept, content={"username":"ann","email":"ann@example.com"}'
    [asked] = person.asked
    assert asked.message == "Who?"


@pytest.mark.anyio
async def test_questions_have_defaults_and_choices():
    person = Person()
    async with connect(person=person) as client:
        answer = await text_of(client, "test_elicitation_sep1034_defaults")
        assert '"name":"John Doe","age":30,"score":95.5,"status":"active","verified":true' in answer
        person.content = {"untitledSingle": "option1", "titledSingle": "value1", "legacyEnum": "opt1"}
        person.content |= {"untitledMulti": ["option1"], "titledMulti": ["value1"]}
        assert "action=accept" in await text_of(client, "test_elicitation_sep1330_enums")
    defaults, choices = (asked.requested_schema["properties"] for asked in person.asked)
    assert {name: field["default"] for name, field in defaults.items()} == {
        "name": "John Doe",
        "age": 30,
        "score": 95.5,
        "status": "active",
        "verified": True,
    }
    assert choices["legacyEnum"]["enumNames"] == ["Option One", "Option Two", "Option Three"]
    assert choices["titledMulti"]["items"]["anyOf"][0] == {"const": "value1", "title": "First Choice"}


@pytest.mark.anyio
async def test_input_in_rounds():
    person = Person(name="Ann", ok=True, color="red", context="a test")
    async with connect(person=person) as client:
        answers = {
            "elicitation": "Hello, Ann!",
            "sampling": "Paris",
            "list_roots": "Roots: file:///here",
            "request_state": "state-ok",
            "multiple_inputs": "Answered: client_roots, greeting, user_name.",
            "multi_round": "Ann likes red.",
            "tampered_state": "The state is untouched.",
            "capabilities": "Answered: client_roots, greeting, user_name.",
        }
        for name, answer in answers.items():
            assert await text_of(client, f"test_input_required_result_{name}") == answer
        prompt = await client.get_prompt("test_input_required_result_prompt")
        assert prompt.messages[0].content.text == "Consider this: a test"


@pytest.mark.anyio
async def test_resources():
    async with connect() as client:
        [text] = (await client.read_resource("test://static-text")).contents
        assert text.text == "This is the content of the static text resource."
        [picture] = (await client.read_resource("test://static-binary")).contents
        assert base64.b64decode(picture.blob) == PNG
        [data] = (await client.read_resource("test://template/123/data")).contents
        assert json.loads(data.text) == {"id": "123", "templateTest": True, "data": "Data for ID: 123"}


@pytest.mark.anyio
async def test_prompts_and_completion():
    async with connect() as client:
        [simple] = (await client.get_prompt("test_simple_prompt")).messages
        assert simple.content.text == "This is a simple prompt for testing."
        arguments = {"arg1": "hello", "arg2": "world"}
        [filled] = (await client.get_prompt("test_prompt_with_arguments", arguments)).messages
        assert filled.content.text == "Prompt with arguments: arg1='hello', arg2='world'"
        uri = {"resourceUri": "test://mine"}
        resource, text = (await client.get_prompt("test_prompt_with_embedded_resource", uri)).messages
        assert (resource.content.resource.uri, text.content.text) == (
            "test://mine",
            "Please process the embedded resource above.",
        )
        picture, text = (await client.get_prompt("test_prompt_with_image")).messages
        assert (picture.content.type, text.content.text) == ("image", "Please analyze the image above.")
        ref = PromptReference(name="test_prompt_with_arguments")
        completed = await client.complete(ref, {"name": "arg1", "value": "test"})
    assert completed.completion.values == ["test-one", "test-two", "testing"]


@pytest.mark.anyio
async def test_a_schema_is_listed_as_it_was_written():
    async with connect() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools["json_schema_2020_12_tool"].input_schema == schemas.SCHEMA
        header = tools["test_x_mcp_header"].input_schema["properties"]["region"]["x-mcp-header"]
        assert header == "Region"
        called = {"name": "Ann", "address": {"city": "Oslo"}, "email": "a@b.example"}
        assert await text_of(client, "json_schema_2020_12_tool", called) == "Ann is at Oslo: a@b.example"


@pytest.mark.anyio
async def test_lists_change():
    async with (
        connect() as client,
        client.listen(tools_list_changed=True, prompts_list_changed=True) as events,
    ):
        heard = aiter(events)
        await client.call_tool("test_trigger_tool_change")
        assert isinstance(await anext(heard), ToolsListChanged)
        await client.call_tool("test_trigger_prompt_change")
        assert isinstance(await anext(heard), PromptsListChanged)
