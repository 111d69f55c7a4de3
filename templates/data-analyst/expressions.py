"""Expressions of pandas, evaluated step by step: only what is listed here, and nothing of Python besides.

A model writes them, perhaps led by the text in a file. So names are tables, attributes are columns or in `ATTRIBUTES`,
and calls are those of `METHODS` and `FUNCTIONS`. There are no assignments, no lambdas or comprehensions, no modules.
Methods that read or write files, evaluate texts (`eval`, `query`) or call functions (`apply`, `pipe`) are not listed;
those that take the name of a method (`agg`, `pivot_table`) take a name in `AGGREGATES`.
"""

import ast
import operator
import time
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
from mcp.server.mcpserver.exceptions import ToolError

SECONDS = 10.0
"""How long an expression may take. It is checked between its steps."""
LONGEST = 2000
MOST_CELLS = 20_000_000
"""The largest result of a step, in cells."""

_AGGREGATES = """
    all any count cumsum first last max mean median min nunique prod quantile rank sem size std sum var
"""
_METHODS = """
    abs add agg aggregate assign astype between bfill clip corr cummax cummin cumprod describe diff div drop
    drop_duplicates dropna duplicated eq explode ffill fillna floor ge groupby gt head idxmax idxmin isin isna
    isnull le lt mask melt merge mode mul ne nlargest notna notnull nsmallest pct_change pivot pivot_table rename
    resample reset_index rolling round sample set_index shift skew sort_index sort_values stack sub tail to_frame
    tolist transpose unique unstack value_counts where xs
    contains endswith len lower replace slice split startswith strip title upper
    ceil day_name isocalendar month_name normalize strftime to_period to_timestamp total_seconds
"""
_ATTRIBUTES = """
    T columns dt dtype dtypes empty iloc index loc shape size str values
    date day dayofweek dayofyear days hour minute month quarter second time year
"""
AGGREGATES = frozenset(_AGGREGATES.split())
METHODS = AGGREGATES | frozenset(_METHODS.split())
"""The methods of tables, columns, groups, windows, and of `.str` and `.dt`."""
ATTRIBUTES = frozenset(_ATTRIBUTES.split())
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": abs,
    "len": len,
    "max": max,
    "min": min,
    "round": round,
    "sum": sum,
    "to_datetime": pd.to_datetime,
    "to_numeric": pd.to_numeric,
    "concat": pd.concat,
    "Timestamp": pd.Timestamp,
    "Timedelta": pd.Timedelta,
}
_NAMED = frozenset({"agg", "aggregate", "pivot_table"})
"""The methods that take the names of methods."""
_OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_LITERALS = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Load)


class ExpressionError(ToolError):
    """An expression is not allowed, or fails. The text says why."""


def evaluate(expression: str, tables: Mapping[str, pd.DataFrame]) -> Any:
    """Return the result of an expression over tables.

    Raises:
        ExpressionError: It is not allowed, it fails, it takes too long or its result is too large.
    """
    if len(expression) > LONGEST:
        raise ExpressionError(f"An expression has at most {LONGEST} characters.")
    try:
        tree = ast.parse(expression.strip(), mode="eval")
        return _Evaluation(tables).value(tree.body)
    except ExpressionError:
        raise
    except SyntaxError as error:
        raise ExpressionError(f"This is not an expression: {error.msg}.") from error
    except Exception as error:
        raise ExpressionError(f"{type(error).__name__}: {error}") from error


