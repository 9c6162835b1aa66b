"""How each statement is written: the hint of a statement that cannot be read."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token

STATEMENTS = (
    "statements begin with CREATE, DROP, INSERT INTO, DELETE FROM, REFRESH TABLE, REGISTER, REPLACE, SHOW, "
    "DESCRIBE QUERY, EXPLAIN, SELECT or AT"
)

DESCRIBED = "write DESCRIBE STREAM, TABLE, QUERY, TRIGGER, PATTERN, REGION or ARCHIVE, and a name"

FORMS: dict[tuple[str, ...], str] = {
    ("CREATE", "STREAM"): (
        "write CREATE STREAM name (column TYPE, …) KEY column TIME column LOCATION (x, y) [ON GLOBE] "
        "[GONE column] [WITH (option = value, …)]"
    ),
    ("CREATE", "TABLE"): (
        "write CREATE TABLE name [(column TYPE, …)] KEY column [LOCATION (x, y) [ON GLOBE]] WITH (path = '…')"
    ),
    ("CREATE", "REGION"): (
        "write CREATE REGION name AS RECT (x1, y1, x2, y2), CIRCLE (x, y, r), POLYGON ((x y, …)), "
        "MULTIPOLYGON (((x y, …))), SPOT (x y, …), LEFT OF, RIGHT OF or ON LINE (x y, x y, …) [WITHIN d], "
        "BAND (LINE (…), LINE (…)), AROUND (key, r), AROUND (key, POLYGON …) or EXTERIOR OF one of them, "
        "[SHIFT BY (dx, dy, 10 SECONDS)] [SCALE BY (0.1, 10 SECONDS)] [FROM 'time' [UNTIL 'time']]"
    ),
    ("CREATE", "TRIGGER"): (
        "write CREATE TRIGGER name FOR stream AS V1, stream AS V2 WHEN condition [SELECT …] "
        "[REPORT ALL | FIRST | ONCE PER (column, …) [EVERY duration]] [WITH (option = value, …)]"
    ),
    ("CREATE", "ARCHIVE"): (
        "write CREATE ARCHIVE name OF stream WITH (path = 'folder', keep = '90 days', snapshot = '1 hour')"
    ),
    ("CREATE",): "write CREATE STREAM, CREATE TABLE, CREATE REGION, CREATE ARCHIVE or CREATE TRIGGER",
    ("DROP",): (
        "write DROP STREAM, DROP TABLE, DROP REGION, DROP ARCHIVE, DROP QUERY, DROP TRIGGER or DROP PATTERN, "
        "and a name"
    ),
    ("INSERT",): "write INSERT INTO table [(column, …)] VALUES (constant, …), …",
    ("DELETE", "FROM", "ARCHIVE"): "write DELETE FROM ARCHIVE name WHERE key = 'an object'",
    ("DELETE",): "write DELETE FROM table [WHERE condition]",
    ("REFRESH",): "write REFRESH TABLE and its name",
    ("SHOW",): (
        "write SHOW STREAMS, SHOW TABLES, SHOW REGIONS, SHOW ARCHIVES, SHOW QUERIES, SHOW TRIGGERS "
        "or SHOW PATTERNS"
    ),
    ("DESCRIBE",): DESCRIBED,
    ("DESC",): DESCRIBED,
    ("EXPLAIN",): "write EXPLAIN and a query's name",
    ("REGISTER", "PATTERN"): (
        "write REGISTER PATTERN name AS WITH step AS (SELECT …), … SELECT … FROM step "
        "THEN [NOT] step WITHIN 1 HOUR … [REPORT ALL | FIRST [WITH TIMEOUTS]], or step = SELECT …; … "
        "SELECT … FROM step WHERE id [NOT] IN step WITHIN 1 HOUR END"
    ),
    ("REPLACE",): "write REPLACE QUERY name AS SELECT …, or REPLACE PATTERN name AS WITH … SELECT …",
    ("REGISTER", "QUERIES"): "write REGISTER QUERIES FROM 'queries.parquet' [WITH (format = '…')]",
    ("REGISTER",): (
        "write REGISTER QUERY name AS SELECT … FROM stream [WHERE condition] [INSIDE region] [kNN (k, x, y)] "
        "[WINDOW 1 HOUR]"
    ),
    ("SELECT",): (
        "write SELECT … FROM stream [WHERE condition] [INSIDE region] [kNN (k, x, y)] [WINDOW 1 HOUR]"
    ),
    ("WITH",): "write WITH name AS (SELECT …), … SELECT … FROM name",
    ("AT",): "write AT '2008-05-23 19:00:00' and a statement",
}


def form_of(tokens: Sequence[Token]) -> str:
    """The form of the statement that these tokens begin, as far as they tell."""
    words = [t.text.upper() for t in tokens]
    if words[:1] == ["AT"] and len(words) > 2:
        inner = next(
            (i for i, word in enumerate(words[1:], 1) if (word,) in FORMS or word == "REGISTER"), None
        )
        words = words[inner:] if inner else words
    return (
        FORMS.get(tuple(words[:3]))
        or FORMS.get(tuple(words[:2]))
        or FORMS.get(tuple(words[:1]))
        or STATEMENTS
    )
