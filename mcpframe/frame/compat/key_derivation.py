"""`hashlib.pbkdf2_hmac`, which Pyodide lacks: CPython has it from OpenSSL alone, and Pyodide 314 is without."""

from __future__ import annotations

import hashlib
import operator
from typing import Any

_MOST: int = 2**31 - 1
_INNER = bytes(byte ^ 0x36 for byte in range(256))
_OUTER = bytes(byte ^ 0x5C for byte in range(256))


def pbkdf2_hmac(hash_name: str, password: Any, salt: Any, iterations: int, dklen: int | None = None) -> bytes:
    """Derive a key from a password, as PKCS #5 (RFC 8018) describes it.

    Args:
        hash_name: The hash function of HMAC.
        password: Bytes.
        salt: Bytes.
        iterations: How often the hash function is applied.
        dklen: The length of the key in bytes; by default that of a hash.

    Raises:
        TypeError: for arguments of other types.
        ValueError: for an unknown hash function, or a number below 1.
        OverflowError: for a larger number than OpenSSL takes.
    """
    if not isinstance(hash_name, str):
        raise TypeError(hash_name)
    hashed = hashlib.new(hash_name)
    size, block = hashed.digest_size, hashed.block_size
    password, salt = bytes(memoryview(password)), bytes(memoryview(salt))
    length = size if dklen is None else _number("key length", dklen)
    iterations = _number("iteration value", iterations)
    if not size:
        raise ValueError(f"unsupported hash type {hash_name}")
    if len(password) > block:
        password = hashlib.new(hash_name, password).digest()
    password = password.ljust(block, b"\0")
    inner, outer = (
        hashlib.new(hash_name, password.translate(_INNER)),
        hashlib.new(hash_name, password.translate(_OUTER)),
    )

    def keyed(message: bytes, inner: Any = inner.copy, outer: Any = outer.copy) -> bytes:
        first, second = inner(), outer()
        first.update(message)
        second.update(first.digest())
        return second.digest()  # type: ignore[no-any-return]

    key, number = b"", int.from_bytes
    for index in range(1, -(-length // size) + 1):
        last = keyed(salt + index.to_bytes(4, "big"))
        mixed = number(last, "big")
        for _ in range(iterations - 1):
            last = keyed(last)
            mixed ^= number(last, "big")
        key += mixed.to_bytes(size, "big")
    return key[:length]


def _number(what: str, value: int) -> int:
    value = operator.index(value)
    if value > _MOST:
        raise OverflowError(f"{what} is too great.")
    if value < 1:
        raise ValueError(f"{what} must be greater than 0.")
    return value
