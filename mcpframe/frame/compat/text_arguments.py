"""Arguments that may be texts stay the texts that were sent.

The official SDK reads a text as JSON unless the parameter is exactly `str`, for clients that send lists as texts: for
`body: str | None` the text `{"a": 1}` becomes a dict, which is refused, and the text `null` becomes None.
"""

from __future__ import annotations

from functools import cache, wraps
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from mcpframe.frame.compat import sdk


@cache
def keep_texts() -> None:
    """Let servers of the official SDK keep such texts. Does nothing when repeated."""
    metadata = sdk.server_part("utilities.func_metadata").FuncMetadata
    read = metadata.pre_parse_json

    @wraps(read)
    def pre_parse_json(self: Any, data: dict[str, Any]) -> dict[str, Any]:
        fields = self.arg_model.model_fields
        names = {key for name, field in fields.items() if _takes_text(field.annotation) for key in (name, field.alias)}
        texts = {key: value for key, value in data.items() if isinstance(value, str) and key in names}
        return {**read(self, data), **texts}

    metadata.pre_parse_json = pre_parse_json


def _takes_text(annotation: Any) -> bool:
    if get_origin(annotation) in (Union, UnionType):
        return any(map(_takes_text, get_args(annotation)))
    if get_origin(annotation) is Annotated:
        return _takes_text(get_args(annotation)[0])
    return annotation is str
