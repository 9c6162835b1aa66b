"""A fleet without an end: cars and vans that come, report, and go or fall silent, and never come back.

At any time there are as many of them as ever, so what is remembered of them is to be as much as ever.
"""

from __future__ import annotations

from random import Random

STREAM = (
    "CREATE STREAM {name} (id STRING, ts BIGINT, x DOUBLE, y DOUBLE, speed DOUBLE, off BOOLEAN) "
    "KEY id TIME ts LOCATION (x, y) GONE off WITH ({path}stale_after = '20 seconds')"
)
COLUMNS = "id,ts,x,y,speed,off"
# Regions that stand and move, the nearest, windows of every kind, joins, aggregates, triggers.
QUERIES = (
    "REGISTER QUERY here AS SELECT id, speed FROM cars INSIDE (2, 2, 7, 7)",
    "REGISTER QUERY speeds AS SELECT speed FROM cars",
    "REGISTER QUERY around AS SELECT id FROM cars INSIDE ('M', 'bus', 4)",
    "REGISTER QUERY met AS SELECT id, ts FROM cars INSIDE ('M', 'bus', 4) WINDOW 9 SECONDS",
    "REGISTER QUERY three AS SELECT id FROM cars kNN (3, 5, 5)",
    "REGISTER QUERY two AS SELECT id FROM cars kNN ('M', 2, 'bus')",
    "REGISTER QUERY lately AS SELECT id, ts FROM cars WINDOW 30 SECONDS",
    "REGISTER QUERY last AS SELECT id, ts FROM cars INSIDE ('M', 'bus', 4) WINDOW 50 ROWS",
    "REGISTER QUERY next AS SELECT id, ts FROM cars WINDOW UNTIL NEXT",
    "REGISTER QUERY as_fast AS SELECT id, ts FROM cars WINDOW UNTIL NEXT.speed <> speed",
    "REGISTER QUERY elapsed AS SELECT id, ts - PREVIOUS(ts) AS s FROM cars",
    "REGISTER QUERY each AS SELECT id, COUNT(*) AS n, SUM(speed) AS s, MAX(ts) AS m FROM cars "
    "WINDOW 30 SECONDS GROUP BY id",
    "REGISTER QUERY how_many AS SELECT speed, COUNT(DISTINCT id) AS n, AVG(x) AS m FROM cars GROUP BY speed",
    "REGISTER QUERY seen AS SELECT DISTINCT id FROM cars WINDOW 30 SECONDS",
    "REGISTER QUERY slowest AS SELECT id, speed FROM cars ORDER BY speed, id LIMIT 3",
    "REGISTER QUERY both AS SELECT a.id, b.speed FROM cars a, vans b WHERE a.id = b.id",
    "REGISTER QUERY both_lately AS SELECT a.id, b.ts FROM cars a, vans b WHERE a.id = b.id WINDOW 9 SECONDS",
    "REGISTER QUERY some AS SELECT a.id, b.n FROM cars a LEFT JOIN "
    "(SELECT id, COUNT(*) AS n FROM vans WINDOW 9 SECONDS GROUP BY id) AS b ON a.id = b.id",
    "REGISTER QUERY close AS SELECT a.id AS one, b.id AS other FROM cars a, vans b WHERE DISTANCE(a, b) < 2",
    "REGISTER QUERY any AS SELECT id FROM cars UNION SELECT id FROM vans",
    "CREATE TRIGGER meet FOR cars AS a, cars AS b WHEN a.id <> b.id AND DISTANCE(a, b) < 0.7 "
    "AND b.ts - a.ts IN [0, 5]",
    "CREATE TRIGGER crowd FOR 3 OF cars AS V WHEN V.speed > 3 AND WITHIN 6 SECONDS REPORT FIRST",
    "CREATE TRIGGER same FOR cars AS a, vans AS b WHEN a.id = b.id AND WITHIN 5 SECONDS",
)


def script(cars: str = "", vans: str = "") -> str:
    """The whole of it; the streams may have paths."""
    streams = [
        STREAM.format(name=name, path=f"path = '{path}', " if path else "")
        for name, path in (("cars", cars), ("vans", vans))
    ]
    return ";\n".join([*streams, *QUERIES])


def readings(chance: Random, first: int, ticks: int) -> str:
    """So many seconds of it as CSV, from the first on: three readings a second, and the bus."""
    rows = [COLUMNS]
    for ts in range(first, first + ticks):
        who = [f"car{ts // 5 - chance.randint(0, 11)}" for _ in range(3)]
        for key in ["bus", *who] if ts % 2 == 0 else who:
            place = f"{chance.uniform(0, 10):.2f},{chance.uniform(0, 10):.2f}"
            off = str(key != "bus" and chance.random() < 0.05).lower()
            rows.append(f"{key},{ts},{place},{chance.randint(0, 4)},{off}")
    return "\n".join(rows) + "\n"
