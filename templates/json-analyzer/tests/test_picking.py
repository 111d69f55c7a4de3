"""The setup page in plain Python: which document is used if the user chooses faster than files are read."""

import asyncio
from collections import defaultdict
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

import picking
from document import Document, DocumentError

BEFORE = Document("before.json", 2, {})


@pytest.fixture
def anyio_backend():
    return "asyncio"


class Person:
    """A user of a page with fake elements."""

    def __init__(self):
        self.elements = defaultdict(MagicMock)
        self.before = asyncio.get_running_loop().create_future()
        session = SimpleNamespace(page=SimpleNamespace(element=self.elements.__getitem__))
        self.picker = picking._Picker(session, SimpleNamespace(get=lambda _: self.before))
        self.use.disabled = True

    @property
    def use(self):
        return self.elements["#use"]

    @property
    def said(self):
        return self.elements["#chosen"].text

    @property
    def chosen(self):
        return self.picker._chosen and self.picker._chosen[0].name

    def choose(self, name):
        """Choose a file; return a future of its content, for the test to set, and the task that reads it."""
        content = asyncio.get_running_loop().create_future()
        return content, asyncio.create_task(self.picker._read(name, lambda: content))


@pytest.fixture
async def person():
    return Person()


@pytest.mark.anyio
async def test_the_document_in_use_is_offered(person):
    person.before.set_result(BEFORE)
    await person.picker._offer_the_one_in_use()
    assert (person.chosen, person.use.disabled) == ("before.json", False)


@pytest.mark.anyio
async def test_without_one_in_use_there_is_nothing_to_use(person):
    person.before.set_exception(DocumentError("none"))
    await person.picker._offer_the_one_in_use()
    assert (person.chosen, person.use.disabled) == (None, True)


@pytest.mark.anyio
async def test_what_is_chosen_meanwhile_is_not_replaced_by_the_document_in_use(person):
    offering = asyncio.create_task(person.picker._offer_the_one_in_use())
    content, reading = person.choose("new.json")
    await asyncio.sleep(0)
    person.before.set_result(BEFORE)
    await offering
    assert (person.chosen, person.use.disabled) == (None, True)  # it is still being read
    content.set_result(b"{}")
    await reading
    assert (person.chosen, person.use.disabled) == ("new.json", False)


@pytest.mark.anyio
@pytest.mark.parametrize("slow", [b"[1]", b"no JSON"])
async def test_the_last_choice_counts_and_not_the_one_read_last(person, slow):
    first, reading_first = person.choose("first.json")
    await asyncio.sleep(0)
    last, reading_last = person.choose("last.json")
    await asyncio.sleep(0)
    last.set_result(b"{}")
    await reading_last
    first.set_result(slow)
    await reading_first
    assert (person.chosen, person.use.disabled) == ("last.json", False)
    assert person.said == "last.json, 2 bytes"


@pytest.mark.anyio
async def test_while_a_file_is_read_none_can_be_used(person):
    person.before.set_result(BEFORE)
    await person.picker._offer_the_one_in_use()
    content, reading = person.choose("broken.json")
    await asyncio.sleep(0)
    assert person.use.disabled
    content.set_result(b"no JSON")
    await reading
    assert not person.use.disabled
    assert person.said.startswith("broken.json is not JSON")
    assert person.said.endswith("before.json is still chosen.")


@pytest.mark.anyio
@pytest.mark.parametrize("error", [OSError("gone"), DocumentError("is none")])
async def test_after_a_failure_there_is_nothing_to_use_where_nothing_was_chosen(person, error):
    content, reading = person.choose("broken.json")
    content.set_exception(error)
    await reading
    assert (person.chosen, person.use.disabled) == (None, True)
    assert str(error) in person.said
