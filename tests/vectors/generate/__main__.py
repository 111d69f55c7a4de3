"""`python -m tests.vectors.generate [--check]`: write the generated vectors, or say which are stale."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.vectors.cases import VECTORS, files
from tests.vectors.generate import generated


def main(arguments: list[str]) -> str | None:
    """Write the files, or compare them; return what is wrong."""
    made = generated()
    stale = [path for path, text in made.items() if not path.is_file() or path.read_text("utf-8") != text]
    left: list[Path] = [
        path
        for dialect in {path.parent.name for path in made}
        for path in files(dialect)
        if path not in made and '"generated": true' in path.read_text("utf-8")
    ]
    if arguments == ["--check"]:
        names = ", ".join(str(path.relative_to(VECTORS)) for path in [*stale, *left])
        return f"stale: {names}; write them with: python3 -m tests.vectors.generate" if names else None
    for path in stale:
        path.write_text(made[path], "utf-8")
        print(f"{path.relative_to(VECTORS)}: written")
    for path in left:
        path.unlink()
        print(f"{path.relative_to(VECTORS)}: removed")
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
