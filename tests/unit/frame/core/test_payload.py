"""JSON text within limits."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpframe.frame.core import payload
from mcpframe.frame.core.errors import MalformedMessage, MessageTooDeep, MessageTooLarge, PrototypeKey

ROOMY = {"max_bytes": 1 << 20, "max_nesting": 100}
keys = st.text().filter(lambda key: key not in ("__proto__", "constructor"))  # see the prototype keys below
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
)


def depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth, value), default=0)
    return 0


@given(values)
def test_what_is_encoded_is_decoded(value: Any) -> None:
    assert payload.decode(payload.encode(value), **ROOMY) == value


@given(values, st.integers(0, 6))
def test_nesting_is_judged_as_a_parser_would(value: Any, limit: int) -> None:
    text = payload.encode(value)
    try:
        payload.check_text(text, max_bytes=1 << 20, max_nesting=limit)
    except MessageTooDeep:
        assert depth(value) > limit
    else:
        assert depth(value) <= limit


@pytest.mark.parametrize("text", ['"', '"\\', '["\\"[[[[', "[" * 9, "]" * 9, "[}" * 9, '"' * 100_001, '"\\' * 50_000])
def test_what_is_not_json_never_hangs_the_nesting_check(text: str) -> None:
    with pytest.raises((MalformedMessage, MessageTooDeep)):
        payload.decode(text, max_bytes=1 << 20, max_nesting=3)


@given(st.text(st.characters(codec="utf-8")), st.integers(0, 30))
def test_bytes_are_counted_in_utf8(text: str, limit: int) -> None:
    wire = payload.encode(text)
    try:
        payload.check_text(wire, max_bytes=limit, max_nesting=100)
    except MessageTooLarge:
        assert len(wire.encode()) > limit
    else:
        assert len(wire.encode()) <= limit


def test_lone_surrogates_are_measured_not_raised() -> None:
    with pytest.raises(MessageTooLarge):
        payload.check_text("\ud800\ud800", max_bytes=5, max_nesting=1)


def test_a_hundred_levels_pass_by_default_and_one_more_does_not() -> None:
    payload.decode("[" * 100 + "]" * 100, **ROOMY)
    with pytest.raises(MessageTooDeep, match="100 levels"):
        payload.decode("[" * 101 + "]" * 101, **ROOMY)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", '{"a":NaN}', "", "nul", "9" * 5000])
def test_what_json_does_not_know_is_malformed(text: str) -> None:
    with pytest.raises(MalformedMessage):
        payload.decode(text, **ROOMY)


@pytest.mark.parametrize(
    "text",
    [
        '{"__proto__":1}',
        '[[{"a":{"__proto__":null}}]]',
        '{"\\u005f_proto__":1}',
        '{"constructor":{"prototype":{}}}',
        '{"a":[{"constructor":{"prototype":1}}]}',
    ],
)
def test_prototype_keys_are_found_however_they_are_spelt(text: str) -> None:
    with pytest.raises(PrototypeKey):
        payload.decode(text, **ROOMY)
    with pytest.raises(PrototypeKey):
        payload.check_content(text)


@pytest.mark.parametrize(
    "value",
    [{"constructor": "x"}, {"constructor": {"a": 1}}, {"prototype": {}}, ["__proto__"], {"a": "__proto__"}],
    ids=json.dumps,
)
def test_ordinary_words_pass(value: Any) -> None:
    text = payload.encode(value)
    payload.check_content(text)
    assert payload.decode(text, **ROOMY) == value


@pytest.mark.parametrize("alphabet", ["a", "é", "中", "😀"])
@pytest.mark.parametrize("at", [0, 1_048_575, 1_048_576, 1_500_000])
def test_a_lone_surrogate_is_found_wherever_it_stands(alphabet: str, at: int) -> None:
    text = alphabet * 1_500_000
    assert payload.is_well_formed(text)
    assert not payload.is_well_formed(f"{text[:at]}\udc00{text[at:]}")


def test_a_text_that_is_not_ascii_imports_no_codec() -> None:
    # A page that has just been restored from a snapshot would fetch all files of the library for one import.
    program = (
        "import sys\n"
        "from mcpframe.frame.core.payload import check_content, encode, is_well_formed\n"
        "before = set(sys.modules)\n"
        "assert is_well_formed('\\u03c0') and not is_well_formed('\\ud800')\n"
        "check_content('\"\\u03c0\"')\n"
        "encode('\\u03c0')\n"
        "print(sorted(set(sys.modules) - before))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("text", ["1.1805916207174113e+21", "1e+21", "-1e+300"])
def test_an_integer_that_javascript_writes_with_an_exponent_is_one(text: str) -> None:
    value = payload.loads(text)
    assert type(value) is int
    assert value == float(text)


@pytest.mark.parametrize("text", ["1.5", "1e21", "1e-7", "0.1", "1.0"])
def test_other_numbers_with_a_fraction_or_an_exponent_are_floats(text: str) -> None:
    assert type(payload.loads(text)) is float


@pytest.mark.parametrize(
    ("value", "expected"),
    [(10**400, True), (-(10**309), True), (10**308, False), (2**1023, False), ("9" * 400, False), (1e308, False)],
)
def test_an_integer_beyond_javascript_is_found_and_a_text_of_digits_is_none(value: Any, expected: bool) -> None:
    assert payload.overflows(json.dumps({"a": [value]})) is expected


@pytest.mark.parametrize("before", range(31))
def test_an_integer_beyond_javascript_is_found_wherever_it_stands(before: int) -> None:
    shown = '["{}", {}]'.format("x" * before, "{}")
    assert payload.overflows(shown.format("9" * 309))
    assert not payload.overflows(shown.format("9" * 308))
