"""What a node of an expression is called in the evaluating engine, where the two mean different things.

Each function takes a node whose parts are rewritten already, and gives what stands in its place. No part
is written twice: what is nested would double with each level.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from sanderling.plan.expressions.patterns import like, like_with_escape

Rewrite = Callable[[exp.Expr], exp.Expr]
DAYS_OF_WEEK = ("DOW", "DAYOFWEEK", "DAY_OF_WEEK", "WEEKDAY")
ISO_DAYS_OF_WEEK = ("DAYOFWEEKISO", "DAYOFWEEK_ISO", "DOW_ISO")
WIDE = ("BIGINT", "HUGEINT")
JOINING = (exp.DPipe, exp.Concat)


def call(macro: str, *parts: exp.Expr) -> exp.Expr:
    """One of sanderling.macros over parts; they are moved, not copied."""
    return exp.Anonymous(this=macro, expressions=list(parts))


def whole(number: int) -> exp.Expr:
    return exp.Literal.number(number)


def is_number(node: exp.Expr, least: int) -> bool:
    """Whether it is a whole number in the text, from the least on."""
    return (
        isinstance(node, exp.Literal)
        and not node.is_string
        and node.this.isdigit()
        and int(node.this) >= least
    )


def is_nonzero(node: exp.Expr) -> bool:
    """Whether it is a number in the text, and not 0."""
    literal = node.this if isinstance(node, exp.Cast) else node
    return isinstance(literal, exp.Literal) and not literal.is_string and float(literal.this) > 0


def is_leaf(node: exp.Expr) -> bool:
    """Whether it may stand twice."""
    return isinstance(node, (exp.Column, exp.Literal, exp.Boolean, exp.Null))


# ----- numbers


def finite(n: exp.Expr) -> exp.Expr:
    return call("our_finite", n)


def divided(n: exp.Expr) -> exp.Expr:
    n.set("safe", False)
    if not is_nonzero(n.expression):
        n.set("expression", call("our_nonzero", n.expression))
    return n


def left_over(n: exp.Expr) -> exp.Expr:
    if not is_nonzero(n.expression):
        n.set("expression", call("our_divisor", n.expression))
    return n


def whole_part(n: exp.Expr) -> exp.Expr:
    """DIV: of whole numbers exactly, of others by their quotient."""
    name = "our_whole_div" if all(map(is_whole, sources(n))) else "our_div"
    return call(name, n.this, n.expression)


def is_whole(source: str) -> bool:
    return source.endswith("INT") or source == "INTEGER"


def sources(n: exp.Expr) -> tuple[str, ...]:
    """The types of its operands, as they were found (families.py)."""
    found: tuple[str, ...] = n.meta.get("sources", ("DOUBLE",))
    return found


def shifted(n: exp.Expr) -> exp.Expr:
    way = "left" if isinstance(n, exp.BitwiseLeftShift) else "right"
    return call(f"our_shifted_{way}_{64 if sources(n)[0] in WIDE else 32}", n.this, n.expression)


def logarithm(n: exp.Expr) -> exp.Expr:
    """log(x), or log(base, x); of base 10 it has a function of its own, which is exact for powers."""
    if n.expression is None:
        return call("our_ln", n.this)
    if isinstance(n.this, exp.Literal) and n.this.this == "10":
        return finite(call("log10", n.expression))
    return call("our_log", n.this, n.expression)


def rounded(n: exp.Expr) -> exp.Expr:
    """CEIL and FLOOR are whole; what is whole stays as it is."""
    return exp.TryCast(this=n.this if is_whole(sources(n)[0]) else n, to=exp.DataType.build("bigint"))


# ----- texts


def joined(n: exp.Expr) -> exp.Expr:
    """All parts of a chain of || and CONCAT at once, by the outermost of them: a level each would be deep."""
    above = n.parent
    while isinstance(above, exp.Paren):
        above = above.parent
    if isinstance(above, JOINING):
        return n
    return call("our_joined", exp.Array(expressions=[as_text(part) for part in unjoined(n)]))


def unjoined(n: exp.Expr) -> list[exp.Expr]:
    """What a chain joins, from the left to the right."""
    found, open_ = [], [n]
    while open_:
        part = open_.pop()
        if isinstance(part, exp.DPipe):
            open_ += [part.expression, part.this]
        elif isinstance(part, exp.Concat):
            open_ += reversed(part.expressions)
        elif isinstance(part, exp.Paren):
            open_.append(part.this)
        else:
            found.append(part)
    return found


def as_text(part: exp.Expr) -> exp.Expr:
    is_text = isinstance(part, exp.Cast) and part.to.this == exp.DataType.Type.TEXT
    return part if is_text else exp.Cast(this=part, to=exp.DataType.build("text"))


def joined_by(n: exp.Expr) -> exp.Expr:
    glue, *parts = n.expressions
    return call("our_joined_by", as_text(glue), exp.Array(expressions=[as_text(p) for p in parts]))


def repeated(n: exp.Expr) -> exp.Expr:
    return call("our_repeated", n.this, n.args["times"])


def padded(n: exp.Expr) -> exp.Expr:
    pad = n.args.get("fill_pattern") or exp.Literal.string(" ")
    return call("our_lpad" if n.args.get("is_left") else "our_rpad", n.this, n.expression, pad)


def replaced(n: exp.Expr) -> exp.Expr:
    new = n.args.get("replacement") or exp.Literal.string("")
    return call("our_replaced", n.this, n.expression, new)


def cut(n: exp.Expr) -> exp.Expr:
    """LEFT and RIGHT of a number below zero are empty."""
    if is_number(n.expression, 0):
        return n
    return call("our_left" if isinstance(n, exp.Left) else "our_right", n.this, n.expression)


def substring(n: exp.Expr) -> exp.Expr:
    """From 0 on is from 1 on; of a length below zero it is empty."""
    start, length = n.args["start"], n.args.get("length")
    if not is_number(start, 1):
        n.set("start", call("our_start", start))
    if length is not None and not is_number(length, 0):
        n.set("length", call("our_not_negative", length))
    return n


def split(n: exp.Expr) -> exp.Expr:
    return call("our_split_part", n.this, n.args["delimiter"], n.args["part_index"])


# ----- times


def day_of_week(n: exp.Expr) -> exp.Expr:
    """Sunday is 1, as in Spark."""
    return exp.Paren(this=exp.Add(this=n, expression=whole(1)))


def extracted(n: exp.Expr) -> exp.Expr:
    part = n.this.name.upper()
    if part in DAYS_OF_WEEK:
        return day_of_week(n)
    if part in ISO_DAYS_OF_WEEK:
        n.set("this", exp.var("ISODOW"))
    return call("our_seconds", n.expression) if part in ("SECOND", "SECONDS") else n


# ----- choices


def compared(n: exp.Expr) -> exp.Expr:
    """CASE x WHEN …, x IN (…), NULLIF(x, …): x is compared with each, and computed once."""
    part = n.this
    if part is None or is_leaf(part):
        return n
    name = exp.to_identifier("it")
    n.set("this", exp.column(name))
    over = exp.Lambda(this=n, expressions=[name.copy()])
    values = exp.Anonymous(this="list_transform", expressions=[exp.Array(expressions=[part]), over])
    return exp.Anonymous(this="list_extract", expressions=[values, whole(1)])


# ----- casts

NUMBERS_WITH_POINT = (exp.DataType.Type.DOUBLE, exp.DataType.Type.FLOAT, exp.DataType.Type.DECIMAL)
TIMESTAMPS = (exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPNTZ)


def cast(n: exp.Expr) -> exp.Expr:
    """What cannot be cast is NULL. A number is cut off; a text is a numeral, or a time with its zone."""
    assert isinstance(n, exp.Cast)
    source, target = n.meta.get("source", ""), n.to.this
    if source == "VARCHAR":
        return cast_text(n)
    this: exp.Expr = n.this
    is_fraction = source in ("DOUBLE", "FLOAT") or source.startswith("DECIMAL")
    if target in exp.DataType.INTEGER_TYPES and is_fraction:
        this = call("trunc", this)
    return exp.TryCast(this=this, to=n.to)


def cast_text(n: exp.Cast) -> exp.Expr:
    target = n.to.this
    if target in TIMESTAMPS:
        return call("our_time", n.this)
    if target == exp.DataType.Type.DATE:
        return call("our_day", n.this)
    if target in exp.DataType.INTEGER_TYPES:
        return exp.TryCast(this=call("our_whole", n.this), to=n.to)
    if target in NUMBERS_WITH_POINT:
        number = exp.TryCast(this=call("our_numeral", n.this), to=n.to)
        return number if target == exp.DataType.Type.DECIMAL else finite(number)
    return exp.TryCast(this=n.this, to=n.to)


def named(macro: str) -> Rewrite:
    """The node's operands, handed to a macro."""
    return lambda n: call(macro, *(part for part in (n.this, n.args.get("expression")) if part is not None))


