"""The repairs that an error leads to."""

from __future__ import annotations

import pytest

from mcpframe.kit.bundle.packages.lock import Lock, Locked
from mcpframe.kit.bundle.packages.repairs import Repairs, Without

HASH = "ab" * 32
NATIVE = Locked("rapid-fuzz", "3", "rapid_fuzz-3-cp314-cp314-manylinux_2_28_x86_64.whl", HASH, "index", ("a",))
KNOWN = Locked("pyyaml", "6", "pyyaml-6-cp314-cp314-manylinux_2_28_x86_64.whl", HASH, "index", ("a",))
LOCK = Lock("", (NATIVE, KNOWN), left_out=("lupa",))


@pytest.mark.parametrize(
    "error",
    [
        "ModuleNotFoundError: No module named 'click'",
        "importing 'a' needs 'click', which is not installed. Add it",
        "click.Group is not available in this page, because the package 'click' is not part of the bundle. Add it",
        "AttributeError: module 'click' has no attribute '__version__'",
        "AttributeError: module 'click.core' has no attribute '__version__'",
    ],
)
def test_a_package_that_is_needed_is_put_back_once(error: str) -> None:
    repairs = Repairs(tries=True).after(error, LOCK)
    assert repairs is not None
    assert repairs.needed == ("click",)
    assert repairs.after(error, LOCK) is None


def test_packages_have_other_names_than_their_modules() -> None:
    repairs = Repairs(tries=True).after("No module named 'jwt'", LOCK)
    assert repairs is not None
    assert repairs.needed == ("pyjwt",)


@pytest.mark.parametrize(
    ("error", "failed"),
    [
        ("No module named 'rapid_fuzz.native'", ("rapid-fuzz", Without.NATIVE_PART)),
        ('  File "/mcpframe/packages/rapid_fuzz/a.py", line 1\nKeyError: 1', ("rapid-fuzz", Without.NATIVE_PART)),
        ("lupa.Lua is not available, because the package 'lupa' is not part of the bundle", ("lupa", Without.PACKAGE)),
    ],
)
def test_a_trial_that_fails_is_not_repeated(error: str, failed: tuple[str, Without]) -> None:
    repairs = Repairs(tries=True).after(error, LOCK)
    assert repairs is not None
    assert repairs.failed == {failed}
    assert repairs.needed == ()
    assert not repairs.may_try(*failed)
    assert repairs.after(error, LOCK) is None


@pytest.mark.parametrize("error", ["ValueError: A_KEY is not set", "No module named 'yaml.native'"])
def test_other_errors_need_no_other_packages(error: str) -> None:
    assert Repairs(tries=True).after(error, LOCK) is None
