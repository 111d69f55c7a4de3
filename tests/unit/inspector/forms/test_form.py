"""Forms over a document without a browser: what goes in comes out, and what is wrong is said."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

import anyio
import anyio.lowlevel
import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector.forms.form import Form, FormProblem
from inspector.forms.json_values import same
from mcpframe.frame.page.session_page import Element, Page
from mcpframe.frame.storage.values import Storage
from tests.support.fake_page import FakeBrowser, FakeElement, FakeEvent, FakeFile
from tests.support.polling import until
from tests.unit.inspector.forms.schemas import JSON, any_schemas, sound_schemas

SLOW = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)


class Person:
    """Somebody at a form."""

    def __init__(self, schema: Any) -> None:
        self.browser = FakeBrowser()
        self.troubles: list[str] = []
        self.page = Page(
            self.browser, storage=cast(Storage, None), on_error=lambda title, _: self.troubles.append(title)
        )
        self.form = Form(self.page, self.page.element("#mcpframe-app"), schema, label="Arguments")

    def all(self, tag: str, inside: Element | None = None) -> list[FakeElement]:
        return cast("list[FakeElement]", (inside or self.form.box).js.querySelectorAll(tag))

    def labelled(self, name: str) -> FakeElement:
        """The control of this name."""
        ids = [label.attributes["for"] for label in self.all("label") if label.textContent == name and seen(label)]
        named = [
            element
            for tag in ("input", "textarea", "select", "button")
            for element in self.all(tag)
            if seen(element) and (element.id in ids or element.attributes.get("aria-label", "") == name)
        ]
        buttons = [
            each for each in self.all("button") if each.textContent == name and "aria-label" not in each.attributes
        ]
        (found,) = named or buttons
        return found

    def happen(self, element: FakeElement, kind: str) -> None:
        """Let an event happen, which bubbles."""
        at: FakeElement | None = element
        while at is not None:
            for target, wanted, callback in list(self.browser.listeners):
                if target is at and wanted == kind:
                    callback(FakeEvent(kind, element))
            at = at.parent
        assert self.troubles == []

    def type(self, name: str, text: str) -> None:
        element = self.labelled(name)
        element.value = text
        self.happen(element, "input")

    def choose(self, name: str, title: str) -> None:
        element = self.labelled(name)
        (element.value,) = [
            option.attributes["value"] for option in element.querySelectorAll("option") if option.textContent == title
        ]
        self.happen(element, "change")

    def check(self, name: str, checked: bool = True) -> None:
        element = self.labelled(name)
        element.checked = checked
        self.happen(element, "change")

    def press(self, name: str) -> None:
        self.happen(self.labelled(name), "click")

    def errors(self) -> list[str]:
        shown = [each for each in self.all("p") if each.id.endswith("-error") and not each.hidden and seen(each)]
        return [each.textContent for each in shown]

    def problems(self) -> list[str]:
        with pytest.raises(FormProblem) as caught:
            self.form.value()
        assert set(self.errors()) <= set(caught.value.messages)
        return caught.value.messages


def seen(element: FakeElement) -> bool:
    at: FakeElement | None = element
    while at is not None:
        if at.hidden:
            return False
        at = at.parent
    return True


def exact(value: Any) -> str:
    """A text that tells values apart, but not 1 from 1.0."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(key)}: {exact(value[key])}' for key in sorted(value))}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(exact, value))}]"
    return json.dumps(value)


