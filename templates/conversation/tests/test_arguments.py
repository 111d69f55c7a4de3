"""The form of a tool's arguments."""

import pytest

from arguments import Field, arguments_of, fields_of

SCHEMA = {
    "type": "object",
    "required": ["place"],
    "properties": {
        "place": {"type": "string", "description": "A town"},
        "days": {"type": "integer", "default": 7, "title": "Days"},
        "least": {"type": "number"},
        "more": {"type": "object"},
    },
}


def test_texts_and_numbers_have_fields():
    assert fields_of(SCHEMA) == [
        Field("place", "text", "A town", True, ""),
        Field("days", "number", "Days", False, "7"),
        Field("least", "number", "least", False, ""),
    ]


def test_arguments_have_the_types_of_the_schema():
    assert arguments_of(SCHEMA, {"place": " Wien ", "days": "3", "least": "0.5"}) == {
        "place": "Wien",
        "days": 3,
        "least": 0.5,
    }
    assert arguments_of(SCHEMA, {"place": "Wien", "days": ""}) == {"place": "Wien"}


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"place": " "}, "A town: enter a value"),
        ({"place": "Wien", "days": "two"}, "Days: 'two' is not a whole number"),
    ],
)
def test_what_cannot_be_is_one_sentence(values, told):
    with pytest.raises(ValueError, match=told):
        arguments_of(SCHEMA, values)
