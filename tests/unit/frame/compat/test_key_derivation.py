"""`pbkdf2_hmac` of a page, beside OpenSSL's."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpframe.frame.compat import in_pyodide
from mcpframe.frame.compat.key_derivation import pbkdf2_hmac

pytestmark = pytest.mark.skipif(in_pyodide(), reason="there is no other one")
NAMES = ("md5", "sha1", "sha224", "sha256", "SHA384", "sha512", "sha3_256", "blake2b")


@settings(max_examples=200)
@given(
    st.sampled_from(NAMES),
    st.binary(max_size=300),
    st.binary(max_size=40),
    st.integers(1, 20),
    st.none() | st.integers(1, 200),
)
def test_keys_are_those_of_openssl(
    name: str, password: bytes, salt: bytes, iterations: int, length: int | None
) -> None:
    expected = hashlib.pbkdf2_hmac(name, password, salt, iterations, length)
    assert pbkdf2_hmac(name, password, salt, iterations, length) == expected
    assert pbkdf2_hmac(name, bytearray(password), memoryview(salt), iterations=iterations, dklen=length) == expected


@pytest.mark.parametrize(
    "arguments",
    [
        ("nothing", b"p", b"s", 1),
        ("sha256", "p", b"s", 1),
        ("sha256", b"p", "s", 1),
        (b"sha256", b"p", b"s", 1),
        ("sha256", b"p", b"s", 0),
        ("sha256", b"p", b"s", -1),
        ("sha256", b"p", b"s", 1.0),
        ("sha256", b"p", b"s", 2**40),
        ("sha256", b"p", b"s", 1, 0),
        ("sha256", b"p", b"s", 1, 2**40),
        ("shake_128", b"p", b"s", 1),
    ],
)
def test_bad_arguments_are_errors_of_the_same_type(arguments: tuple[Any, ...]) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError)) as expected:
        hashlib.pbkdf2_hmac(*arguments)
    with pytest.raises((TypeError, ValueError, OverflowError)) as found:
        pbkdf2_hmac(*arguments)
    assert issubclass(expected.type, found.type)  # OpenSSL has a type of its own for unknown hashes
