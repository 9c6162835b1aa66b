"""What a scalar expression may hold: a list, so that nothing of the engine below leaks upwards.

Each node is a pure function of its row. What reads a clock, a random number, a file or other rows
is not here.
"""

from __future__ import annotations

from sqlglot import exp

COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)

OPERATORS: tuple[type[exp.Expression], ...] = (
    exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.Alias, *COMPARISONS,
    exp.And, exp.Or, exp.Not, exp.Is, exp.In, exp.Between, exp.Like, exp.ILike, exp.RegexpLike, exp.Escape,
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.DPipe, exp.BitwiseAnd,
    exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot, exp.BitwiseLeftShift, exp.BitwiseRightShift, exp.Case,
    exp.If, exp.Cast, exp.TryCast, exp.DataType, exp.DataTypeParam, exp.Interval, exp.Var,
)  # fmt: skip

FUNCTIONS: dict[str, type[exp.Expression]] = {
    "abs": exp.Abs, "acos": exp.Acos, "ascii": exp.Ascii, "asin": exp.Asin, "atan": exp.Atan,
    "atan2": exp.Atan2, "cbrt": exp.Cbrt, "ceil": exp.Ceil, "coalesce": exp.Coalesce, "concat": exp.Concat,
    "concat_ws": exp.ConcatWs, "contains": exp.Contains, "cos": exp.Cos, "date_trunc": exp.TimestampTrunc,
    "day": exp.Day, "dayofmonth": exp.DayOfMonth, "dayofweek": exp.DayOfWeek, "dayofyear": exp.DayOfYear,
    "degrees": exp.Degrees, "endswith": exp.EndsWith, "exp": exp.Exp, "extract": exp.Extract,
    "floor": exp.Floor, "greatest": exp.Greatest, "hour": exp.Hour, "instr": exp.StrPosition,
    "isnan": exp.IsNan, "least": exp.Least, "left": exp.Left, "length": exp.Length, "ln": exp.Ln,
    "log": exp.Log, "lower": exp.Lower, "lpad": exp.Pad, "minute": exp.Minute, "month": exp.Month,
    "nullif": exp.Nullif, "pi": exp.Pi, "power": exp.Pow, "quarter": exp.Quarter, "radians": exp.Radians,
    "regexp_extract": exp.RegexpExtract, "repeat": exp.Repeat, "replace": exp.Replace,
    "reverse": exp.Reverse, "right": exp.Right, "round": exp.Round, "second": exp.Second, "sign": exp.Sign,
    "sin": exp.Sin, "split_part": exp.SplitPart, "sqrt": exp.Sqrt, "startswith": exp.StartsWith,
    "substring": exp.Substring, "tan": exp.Tan, "to_date": exp.TsOrDsToDate, "translate": exp.Translate,
    "trim": exp.Trim, "truncate": exp.Trunc, "upper": exp.Upper, "year": exp.Year,
}  # fmt: skip

# Other names of some of these, and of operators, as Spark has them.
ALSO_CALLED: dict[str, str] = {
    "ceiling": "ceil", "char_length": "length", "character_length": "length", "ifnull": "coalesce",
    "lcase": "lower", "log10": "log", "log2": "log", "ltrim": "trim", "mod": "%", "nvl": "coalesce",
    "pow": "power", "rpad": "lpad", "rtrim": "trim", "signum": "sign", "substr": "substring",
    "ucase": "upper",
}  # fmt: skip
# What is written like a function, and is told elsewhere.
FORMS = ("case", "cast", "if", "try_cast")
NAMES: frozenset[str] = frozenset((*FUNCTIONS, *ALSO_CALLED, *FORMS))

ALLOWED: frozenset[type[exp.Expression]] = frozenset((*OPERATORS, *FUNCTIONS.values()))

# Nodes that depend on other rows; they have their own clauses.
OF_MANY_ROWS = (exp.AggFunc, exp.Window)
NOT_PURE = (
    exp.CurrentTimestamp, exp.CurrentDate, exp.CurrentDatetime, exp.CurrentTime, exp.CurrentUser,
    exp.Localtime, exp.Localtimestamp, exp.Rand, exp.Randn, exp.Uuid,
)  # fmt: skip
NOT_PURE_NAMES = ("now", "localtimestamp", "current_timezone", "shuffle", "monotonically_increasing_id")

# Parts of a node that sqlglot can read, and the engine below would not look at.
MEANINGLESS: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Column: ("join_mark",),
    exp.In: ("query", "unnest", "field", "is_global"),
    exp.Cast: ("format", "action", "default"),
    exp.TryCast: ("format", "action", "default"),
    exp.DataTypeParam: ("expression",),
    exp.Trim: ("collation",),
    exp.RegexpExtract: ("position", "occurrence", "parameters"),
    exp.RegexpLike: ("flag",),
    exp.StrPosition: ("occurrence", "position"),
    exp.Ceil: ("decimals", "to"),
    exp.Floor: ("decimals", "to"),
    exp.TsOrDsToDate: ("format",),
}

# Nodes that can have a value though an operand has none.
LENIENT = (
    exp.And, exp.Or, exp.Is, exp.In, exp.Between, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Case, exp.If,
    exp.Coalesce, exp.ConcatWs, exp.Greatest, exp.Least, exp.Nullif,
)  # fmt: skip
