"""LIKE: a pattern with several % is a regular expression.

The engine below would try all ways to share a text among them, which are more than anybody can wait for; a
regular expression takes time by the length of the text.
"""

from __future__ import annotations

import re

from sqlglot import exp

from sanderling.macros import BACKSLASH

# What has a meaning in a regular expression.
SPECIAL = re.compile(r"[\\.+*?^$(){}|\[\]]")


def like(n: exp.Expr) -> exp.Expr:
    """LIKE and ILIKE without ESCAPE: a backslash takes the meaning from % and _, as in Spark."""
    return n if isinstance(n.parent, exp.Escape) else _written(n, BACKSLASH)


def like_with_escape(n: exp.Expr) -> exp.Expr:
    return _written(n.this, n.expression.this)


def is_whole_pattern(pattern: str, escape: str) -> bool:
    """Whether something stands behind every sign that takes the meaning from what is behind it."""
    return tokens(pattern, escape)[-1:] != [escape]


def tokens(pattern: str, escape: str) -> list[str]:
    """Each character, with the sign before it that takes its meaning."""
    return re.findall(f"(?s){re.escape(escape)}.|.", pattern)


def _written(n: exp.Expr, escape: str) -> exp.Expr:
    pattern = n.expression
    if isinstance(pattern, exp.Literal) and tokens(pattern.this, escape).count("%") <= 1:
        is_plain = escape == BACKSLASH and escape not in pattern.this
        return n if is_plain else exp.Escape(this=n, expression=exp.Literal.string(escape))
    found = _matched(n, escape)
    # sqlglot keeps the NOT of NOT LIKE in the node.
    return exp.Paren(this=exp.Not(this=found)) if n.args.get("negate") else found


def _matched(n: exp.Expr, escape: str) -> exp.Expr:
    text, pattern, is_any_case = n.this, n.expression, isinstance(n, exp.ILike)
    text = exp.Lower(this=text) if is_any_case else text
    if isinstance(pattern, exp.Literal):
        found = tokens(pattern.this, escape)
        return _full_match(text, [t.lower() for t in found] if is_any_case else found)
    return exp.Anonymous(
        this="our_like", expressions=[text, exp.Lower(this=pattern) if is_any_case else pattern]
    )


def _full_match(text: exp.Expr, found: list[str]) -> exp.Expr:
    inner = found[1:-1]
    if found[0] == found[-1] == "%" and not any(len(t) > 1 or t in "%_" for t in inner):
        return exp.Anonymous(this="contains", expressions=[text, exp.Literal.string("".join(inner))])
    pattern = "(?s)" + "".join(_as_regex(t) for t in found)
    return exp.Anonymous(this="regexp_full_match", expressions=[text, exp.Literal.string(pattern)])


def _as_regex(token: str) -> str:
    if token in ("%", "_"):
        return ".*" if token == "%" else "."
    return SPECIAL.sub(r"\\\g<0>", token[-1])
