"""The deadline of an import during a build is the stated one, for a console script as well."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle import server_import as inspect
from mcpframe.kit.bundle.assembly.layers import SERVER_PATH, Layer, Layers
from mcpframe.kit.bundle.pyodide.job import JobTimeout


@pytest.mark.parametrize("settings", [{}, {"program": "weather"}])
def test_it_ends_after_the_stated_time(
    settings: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    limits: list[float] = []

    class Hanging:
        identity = "hanging"

        def run(self, *_: object, timeout: float, **__: Any) -> Any:
            limits.append(timeout)
            raise JobTimeout("import_server", timeout)

    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path))
    layers = Layers({}, {}, (Layer("server", SERVER_PATH, {"weather.py": b""}),), {}, {})
    with pytest.raises(BuildError, match="more than 7 seconds"):
        inspect.compile_and_import(
            "weather:main",
            SimpleNamespace(version="0"),  # type: ignore[arg-type]
            layers,
            [Hanging()],
            origin=tmp_path,
            kind="server",
            settings=settings,
            code={},
            wheels={},
            timeout=7,
        )
    # Python interrupts the import itself at 7 seconds; its process gets a little longer, to say where it stood.
    assert limits == [7 + inspect._ENDING]
