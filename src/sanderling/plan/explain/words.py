"""A condition in its author's words, with ? for the constants that differ from query to query."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ErrorLevel

from sanderling.language.grammar.dialect import LocationInside
from sanderling.language.grammar.window.window import WITHIN, is_within, word_of_two
from sanderling.language.parse import deep_recursion

LONGEST = 300


def words_of(node: exp.Expr) -> str:
    """For people to read: what Spark's SQL has no word for is left out."""
    with deep_recursion():
        return str(_Words(unsupported_level=ErrorLevel.IGNORE).generate(node, copy=False))


class _Words(Spark.Generator):  # type: ignore[valid-type, misc]
    """Spark's SQL with ? for pair columns."""

    TRANSFORMS: ClassVar = {
        **Spark.Generator.TRANSFORMS,
        LocationInside: lambda self, e: f"{self.sql(e, 'this')} INSIDE {_region(e.args['expression'])}",
    }

    def column_sql(self, expression: exp.Column) -> str:
        if expression.meta.get("group") is not None:
            return str(expression.name)  # what was grouped by, or an aggregate, is named by its words
        if expression.meta.get("words"):
            return str(expression.meta["words"])
        return "?" if expression.meta.get("pair") else str(super().column_sql(expression))

    def anonymous_sql(self, expression: exp.Anonymous) -> str:
        if not is_within(expression):
            return str(super().anonymous_sql(expression))
        return str(self.func(word_of_two(expression), *expression.expressions)) + WITHIN

    def div_sql(self, expression: exp.Div) -> str:
        return str(
            self.binary(expression, "/")
        )  # without sqlglot's guards against 0 and NULL: nobody wrote them

    def concatws_sql(self, expression: exp.ConcatWs) -> str:
        return str(self.func("CONCAT_WS", *expression.expressions))


def _region(target: object) -> str:
    """By its name; numbers are left out."""
    return str(target.name) if isinstance(target, exp.Column) else "a region"


def shortened(words: str) -> str:
    """Not too long for a line."""
    return words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"
