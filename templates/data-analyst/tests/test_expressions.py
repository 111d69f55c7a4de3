"""Expressions: what they may do, and what they may not."""

import pandas as pd
import pytest

import expressions
from expressions import ExpressionError, evaluate

TABLES = {
    "t": pd.DataFrame({"name": ["a", "b", "c"], "x": [1, 2, 3], "size": [4, 5, 6]}),
    "other": pd.DataFrame({"name": ["a"], "y": [9]}),
}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("t.x.sum()", 6),
        ("t['x'].max() - 1", 2),
        ("t[(t.x > 1) & ~t.name.str.startswith('c')].x.tolist()", [2]),
        ("t['size'].tolist()", [4, 5, 6]),
        ("t.loc[t.x == 2, 'name'].iloc[0]", "b"),
        ("len(t.merge(other, on='name', how='left'))", 3),
        ("t.assign(double=t.x * 2).double.tolist()", [2, 4, 6]),
        ("t.agg({'x': ['min', 'max']}).x.tolist()", [1, 3]),
        ("t.groupby('name').agg(total=('x', 'sum')).total.tolist()", [1, 2, 3]),
        ("(t.name + '!').iloc[0]", "a!"),
        ("to_datetime('2026-01-02').year", 2026),
        ("t.sort_values('x', ascending=False).head(1).x.tolist()", [3]),
    ],
)
def test_what_is_allowed(expression, value):
    assert evaluate(expression, TABLES) == value


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os')",
        "t.__class__",
        "t.x.__class__.__mro__",
        "t.to_csv('x')",
        "t.eval('x + 1')",
        "t.query('@__import__(\"os\")')",
        "t.apply(print)",
        "t.pipe(print)",
        "t.agg('to_csv')",
        "t.agg('to' + '_csv')",
        "t.agg(['to_pickle'])",
        "t.x.agg(t.name.iloc[0])",
        "t.pivot_table(index='name', aggfunc='to_csv')",
        "'%1000000000d' % t.x",
        "'{0.__class__}'.format(t)",
        "f'{t}'",
        "[x for x in t.x]",
        "(lambda: 1)()",
        "t if t else t",
        "(y := 1)",
        "9 ** 9 ** 9",
        "[0] * 1000000000",
        "'x' * 1000000000",
        "t.head(**{'n': 1})",
        "t.drop(columns='x', inplace=True)",
        "unknown",
        "t.x ==",
        "t" * 3000,
    ],
)
def test_what_is_not(expression):
    with pytest.raises(ExpressionError):
        evaluate(expression, TABLES)


def test_an_expression_ends_at_its_limits(monkeypatch):
    monkeypatch.setattr(expressions, "MOST_CELLS", 10)
    with pytest.raises(ExpressionError, match="filter"):
        evaluate("t.merge(t, how='cross')", TABLES)
    monkeypatch.setattr(expressions, "SECONDS", -1)
    with pytest.raises(ExpressionError, match="seconds"):
        evaluate("t.x.sum()", TABLES)
