"""The check of the copilot's address. (Its frame needs a browser.)"""

import json

import pytest

from framing import read_address, read_dialect
from mcpframe import errors

OWN = "https://app.example"


def test_a_copilot_of_another_origin_is_framed():
    for address in ("https://copilot.example/", "http://localhost:8001/copilot/", "https://app.example:8443/copilot/"):
        assert read_address(json.dumps({"url": address}), OWN) == address


@pytest.mark.parametrize(
    "address",
    ["https://app.example/copilot/", "https://APP.example:443/copilot/"],
)
def test_one_of_the_dashboards_own_origin_is_not(address):
    with pytest.raises(errors.OriginError, match="own origin"):
        read_address(json.dumps({"url": address}), OWN)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"url": 7}',
        '{"url": "javascript:alert(1)"}',
        '{"url": "https://a@app.example/"}',
        '{"url": ""}',
    ],
)
def test_what_cannot_be_framed_is_refused(text):
    with pytest.raises(errors.OriginError):
        read_address(text, OWN)


def test_a_copilot_may_have_to_be_asked_for_by_name():
    assert read_dialect('{"url": "https://copilot.example/"}') is None
    assert read_dialect('{"url": "https://copilot.example/", "dialect": "plain_mcp"}') == "plain_mcp"
