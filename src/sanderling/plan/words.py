"""A condition in its author's words, with ? for the constants that differ from query to query."""

from __future__ import annotations

from sqlglot import exp

from sanderling.language.parse import deep_recursion

LONGEST = 300


def words_of(node: exp.Expr) -> str:
    """For people to read; a very long one is cut."""
    copy = exp.Paren(this=node.copy())
    for column in list(copy.find_all(exp.Column)):
        if column.meta.get("pair"):
            column.replace(exp.Placeholder())
    with deep_recursion():
        words = copy.this.sql(dialect="spark")
    return words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"