MEANINGS: dict[type[exp.Expr], Rewrite] = {
    # numbers
    exp.Div: divided, exp.Mod: left_over, exp.IntDiv: whole_part, exp.BitwiseLeftShift: shifted,
    exp.BitwiseRightShift: shifted, exp.Log: logarithm, exp.Ln: named("our_ln"), exp.Sqrt: finite,
    exp.Asin: finite, exp.Acos: finite, exp.Pow: named("our_power"), exp.Exp: finite, exp.Tan: finite,
    exp.Ceil: rounded, exp.Floor: rounded, exp.Sign: named("our_sign"), exp.IsNan: named("our_isnan"),
    exp.Atan2: named("our_atan2"),
    # texts
    exp.DPipe: joined, exp.Concat: joined, exp.ConcatWs: joined_by, exp.Pad: padded, exp.Replace: replaced,
    exp.Repeat: repeated, exp.Left: cut, exp.Right: cut, exp.Substring: substring, exp.SplitPart: split,
    exp.Like: like, exp.ILike: like, exp.Escape: like_with_escape,
    # times, choices and types
    exp.DayOfWeek: day_of_week, exp.Extract: extracted, exp.TsOrDsToDate: named("our_day"),
    exp.Case: compared, exp.Nullif: compared, exp.In: compared, exp.Between: compared, exp.Cast: cast,
    exp.TryCast: cast,
}  # fmt: skip