OBJECT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2},
        "count": {"type": "integer", "minimum": 1, "title": "How many"},
        "mode": {"enum": ["fast", "slow"]},
        "sure": {"type": "boolean"},
        "note": {"type": ["string", "null"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "home": {"type": "object", "properties": {"street": {"type": "string"}}, "required": ["street"]},
        "id": {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
        "sizes": {"type": "array", "items": {"enum": ["S", "M", "L"]}, "uniqueItems": True},
        "map": {"type": "object", "additionalProperties": {"type": "number"}},
        "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False},
        "any": {},
        "file": {"type": "string", "contentEncoding": "base64"},
        "day": {"type": "string", "format": "date"},
    },
    "required": ["name"],
}


def test_what_is_optional_is_left_out_unless_it_is_filled() -> None:
    person = Person(OBJECT)
    assert person.problems() == ["name is required."]
    assert person.labelled("name").focused
    person.type("name", "Ada")
    assert person.form.value() == {"name": "Ada"}


def test_every_kind_is_filled() -> None:
    person = Person(OBJECT)
    person.type("name", "Ada")
    person.type("How many", " 3 ")
    person.choose("mode", "slow")
    person.choose("sure", "false")
    person.check("note is null")
    person.press("Add tags")
    person.press("Add item to tags")
    person.type("tags 1", "x")
    person.press("Add item to tags")
    person.type("tags 2", "y")
    person.press("Add home")
    person.type("street", "Main St")
    person.choose("Kind of id", "text")
    person.type("id: text", "7")
    person.press("Add sizes")
    person.check("L")
    person.check("S")
    person.press("Add map")
    person.press("Add property to map")
    person.type("map property 1 name", "pi")
    person.type("map property 1", "3.14")
    person.press("Add pair")
    person.type("pair 1", "1")
    person.type("pair 2", "b")
    person.type("any", '{"deep": [1]}')
    person.type("file", "aGk=")
    person.type("day", "2026-01-31")
    expected = {
        "name": "Ada", "count": 3, "mode": "slow", "sure": False, "note": None, "tags": ["x", "y"],
        "home": {"street": "Main St"}, "id": "7", "sizes": ["S", "L"], "map": {"pi": 3.14}, "pair": [1, "b"],
        "any": {"deep": [1]}, "file": "aGk=", "day": "2026-01-31",
    }  # fmt: skip
    assert person.form.value() == expected
    person.press("Remove tags 1")
    assert person.labelled("tags 1").value == "y"
    person.press("Leave out home")
    person.choose("Kind of id", "null")
    person.check("note is null", checked=False)
    left = {key: value for key, value in expected.items() if key not in ("home", "note")}
    assert person.form.value() == left | {"tags": ["y"], "id": None}
    person.choose("Kind of id", "text")
    assert person.form.value()["id"] == "7"  # what was typed for a kind is kept


def test_a_value_with_invisible_characters_is_shown_as_json() -> None:
    person = Person({"type": "object", "properties": {"to": {"type": "string", "default": "a\u202eb\U000e0041"}}})
    assert person.labelled("to").value == r'"a\u202eb\udb40\udc41"'
    assert person.form.value() == {"to": "a\u202eb\U000e0041"}
    person.press("Raw JSON")
    assert r"\u202e" in person.labelled("Arguments as JSON").value


def test_what_is_wrong_is_said_beside_its_field() -> None:
    person = Person(OBJECT)
    person.type("name", "A")
    person.type("How many", "three")
    person.press("Add home")
    person.press("Add pair")
    person.type("pair 2", "b")
    person.type("any", "{")
    person.type("day", "today")
    person.press("Add map")
    person.press("Add property to map")
    person.type("map property 1", "no")
    assert person.problems() == [
        "name must have at least 2 characters.",
        "How many must be a whole number.",
        "street is required.",
        "map property 1 must be a number.",
        "pair 1 is required, as something follows it.",
        "any is not JSON: expecting property name enclosed in double quotes at line 1, column 2.",
        "day must be a date such as 2026-01-31.",
    ]
    name = person.labelled("name")
    assert name.focused
    assert name.attributes["aria-invalid"] == "true"
    described = name.attributes["aria-describedby"].split()
    assert [person.form.box.element(f"#{each}").text for each in described] == [
        "name must have at least 2 characters.",
        "At least 2 characters",
        "Enter submits, Shift+Enter breaks the line",
    ]
    person.type("name", "Ada")
    assert "aria-invalid" not in name.attributes
    assert "How many must be a whole number." in person.errors()


def test_switching_to_raw_json_keeps_what_is_typed() -> None:
    person = Person(OBJECT)
    person.type("How many", "three")
    person.type("any", "{")
    person.press("Raw JSON")
    assert person.form.raw
    raw = person.labelled("Arguments as JSON")
    assert json.loads(raw.value) == {"count": "three", "any": "{"}
    person.press("Raw JSON")
    assert person.labelled("any").value == "{"  # as it was left
    person.press("Raw JSON")
    person.type("Arguments as JSON", '{"count": "four",\n "unknown": [1]')
    person.press("Raw JSON")
    assert person.form.raw
    (said,) = person.errors()
    assert said == "Arguments is not JSON: expecting ',' delimiter at line 2, column 16."
    assert raw.focused
    person.type("Arguments as JSON", '{"count": "four",\n "unknown": [1], "tags": 3}')
    assert person.errors() == []
    assert person.form.value() == {"count": "four", "unknown": [1], "tags": 3}  # raw JSON is sent as it is
    person.press("Raw JSON")
    assert person.labelled("How many").value == "four"
    assert person.labelled("tags").value == "3"
    assert person.labelled("Arguments property 1 name").value == "unknown"
    assert person.form.draft() == {"count": "four", "unknown": [1], "tags": 3}


def test_properties_that_the_schema_has_not() -> None:
    person = Person({"properties": {"a": {}}, "additionalProperties": False})
    person.form.fill({"b": 1})
    assert person.problems() == ["b must be removed: the schema has none."]
    person.press("Remove Arguments property 1")
    assert person.form.value() == {}
    person = Person({"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}})
    person.form.fill({"a": "x", "b": "y", "c": "z"})
    person.type("Arguments property 1 name", "a")
    person.type("Arguments property 2 name", "a")
    assert person.problems() == [
        'Arguments property 1 needs another name: "a" is a property of the schema.',
        'Arguments property 2 needs another name: "a" is a property of the schema.',
    ]
    assert person.form.draft() == {"a": "x", "a (again)": "y", "a (again) (again)": "z"}


def test_names_follow_when_an_item_is_removed() -> None:
    inner = {"type": "object", "properties": {"at": {"type": ["string", "null"]}}}
    items = {"anyOf": [{"type": ["string", "null"]}, {"type": "array", "items": inner}]}
    person = Person({"properties": {"list": {"type": "array", "items": items}}})
    person.form.fill({"list": ["a", "b", [{"at": "c"}]]})
    person.press("Remove list 1")
    assert person.labelled("Kind of list 2")
    (group, *_) = (each for each in person.all("legend") if each.textContent.startswith("list 2"))
    assert group.textContent == "list 2: list of object"
    person.press("Remove list 2: list of object 1")
    assert person.form.value() == {"list": ["b", []]}
    person = Person({"type": "array", "items": {"type": ["string", "null"]}})
    person.form.fill(["a", "b"])
    person.press("Remove Arguments 1")
    person.check("Arguments 1 is null")
    assert person.form.value() == [None]


def test_no_form_fits() -> None:
    person = Person({"$ref": "#/nowhere"})
    assert person.form.raw
    person.type("Arguments as JSON", "[1]")
    assert person.form.value() == [1]
    person.form.fill({"a": 1})
    assert person.form.value() == {"a": 1}


def test_a_form_of_very_many_fields_is_cut() -> None:
    member = {"type": "object", "properties": {str(at): {"type": "string"} for at in range(100)}}
    person = Person({"properties": {f"p{at}": member for at in range(15)}, "required": [f"p{at}" for at in range(15)]})
    assert len(person.all("textarea")) < 1600
    assert person.form.draft() == {f"p{at}": {} for at in range(15)}
    person = Person({"properties": {str(at): {} for at in range(1900)}})
    assert len(person.all("textarea")) == 2


def test_nothing_to_fill_in() -> None:
    person = Person({"type": "object", "properties": {}})
    assert person.form.value() == {}


def test_an_empty_text_is_kept_where_it_was_given() -> None:
    person = Person({"properties": {"a": {"type": "string"}}})
    person.form.fill({"a": ""})
    assert person.form.value() == {"a": ""}


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "integer"}, "1e3", 1000),
        ({"type": "integer"}, "5.0", 5),
        ({"type": "integer"}, "+7", 7),
        ({"type": "integer"}, "90071992547409931", 90071992547409931),
        ({"type": "number"}, ".5", 0.5),
        ({"type": "number"}, "-2.", -2.0),
        ({"type": "number"}, "1,5", "1,5"),
        ({"type": "number"}, "1e999", "1e999"),
        ({"type": "number"}, "NaN", "NaN"),
        ({"type": "number"}, "0x10", "0x10"),
    ],
)
def test_numbers_as_they_are_typed(schema: Any, text: str, value: Any) -> None:
    person = Person({"properties": {"n": schema}})
    person.type("n", text)
    assert exact(person.form.draft()) == exact({"n": value})