class _Evaluation:
    def __init__(self, tables: Mapping[str, pd.DataFrame]) -> None:
        self._tables = tables
        self._deadline = time.monotonic() + SECONDS

    def value(self, node: ast.expr) -> Any:
        """Return the value of a part of an expression."""
        if time.monotonic() > self._deadline:
            raise ExpressionError(f"The expression took more than {SECONDS:.0f} seconds: filter or aggregate earlier.")
        step = getattr(self, f"_{type(node).__name__.lower()}", None)
        if step is None:
            raise ExpressionError(f"{ast.unparse(node)!r}: {type(node).__name__} is not allowed here.")
        found = step(node)
        if isinstance(found, pd.DataFrame | pd.Series) and found.size > MOST_CELLS:
            raise ExpressionError(f"{ast.unparse(node)!r} has more than {MOST_CELLS:,} cells: filter it first.")
        return found

    def _constant(self, node: ast.Constant) -> Any:
        return node.value

    def _name(self, node: ast.Name) -> Any:
        if node.id not in self._tables:
            raise ExpressionError(f"There is no table {node.id!r}; there are: {', '.join(self._tables)}.")
        return self._tables[node.id]

    def _list(self, node: ast.List) -> Any:
        return [self.value(item) for item in node.elts]

    def _tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.value(item) for item in node.elts)

    def _dict(self, node: ast.Dict) -> Any:
        if None in node.keys:
            raise ExpressionError("** is not allowed here.")
        return {self.value(key): self.value(item) for key, item in zip(node.keys, node.values, strict=True) if key}

    def _slice(self, node: ast.Slice) -> Any:
        return slice(*(part and self.value(part) for part in (node.lower, node.upper, node.step)))

    def _subscript(self, node: ast.Subscript) -> Any:
        return self.value(node.value)[self.value(node.slice)]

    def _attribute(self, node: ast.Attribute) -> Any:
        owner = self._of_pandas(node)
        if node.attr in _columns(owner):
            return owner[node.attr]
        if node.attr not in ATTRIBUTES:
            raise ExpressionError(f"{node.attr!r} is neither a column nor an attribute that is allowed here.")
        return getattr(owner, node.attr)

    def _call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
            function = FUNCTIONS[node.func.id]
        elif isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            if node.func.attr in _NAMED:
                _check_aggregates(node)
            function = getattr(self._of_pandas(node.func), node.func.attr)
        else:
            raise ExpressionError(f"{ast.unparse(node.func)!r} is not a function or method that is allowed here.")
        if any(keyword.arg is None for keyword in node.keywords):
            raise ExpressionError("** is not allowed here.")
        if any(keyword.arg == "inplace" for keyword in node.keywords):
            raise ExpressionError("inplace is not allowed here: other expressions use the same tables.")
        named = {str(keyword.arg): self.value(keyword.value) for keyword in node.keywords}
        return function(*(self.value(item) for item in node.args), **named)

    def _binop(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        text = isinstance(node.op, ast.Add) and not (isinstance(left, str) and isinstance(right, str))
        if any(isinstance(side, list | tuple) or (isinstance(side, str) and not text) for side in (left, right)):
            raise ExpressionError(
                f"{ast.unparse(node)!r}: lists are not operands here, and a text is only added to a column."
            )
        return self._operator(node.op)(left, right)

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        return self._operator(node.op)(self.value(node.operand))

    def _compare(self, node: ast.Compare) -> Any:
        if len(node.ops) != 1:
            raise ExpressionError("Write (a < b) & (b < c) in place of a < b < c.")
        return self._operator(node.ops[0])(self.value(node.left), self.value(node.comparators[0]))

    def _operator(self, node: ast.AST) -> Callable[..., Any]:
        if type(node) not in _OPERATORS:
            raise ExpressionError(
                f"The operator {type(node).__name__} is not allowed here: use &, | and ~ for conditions."
            )
        return _OPERATORS[type(node)]

    def _of_pandas(self, node: ast.Attribute) -> Any:
        """Return the object that has an attribute: one of pandas, as others have attributes of Python."""
        owner = self.value(node.value)
        if type(owner).__module__.partition(".")[0] != "pandas":
            raise ExpressionError(
                f"{ast.unparse(node.value)!r} is of type {type(owner).__name__}, and has no methods here."
            )
        return owner


def _columns(owner: Any) -> list[Any]:
    """Return the columns of a table or a group; none of other objects."""
    table = getattr(owner, "obj", owner)
    return list(table.columns) if isinstance(table, pd.DataFrame) else []


def _check_aggregates(call: ast.Call) -> None:
    """Check the arguments of `agg` and its kin: literals whose strings are aggregates, or columns and new names."""
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        if any(not isinstance(part, _LITERALS) for part in ast.walk(argument)):
            raise ExpressionError("Aggregates are named by literals, and by dicts and lists of them.")
        for part in ast.walk(argument):
            named = part.value if isinstance(part, ast.Constant) else None
            if isinstance(named, str) and named not in AGGREGATES and _is_attribute(named):
                raise ExpressionError(f"{named!r} is not an aggregate; there are: {', '.join(sorted(AGGREGATES))}.")


def _is_attribute(name: str) -> bool:
    places = (pd.DataFrame, pd.Series, pd.api.typing.DataFrameGroupBy, pd.api.typing.Rolling, pd.api.typing.Resampler)
    return name.startswith("_") or any(hasattr(place, name) for place in places)
