"""The dialect's part in the suites that all dialects pass: see `tests/vectors/parts.py`."""

from __future__ import annotations

from tests.support.driving import REQUEST
from tests.support.toy_dialects.toy.roles import HOST, PAGE
from tests.vectors.parts import Parts

PARTS = Parts(
    roles={"inner transport": PAGE, "outer transport": HOST},
    messages=(
        {"toy": "hello", "version": 1},
        {"toy": "hello", "version": 2},
        {"toy": "welcome", "version": 1},
        {"toy": "ready"},
        {"toy": "mail", "mail": REQUEST},
    ),
    call={"toy": "mail", "mail": REQUEST},
    owns=lambda data: "toy" in data,
    clone_form="(odd) => ({ toy: 'mail', mail: odd })",
    json_rpc=lambda message: message.get("mail") if isinstance(message, dict) else None,
)
