"""Test modules that run inside Pyodide: those that are only about Pyodide, and what CPython runs too."""

from __future__ import annotations

import pytest

from tests.support.suites import except_for

SUITES = {
    "tests/in_pyodide/inside/test_sdk.py": 30,
    "tests/unit/frame/compat/test_third_party_placeholders.py": 18,
    "tests/unit/frame/serving/test_failures.py": 200,
    "tests/unit/frame/serving/test_lifespan.py": 30,
    "tests/unit/frame/compat/test_process.py": 10,
    "tests/unit/frame/serving/test_features.py": 14,
    "tests/unit/frame/serving/test_framed.py": 30,
    "tests/unit/frame/serving/test_uninitialized.py": 20,
    "tests/unit/frame/core/test_connection.py": 30,
    "tests/unit/frame/dialects/sep/test_messages.py": 10,
    "tests/unit/frame/core/test_allowed_origins.py": 10,
    "tests/unit/frame/session/test_session.py": 10,
    "tests/unit/frame/serving/test_server.py": 15,
    "tests/unit/frame/page/test_load.py": 10,
    "tests/unit/vectors/test_vectors.py": 200,
}
"""How many tests each has at the least: a suite that is not collected proves nothing."""
USUAL = (
    "tests/in_pyodide/inside/test_sdk.py",
    "tests/unit/frame/core/test_connection.py",
    "tests/unit/frame/serving/test_server.py",
)
"""Those of the default suite; the others differ from CPython in nothing that these do not show."""


@pytest.mark.parametrize("path", except_for(SUITES, *USUAL))
def test_suite(selenium, path):
    result = selenium.python(
        f"import json; from tests.in_pyodide.inside import runner; json.dumps(await runner.run({path!r}))"
    )
    assert not result["failures"], "\n\n".join(result["failures"])
    assert len(result["outcomes"]) >= SUITES[path]
    assert set(result["outcomes"].values()) == {"passed"}
