"""Data that is nested deep: in Pyodide the parsers, and `repr`, end Python where CPython raises RecursionError."""

from __future__ import annotations

STORAGE = """
import json
from mcpframe.frame.core.errors import StorageError
from mcpframe.frame.storage.values import MAX_NESTING, MemoryRecords, Storage
from tests.support.fake_storage import FakeTexts

def nested(levels):
    value = []
    for _ in range(levels - 1):
        value = [value]
    return value

async def outcome(use):
    try:
        await use
    except StorageError:
        return "refused"
    return "done"

records = MemoryRecords()
texts = FakeTexts(**{"mcpframe:1:id:old": '{"a":' * 100_000 + "1" + "}" * 100_000})
await records.set("id", "new", "[" * 1_000_000)
storage = Storage("id", texts, records)
told = [await outcome(storage.get(key)) for key in ("old", "new")]
for levels in (MAX_NESTING, MAX_NESTING + 1, 900):
    told.append(await outcome(storage.set("mine", nested(levels))))
told.append(await outcome(storage.get("mine")))
json.dumps(told)
"""


def test_what_is_stored_too_deep_is_refused_and_python_lives(selenium):
    assert selenium.python(STORAGE) == ["refused", "refused", "done", "refused", "refused", "done"]
