"""Functions for the tests of pools."""

from __future__ import annotations

import json
import logging
import os
import sys
import time

from mcpframe import in_process

marks: list[str] = []


def double(number: int) -> int:
    """Return twice a number, and the work on it in two ways."""
    print(f"doubling {number}")
    logging.getLogger("tests.functions").warning("doubled %d", number)
    return number * 2


def nap(seconds: float) -> float:
    """Sleep, as a function that computes does nothing else."""
    time.sleep(seconds)
    return seconds


def fail(text: str) -> None:
    """Raise an exception."""
    raise LookupError(text)


def leave() -> None:
    """End the process."""
    os._exit(3)


def chatter() -> str:
    """Post texts to the page, as a library in a worker may."""
    assert sys.__stdout__
    for text in ("", "hello", "[]", "7", '{"done": 1}'):
        sys.__stdout__.write(json.dumps(text) + "\n")
    return "done"


def unsendable() -> object:
    """Return an object that cannot be pickled."""
    return lambda: None


def mark(text: str) -> list[str]:
    """Note a text in this process, and return all of them."""
    marks.append(text)
    return marks


def number_of_process() -> int:
    """Return the number of this process."""
    return os.getpid()


@in_process
def add(one: int, *, other: int = 1) -> int:
    """Add two numbers."""
    return one + other