async def test_a_file_becomes_base64() -> None:
    person = Person({"properties": {"f": {"type": "string", "contentEncoding": "base64"}}})
    picker = person.labelled("Choose a file for f")
    picker.files.append(FakeFile("a.txt", b"hi"))
    person.happen(picker, "change")
    await until(lambda: person.form.value() == {"f": "aGk="})
    picker.files.append(FakeFile("big", bytes(100_000)))
    person.happen(picker, "change")
    await until(lambda: len(person.form.value()["f"]) > 100_000)
    assert person.labelled("f").value == ""
    assert "133,336 characters" in person.labelled("f").attributes["placeholder"]


async def test_a_file_that_is_still_being_read_is_waited_for_and_the_last_choice_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    person = Person({"properties": {"f": {"type": "string", "contentEncoding": "base64"}}})
    person.type("f", "b2xk")
    contents: dict[str, asyncio.Future[bytes]] = {}

    async def read(file: FakeFile) -> bytes:
        contents[file.name] = asyncio.get_running_loop().create_future()
        return await contents[file.name]

    monkeypatch.setattr(person.browser, "read", read)
    picker = person.labelled("Choose a file for f")
    for name in ("slow", "last"):
        picker.files.append(FakeFile(name, b""))
        person.happen(picker, "change")
        await until(lambda name=name: name in contents)
    assert person.problems() == ["f is still being read."]
    contents["slow"].set_result(b"slow")
    await anyio.wait_all_tasks_blocked()
    assert person.problems() == ["f is still being read."]
    contents["last"].set_result(b"hi")
    await until(lambda: person.errors() == [])
    assert person.form.value() == {"f": "aGk="}


