"""Scripts of statements that repeat, nearly repeat, or only look as if they did."""

from __future__ import annotations

import re

from hypothesis import strategies as st

from sanderling.errors import SanderlingError
from sanderling.plan.planner import Planner
from sanderling.plans.expression import Expression
from sanderling.plans.plan import Plan

BEGIN = """
CREATE STREAM taxi (
  id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE, kind STRING, speed DOUBLE, n INT, seen TIMESTAMP
) KEY id TIME ts LOCATION (x, y) WITH (tick = '5 seconds');
CREATE STREAM bus (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y);
CREATE STREAM small (id SMALLINT, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y);
CREATE REGION depot AS RECT (0, 0, 10, 10);
CREATE REGION yard AS POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0));
"""

# N, D, S: mostly a whole number, a decimal, a text; sometimes anything.
TAKEN = (
    "SELECT id FROM taxi INSIDE ('M', N, D, D)",
    "SELECT id FROM taxi INSIDE ('M', N, D, D)",
    "SELECT id FROM taxi INSIDE ('M', N, D)",
    "SELECT id FROM bus INSIDE ('M', S, N)",
    "SELECT id FROM small INSIDE ('m', N, N, N)",
    "SELECT id FROM taxi INSIDE (N, N, N, N)",
    "SELECT id FROM taxi INSIDE (D, D, D)",
    "select id\n\tfrom taxi  inside rect(N,N,D,D)",
    "SELECT id FROM taxi INSIDE CIRCLE (N, D, N)",
    "SELECT id FROM taxi INSIDE depot",
    "SELECT id FROM taxi WHERE speed > D INSIDE depot",
    "SELECT id FROM taxi WHERE speed > N AND kind = S INSIDE (N, N, N)",
    "SELECT id FROM taxi WHERE location INSIDE (N, N, N, N) AND speed BETWEEN N AND D",
    "SELECT t.id, t.kind FROM taxi AS t WHERE N < t.speed OR t.kind IN (S, S) INSIDE yard",
    "SELECT id FROM taxi WHERE n = N AND n <> -N",
    "SELECT id FROM taxi WHERE speed + N > D",
    "SELECT id FROM taxi WHERE speed > N + N",
    "SELECT id FROM taxi WHERE kind LIKE S",
    "SELECT id, N AS c, S AS d FROM taxi",
    "SELECT id, N, -D AS c FROM taxi WHERE speed > D",
    "SELECT round(speed, N) AS r FROM taxi WHERE CASE WHEN n = N THEN S ELSE kind END = S",
    "SELECT id FROM taxi WHERE (speed > N) = (n > N)",
    "SELECT id FROM taxi WHERE seen >= S",
    "SELECT id FROM taxi kNN (N, D, N)",
    "SELECT id FROM taxi KNN ('M', N, N)",
    "SELECT id FROM bus WHERE x > D INSIDE (N, N, N) knn('M', N, S)",
    "SELECT id FROM taxi kNN ('M', N, N) INSIDE ('M', N, D)",
    "FOR taxi AS a, taxi AS b WHEN a.speed > N AND b.kind = S AND WITHIN N",
    "FOR taxi AS a, taxi AS b WHEN a.speed > D AND b.speed > D AND b.ts - a.ts IN [-1, N] "
    "AND DISTANCE(a, b) < 0.5",
    "FOR taxi AS a, taxi AS b WHEN a.speed > N AND b.ts - a.ts IN [0, 9] AND DISTANCE(a, b) < D",
    "for 3 OF bus AS v WHEN v.x > N AND DISTANCE(v) <= 9 AND WITHIN N SECONDS",
    "FOR taxi AS a, taxi b WHEN a.n - b.n > N AND a.n + b.n < N AND a.location INSIDE (N, N, N) AND WITHIN 5 "
    "SELECT a.id AS i, N AS c, b.n > N REPORT FIRST",
    "FOR taxi AS a, taxi b WHEN a.location INSIDE ('M', N, D) AND (a.n = N OR b.speed > -D) AND a.n > N "
    "AND b.n > N AND ABS(a.ts - b.ts) < 9 WITH (expiry = 'loose')",
    "FOR bus AS a, 2 OF bus AS v WHEN a.x + v.x > N AND a.x BETWEEN N AND D AND a.id IN (S, S) AND WITHIN 5",
    "WITH a AS (SELECT id FROM taxi INSIDE (N, N, D) PERSISTENCY 5 SECONDS), b AS (SELECT id, N AS c "
    "FROM taxi WHERE speed > N INSIDE (N, D, N, D)) SELECT id, b.c + N AS d FROM a "
    "THEN NOT b THEN ENTERING a AS c WITHIN 1 HOUR",
    "WITH a AS (SELECT id, x FROM bus WHERE id = S INSIDE ('M', S, D) PERSISTENCY N SECONDS WHILE x > N), "
    "b AS (SELECT id FROM bus WHERE x BETWEEN N AND D) SELECT id FROM a "
    "THEN (b 2 TIMES OR ENTERING a AS c) WITHIN "
    "N SECONDS",
    "WITH a AS (SELECT id FROM taxi kNN (3, N, D)), b AS (SYNCHRONIZE a EVERY 5 SECONDS AS SELECT id FROM a "
    "WHERE id > N) SELECT id FROM b THEN a WITHIN 1 HOUR WHERE id > N",
    "with a as (select id from taxi where location inside (N, N, N) and n in (N, N)) select id from a "
    "for N seconds",
)
REFUSED = (
    "WITH a AS (SELECT id FROM taxi kNN (N, N, D)), b AS (SELECT id FROM taxi INSIDE (D, N, D)) "
    "SELECT id FROM a THEN b",
    "WITH a AS (SELECT id FROM taxi kNN (D, N, D)), b AS (SELECT id FROM taxi INSIDE (D, N, D)) "
    "SELECT id FROM a THEN b WITHIN N SECONDS",
    "WITH a AS (SELECT id FROM taxi INSIDE (N, N, N)) SELECT id, N FROM a THEN a WITHIN 1 HOUR",
    "WITH a AS (SELECT id, count(N) FROM taxi WHERE speed > N) SELECT id FROM a",
    "FOR taxi AS a, taxi AS b WHEN a.speed > N AND b.ts - a.ts BETWEEN N AND N AND DISTANCE(a, b) < N",
    "FOR taxi AS a, bus AS b WHEN a.speed > N AND WITHIN N",
    "FOR N OF taxi AS v WHEN v.speed > N AND WITHIN N AND DISTANCE(v) BETWEEN N AND N",
    "FOR taxi AS a WHEN a.speed > N SELECT N, a.n > N WITH (index = S)",
    "SELECT id FROM taxi INSIDE POLYGON ((0 0, N 0, N D, 0 0))",
    "SELECT id FROM taxi WHERE kind RLIKE S AND speed > N",
    "SELECT id FROM taxi WHERE seen >= S",
    "SELECT id FROM taxi WHERE seen > CAST(S AS TIMESTAMP) AND speed > N",
    "SELECT id FROM taxi WHERE kind = S S",
    "SELECT id FROM taxi WHERE seen > to_date(S) - INTERVAL N DAY",
    "SELECT id FROM taxi WHERE kind = S AND nothing > N",
    "SELECT id FROM nobody INSIDE (N, N, N)",
    "SELECT id FROM taxi WHERE speed > N LIMIT N",
    "SELECT id FROM taxi WHERE speed IS NOT DISTINCT FROM N AND n IN (N, N, S)",
    "SELECT id FROM taxi INSIDE (N, N)",
    "SELECT id FROM taxi kNN (N, N)",
    "SELECT id FROM taxi kNN (D, N, N)",
    "SELECT N",
    "SELECT id FROM taxi WHERE",
    "SELECT kind AS k, count(N) FROM taxi",
)

