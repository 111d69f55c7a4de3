"""Names: sanitised, unique, short enough, and resolved by the table alone."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcpframe.hub.core.names import TabNumbers, ToolKey, ToolNames, address_of, domain_of, sanitised

VALID = re.compile(r"[a-zA-Z0-9_]+")
KEYS = st.builds(
    ToolKey,
    st.text("a.-_:/é1", min_size=1, max_size=80),
    st.text("ab.-_1é", min_size=1, max_size=80) | st.text(min_size=1, max_size=8),
    st.none() | st.integers(1, 30),
)


def test_a_name_has_the_domain_the_tab_and_the_tool() -> None:
    names = ToolNames()
    assert names.name(ToolKey("shop.example", "get-cart", 7), 1) == "website_tool_shop_example_tab1_get_cart"
    assert names.name(ToolKey("shop.example", "get-cart")) == "website_tool_shop_example_get_cart"
    assert sanitised("a.b-c:d é") == "a_b_c_d__"


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://Shop.Example/cart?a=1#b", "shop.example"),
        ("https://shop.example:8443/", "shop.example"),
        ("http://localhost/", "localhost:80"),
        ("http://localhost:3000/x", "localhost:3000"),
        ("http://127.0.0.1:8000", "localhost:8000"),
        ("http://[::1]:8000", "localhost:8000"),
        ("https://[2001:db8::1]/", "[2001:db8::1]"),
        ("https://user:word@bank.example/", "bank.example"),
        ("https://bank.example@evil.example/", "evil.example"),
        ("file:///home/x.html", "unknown"),
        ("about:blank", "unknown"),
        ("https://[bad", "unknown"),
        ("http://a:99999999/", "unknown"),
        ("", "unknown"),
        (None, "unknown"),
    ],
)
def test_the_domain_of_an_address(url: str | None, domain: str) -> None:
    assert domain_of(url) == domain


def test_where_a_domain_is_opened() -> None:
    assert address_of("shop.example") == "https://shop.example"
    assert address_of("localhost:3000") == "http://localhost:3000"
    assert address_of("unknown") is None
    for url in ("https://shop.example", "http://localhost:3000", "https://[2001:db8::1]"):
        assert domain_of(address_of(domain_of(url))) == domain_of(url)


def test_what_looks_alike_when_sanitised_has_names_of_its_own() -> None:
    names = ToolNames()
    keys = [ToolKey("a.b.com", "x-y", 1), ToolKey("a_b.com", "x-y", 2), ToolKey("a.b.com", "x_y", 1)]
    keys += [ToolKey("a.b.com", "tab1_x_y"), ToolKey("a", "b_com_tab1_x_y")]
    given_out = [names.name(key, 1) for key in keys]
    assert len(set(given_out)) == len(keys)
    assert [names.find(name) for name in given_out] == keys
    assert given_out[0] == "website_tool_a_b_com_tab1_x_y"
    assert all(name.startswith("website_tool_a_b_com_") for name in given_out)


@pytest.mark.parametrize("longest", [64, 128])
def test_a_long_name_is_cut_and_still_unique(longest: int) -> None:
    names = ToolNames(longest=longest)
    keys = [ToolKey("d.example", "t" * 200 + str(number), 1) for number in range(20)]
    given_out = [names.name(key, 1) for key in keys]
    assert len(set(given_out)) == 20
    assert {len(name) for name in given_out} == {longest}
    assert [names.find(name) for name in given_out] == keys


def test_names_of_tools_that_are_gone_are_kept_for_a_while_and_never_mean_another_one() -> None:
    names = ToolNames(most_retired=2)
    keys = [ToolKey("d", str(number)) for number in range(4)]
    first = names.name(keys[0])
    names.retire(keys[:1])
    assert names.find(first) == keys[0]
    assert names.name(keys[0]) == first  # it is back
    for key in keys[1:]:
        names.name(key)
    names.retire(keys[1:])
    assert [names.find(f"website_tool_d_{number}") for number in range(4)] == [keys[0], None, keys[2], keys[3]]
    assert len(names) == 3


def test_names_that_are_too_short_to_be_told_apart_are_an_error() -> None:
    with pytest.raises(ValueError, match="40"):
        ToolNames(longest=20)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(KEYS, max_size=40), st.sampled_from([40, 64, 128]))
def test_every_key_has_a_name_of_its_own(keys: list[ToolKey], longest: int) -> None:
    names = ToolNames(longest=longest)
    found = {key: names.name(key, key.tab) for key in keys}
    assert len(set(found.values())) == len(found)
    for key, name in found.items():
        assert VALID.fullmatch(name)
        assert len(name) <= longest
        assert names.find(name) == key
        assert names.name(key, key.tab) == name


def test_a_tab_keeps_its_number_and_none_is_given_out_twice() -> None:
    numbers = TabNumbers()
    assert [numbers.number("a", tab) for tab in (7, 8, 7)] == [1, 2, 1]
    assert numbers.number("b", 7) == 1
    assert numbers.number("a", 9) == 3


def test_numbers_of_tabs_do_not_grow_for_ever() -> None:
    numbers = TabNumbers(most=3)
    for tab in range(10):
        numbers.number("a", tab)
        numbers.number(f"d{tab}", tab)
    assert len(numbers._numbers) == len(numbers._last) == 3


def test_a_domain_cannot_have_the_names_of_others_forgotten_and_a_forgotten_one_is_not_given_out_again() -> None:
    table = ToolNames(most_retired=100)
    victim = ToolKey("a.b.example", "pay", 1)
    name = table.name(victim, 1)
    table.retire([victim])
    flood = [ToolKey("a-b.example", f"t{number}", 2) for number in range(1000)]
    for key in flood:
        table.name(key, 1)
    table.retire(flood)
    assert table.find(name) == victim
    assert len(table) == 100
    forgotten = "website_tool_a_b_example_tab1_t0"
    assert table.find(forgotten) is None
    assert table.name(ToolKey("a_b.example", "t0", 3), 1) != forgotten
    # What is not gone is no more among them.
    kept = [ToolKey("a-b.example", f"t{number}", 2) for number in range(990, 1000)]
    before = [table.name(key) for key in kept]
    table.retire([ToolKey("other.example", "x", 4)])
    more = [ToolKey("c.example", f"t{number}", 5) for number in range(1000)]
    for key in more:
        table.name(key, 1)
    table.retire(more)
    assert [table.name(key) for key in kept] == before


def test_digits_are_the_same_at_each_start() -> None:
    """The browser gives a tab another number at each start; that in its names may be the same."""

    def given_out(browser_tab: int) -> list[str]:
        names = ToolNames(longest=64)
        keys = [ToolKey("a.example", tool, browser_tab) for tool in ("x-y", "x_y", "x.y", "long" * 20)]
        return [names.name(key, 1) for key in keys] + [names.name(ToolKey("a.example", "x.y"))]

    assert given_out(333118679) == given_out(712)
    assert len(set(given_out(7))) == 5