async def test_a_file_that_cannot_be_read_is_no_longer_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    person = Person({"properties": {"f": {"type": "string", "contentEncoding": "base64"}}})

    async def read(file: FakeFile) -> bytes:
        raise OSError(f"{file.name} is gone")

    monkeypatch.setattr(person.browser, "read", read)
    picker = person.labelled("Choose a file for f")
    picker.files.append(FakeFile("gone", b""))
    person.happen(picker, "change")
    await until(lambda: person.troubles != [])
    assert person.form.value() == {}


async def test_completions_of_what_is_no_longer_typed_are_left_aside() -> None:
    person = Person({"properties": {"city": {"type": "string"}}})
    asked: list[tuple[str, asyncio.Future[list[str]]]] = []

    async def complete(text: str) -> list[str]:
        answer: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
        asked.append((text, answer))
        return await answer

    person.form.complete("city", complete)

    def offered() -> list[str]:
        return [option.attributes["value"] for option in person.all("option")]

    person.type("city", "P")
    await until(lambda: len(asked) == 1)
    person.type("city", "Pa")
    person.type("city", "Par")
    asked[0][1].set_result(["Prague"])
    await until(lambda: len(asked) == 2)
    assert offered() == []
    assert [text for text, _ in asked] == ["P", "Par"]
    asked[1][1].set_result(["Paris"])
    await until(lambda: offered() == ["Paris"])
    person.form.fill({"city": "x"})
    person.type("city", "xy")
    await until(lambda: len(asked) == 3)
    assert asked[2][0] == "xy"
    asked[2][1].set_result([])


@SLOW
@given(any_schemas(), st.data())
def test_any_value_comes_out_as_it_went_in(schema: Any, data: st.DataObject) -> None:
    person = Person(schema)
    value = data.draw(JSON)
    person.form.fill(value)
    assert exact(person.form.draft()) == exact(value)


@SLOW
@given(sound_schemas(), st.data())
def test_a_form_gives_what_the_schema_allows(made: Any, data: st.DataObject) -> None:
    schema, values = made
    validator = jsonschema.Draft202012Validator(schema)
    person = Person(schema)
    try:
        started = person.form.value()
    except FormProblem:
        pass  # something is to be filled in
    else:
        assert validator.is_valid(started)
    value = data.draw(values)
    person.form.fill(value)
    assert exact(person.form.draft()) == exact(value)
    if validator.is_valid(value):
        assert same(person.form.value(), value)
    else:
        person.problems()
    person.form.raw = True
    assert same(person.form.value(), value)
    person.form.raw = False
    assert exact(person.form.draft()) == exact(value)


def shown_buttons(person: Person) -> list[str]:
    return [button.textContent for button in person.all("button") if seen(button)]


@pytest.mark.parametrize(
    "schema", [{}, {"properties": {}}, {"properties": {}, "title": "nowArguments", "required": []}]
)
def test_a_tool_without_arguments_asks_for_none(schema: dict[str, Any]) -> None:
    person = Person({"type": "object", **schema})
    assert shown_buttons(person) == ["Raw JSON"]
    assert "Nothing to fill in." in person.form.box.js.textContent
    assert person.form.value() == {}
    person.form.fill({"further": 1})
    assert person.form.value() == {"further": 1}
    assert "Nothing to fill in." not in person.form.box.js.textContent


def test_properties_are_added_where_the_schema_says_so_or_another_object_holds_it() -> None:
    assert "Add property" in shown_buttons(Person({"type": "object", "additionalProperties": {"type": "string"}}))
    nested = {"type": "object", "properties": {"headers": {"type": "object"}}, "required": ["headers"]}
    assert "Add property" in shown_buttons(Person(nested))