USUAL = {
    "N": ("0", "1", "2", "3", "17", "007", "40000"),
    "D": ("0.5", "1.5", "0.0", "2.25", "1e3", "1.5E-2", "10.0"),
    "S": (
        "'a'",
        "'b'",
        "''",
        "'bus'",
        "'2020-01-01'",
        "'2020-05-01 08:00:00'",
        "'x;y'",
        "'1'",
        "'a''b'",
        "''''",
    ),
}
ODD = (
    "-0", "-5", "- 5", "+5", "- -5", "--5\n", "-0.0", "1.", ".5", "1e400", "1e99", "1e-99", "5L", "0x1F",
    "1_000", "999999999999999999", "1000000000000000000", "9223372036854775807", "9223372036854775808",
    "3000000000", "123456789012345678901234567890", "0.1234567890123456789", "1e5e5", "1..2", "5abc", "(5)",
    "'a''b'", "'a\\'b'", "'a\\\\'", "'-- no'", "'/* no'", '"dq"', "NULL", "TRUE", ":p", "?", "r'a'", "N'a'",
    "'not a time'", "'2020-13-01'", "'é'", "'a\nb'", "'a' -- note;\n", "/* c; */ 5", "x", "id", "5 5", "`id`",
    "$1", "{x}", "@v", "5;", "'", "/*", "\u00a05",
)  # fmt: skip

