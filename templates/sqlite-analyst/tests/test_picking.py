"""The setup page in plain Python: no file is lost that the user chooses while others are read."""

import asyncio
from collections import defaultdict
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

import picking
from shelf import Shelf
from workspace import Workspace

CITIES = b"city,people\nOslo,700000\n"


@pytest.fixture
def anyio_backend():
    return "asyncio"


class Person:
    """A user of a page with fake elements."""

    def __init__(self):
        self.elements = defaultdict(MagicMock)
        self.elements["#writable"].checked = False
        self.before = asyncio.get_running_loop().create_future()
        shelf = MagicMock(Shelf, get=lambda _: self.before)
        shelf.files.return_value = ["before.csv"]
        session = SimpleNamespace(page=SimpleNamespace(element=self.elements.__getitem__))
        self.picker = picking._Picker(session, shelf)

    @property
    def chosen(self):
        return list(self.picker._files)

    @property
    def tables(self):
        return [table for _, table, _ in self.picker._workspace.tables()]

    def choose(self, name):
        """Choose a file; return a future of its content, for the test to set, and the task that reads it."""
        content = asyncio.get_running_loop().create_future()
        return content, asyncio.create_task(self.picker._read([(name, lambda: content)]))


@pytest.fixture
async def person():
    return Person()


@pytest.fixture
def before():
    workspace = Workspace()
    workspace.add("before.csv", CITIES)
    return workspace


@pytest.mark.anyio
async def test_what_is_chosen_meanwhile_is_added_to_the_files_before(person, before):
    offering = asyncio.create_task(person.picker._offer_those_before())
    await asyncio.sleep(0)
    content, reading = person.choose("new.csv")
    content.set_result(CITIES)
    person.elements["#writable"].checked = True
    await asyncio.sleep(0)
    person.before.set_result(before)
    await asyncio.gather(offering, reading)
    assert person.chosen == ["before.csv", "new.csv"]
    assert sorted(person.tables) == ["before", "new"]
    assert person.elements["#writable"].checked


@pytest.mark.anyio
async def test_the_files_before_do_not_replace_what_was_chosen_first(person, before):
    content, reading = person.choose("new.csv")
    await asyncio.sleep(0)
    offering = asyncio.create_task(person.picker._offer_those_before())
    content.set_result(CITIES)
    person.before.set_result(before)
    await asyncio.gather(offering, reading)
    assert (person.chosen, person.tables) == (["new.csv"], ["new"])


@pytest.mark.anyio
async def test_a_file_that_cannot_be_read_is_said_and_the_next_one_is_read(person):
    content, reading = person.choose("gone.csv")
    content.set_exception(OSError("it is gone"))
    await reading
    assert person.elements["#status"].text == "gone.csv cannot be read: it is gone."
    content, reading = person.choose("new.csv")
    content.set_result(CITIES)
    await reading
    assert person.chosen == ["new.csv"]
