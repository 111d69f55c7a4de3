"""The check of what this page frames. (The frames need a browser.)"""

import json

import pytest

from addresses import read_server
from mcpframe import errors

OWN = "https://app.example"


def test_a_server_of_another_origin_is_framed():
    address = "https://tools.example/forecast/"
    assert read_server(json.dumps({"server": address}), OWN) == address


@pytest.mark.parametrize("address", ["https://app.example/forecast/", "https://APP.example:443/forecast/"])
def test_one_of_the_page_s_own_origin_is_not(address):
    with pytest.raises(errors.OriginError, match="own origin"):
        read_server(json.dumps({"server": address}), OWN)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"server": 7}', '{"server": ""}', '{"server": "javascript:alert(1)"}']
)
def test_what_cannot_be_framed_is_refused(text):
    with pytest.raises(errors.OriginError):
        read_server(text, OWN)
