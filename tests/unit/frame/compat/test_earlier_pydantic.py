"""Models that were written for pydantic as it was before."""

from __future__ import annotations

from typing import Annotated, Any, ForwardRef

import pytest
from pydantic import BaseModel, Field

from mcpframe.frame.compat.earlier_pydantic import as_before


def settings() -> type[BaseModel]:
    """A class as the settings of fastmcp before 2.12 are."""
    factory: Any = Field(default_factory=lambda: ["made"], description="Some names.")
    namespace = {"__annotations__": {"names": Annotated[list[str], factory]}, "__module__": __name__, "names": []}
    return type("Settings", (BaseModel,), namespace)


def test_a_default_wins_over_a_factory() -> None:
    with as_before():
        made = settings()
    assert made().model_dump() == {"names": []}
    assert made.model_json_schema()["properties"]["names"]["description"] == "Some names."


def test_other_models_are_as_they_are() -> None:
    with as_before():

        class Made(BaseModel):
            names: Annotated[list[str], Field(default_factory=lambda: ["made"])]
            number: int = Field(default=3, ge=1)

    assert Made.model_validate({}).model_dump() == {"names": ["made"], "number": 3}


def test_afterwards_both_are_an_error() -> None:
    with as_before():
        pass
    with pytest.raises(TypeError, match="both default and default_factory"):
        settings()


def test_annotations_are_evaluated_by_the_earlier_name() -> None:
    with as_before():
        from pydantic._internal import _typing_extra

        evaluate = _typing_extra.eval_type_backport  # type: ignore[attr-defined]
        assert evaluate(ForwardRef("list[Known]"), {"Known": int}, {}) == list[int]
        with pytest.raises(NameError):
            evaluate(ForwardRef("Unknown"), {}, {})