NAMES = ("q1", "Q2", "_q", "depot", "taxi", "select", "`a b`", "date", "kéy", "1q")
HEADS = ("REGISTER QUERY", "REGISTER QUERY", "register  query", "REGISTER\nQUERY", "REGISTER /* c */ QUERY")
TIMES = (
    "", "", "", "AT 100 ", "AT 7.5 ", "AT '2020-01-01' ", "at\t'2020-01-01 00:00:01'\n",
    "AT 'never' ", "AT 1e99 ", "AT -5 ",
)  # fmt: skip
HARMLESS = ("SHOW QUERIES", "-- only a note; with a semicolon\n", "", "/* x; */", "SHOW REGIONS")
OTHERS = (
    *HARMLESS, "DROP QUERY q1", "AT 200 DROP QUERY q2", "DESCRIBE QUERY q3", "EXPLAIN q1", "DROP REGION yard",
    "SELECT 1", "DROP STREAM bus",
)  # fmt: skip


@st.composite
def literal(draw: st.DrawFn, kind: str, is_wild: bool) -> str:
    is_odd = draw(st.integers(0, 11 if is_wild else 79)) == 7
    return draw(st.sampled_from(ODD if is_odd else USUAL[kind]))


@st.composite
def statement(draw: st.DrawFn, selects: tuple[str, ...], name: str, is_wild: bool) -> str:
    if draw(st.integers(0, 11)) == 7:
        return draw(st.sampled_from(OTHERS if is_wild else HARMLESS))
    select = draw(st.sampled_from(selects))
    written = re.sub(r"\b[NDS]\b", lambda letter: draw(literal(letter[0], is_wild)), select)
    if is_wild and draw(st.integers(0, 9)) == 7:
        name = draw(st.sampled_from(NAMES))
    time = draw(st.sampled_from(TIMES if is_wild else TIMES[:7]))
    gap = draw(st.sampled_from((" ", " ", " ", "\n", "  ", " -- note\n")))
    head = draw(st.sampled_from(HEADS))
    if select.upper().startswith("WITH"):
        head = re.sub("(?i)query", "pattern", head)
    elif not select.startswith(("SELECT", "select")):
        head = re.sub("(?i)query", "TRIGGER", re.sub("(?i)register", "create", head))
        return f"{time}{head} {name}{gap}{written}"
    return f"{time}{head} {name} AS{gap}{written}"


@st.composite
def scripts(draw: st.DrawFn) -> str:
    is_wild = draw(st.integers(0, 3)) == 3
    selects = draw(st.lists(st.sampled_from(REFUSED if is_wild else TAKEN), min_size=1, max_size=3))
    if is_wild:
        selects += draw(st.lists(st.sampled_from(TAKEN), min_size=1, max_size=3))
    names = draw(st.permutations([f"q{i}" for i in range(draw(st.integers(1, 12)))]))
    ends = st.sampled_from((";\n", ";\n", ";", " ;\n-- note\n", ";;", "\n;"))
    return BEGIN + "".join(draw(statement(tuple(selects), name, is_wild)) + draw(ends) for name in names)


def said(e: Expression) -> object:
    """All of an expression, its words too; sets in order."""
    return e.sql, e.type.name, sorted(e.reads), e.is_plain, e.comparisons, e.words


def dump(plan: Plan) -> object:
    """All that is in a plan, to be compared and read; sets in order, the two zeros told apart."""
    streams = []
    for s in plan.streams:
        r = s.regions
        names = ("query", "template", "row_in_template", "kind", "a", "b", "c", "d", "focal", "begin", "end")
        templates = [
            (
                t.id, t.where and said(t.where), t.is_keyed, t.is_nearest, str(t.constants),
                [(o.name, said(o.expression)) for o in t.outputs],
            )
            for t in s.templates
        ]  # fmt: skip
        focals = (s.focals.to_pylist(), str(s.focals.type))
        constants = [(str(c.schema), c.to_pydict()) for c in s.constants]
        columns = [(n, str(getattr(r, n).dtype), getattr(r, n).tolist()) for n in names]
        near = s.nearest
        asked = [(n, getattr(near, n).tolist()) for n in ("region", "k", "x", "y", "focal")]
        streams.append((s.stream.name, s.kept, templates, constants, columns, r.wkb, focals, asked))
    trees = [
        (
            t.template.id, _in_order(repr(t.root)), t.branches, t.queries.tolist(), str(t.constants.schema),
            t.constants.to_pydict(),
        )
        for t in plan.trees
    ]  # fmt: skip
    return repr((streams, trees, list(plan.queries)))


def _in_order(node: str) -> str:
    """What is in a set, in order."""
    return re.sub(r"frozenset\({(.*?)}\)", lambda found: str(sorted(found[1].split(", "))), node)


def outcome(script: str, is_one_by_one: bool) -> tuple[object, object, object]:
    """What a script shows, how it is refused, and the plan it leaves."""
    planner = Planner(is_one_by_one=is_one_by_one)
    shown, refused = None, None
    try:
        shown = planner.run_script(script)
    except SanderlingError as e:
        refused = (type(e), e.code, e.message, e.hint, e.place)
    return shown, refused, dump(planner.plan())
