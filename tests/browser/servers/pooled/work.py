"""The functions that the server runs in processes."""


def square(number: int) -> int:
    """Return the square of a number."""
    return number * number


def fail(text: str) -> str:
    """Raise an exception."""
    raise LookupError(text)


class Picky:
    """An object that cannot be pickled."""

    def __reduce__(self) -> str:
        raise TypeError("it is picky")


def where() -> str:
    """Tell what kind of global scope this is."""
    import js

    return "page" if hasattr(js, "document") else "worker"
