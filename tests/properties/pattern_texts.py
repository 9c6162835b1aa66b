"""Random patterns over one stream as their authors write them, linked by the object's key."""

from __future__ import annotations

from tests.properties.chance import Chance

PLACES = ("", "INSIDE (0, 0, 4, 4)", "INSIDE (2, 2, 3)", "INSIDE (-1, 1, 3, 6)", "INSIDE ring_region")
CONDITIONS = ("", "", "WHERE speed > 0.5", "WHERE n > 0", "WHERE kind = 'bus' OR n = 7")
GRACES = ("", "", "", "GRACE 1 SECOND", "GRACE 4 SECONDS")
OTHERS = ("id", "id, speed", "id, kind, n", "id, x, n + 1 AS m", "kind, id")
# What is not simply who is where now.
RARE = (
    "SELECT id, n FROM objects PERSISTENCY 1 SECOND WHILE n >= PREVIOUS(n)",
    "SELECT id, COUNT(*) AS c FROM objects WINDOW 3 seconds GROUP BY id",
    "SELECT o.id FROM objects o JOIN sites s ON o.kind = s.kind",
    "SELECT DISTINCT id FROM objects INSIDE (0, 0, 5)",
    "SELECT id FROM objects INSIDE ('M', {focal}, 2)",
    "SELECT id FROM objects INSIDE (0, 0, 2) UNION SELECT id FROM objects WHERE n > 0",
)


def step(chance: Chance, focal: str) -> str:
    if chance.choice([False, False, False, True]):
        return chance.choice(RARE).format(focal=focal)
    shown, place, condition = chance.choice(OTHERS), chance.choice(PLACES), chance.choice(CONDITIONS)
    stay = chance.choice(["", "", "PERSISTENCY {stay} SECONDS PER (id) {grace}"])
    asked = stay.format(stay=chance.constant([0, 1, 2, 4]), grace=chance.choice(GRACES))
    return " ".join(f"SELECT {shown} FROM objects {condition} {place} {asked}".split())


def position(chance: Chance, names: list[str]) -> str:
    def one(is_not: bool = False) -> str:
        word = chance.choice(["", "ENTERING ", "LEAVING "])
        stay = chance.choice(["", "", "", " FOR 2 SECONDS"])
        times = "" if is_not else chance.choice(["", "", "", " 2 TIMES"])
        return f"{word}{chance.choice(names)} AS {{}}{stay}{times}"

    parts = [f"NOT {one(is_not=True)}" for _ in range(chance.choice([0, 0, 1]))]
    kind = chance.choice(["", "", "", " OR ", " AND "])
    parts.append(f"({one()}{kind}{one()})" if kind else one())
    return " THEN ".join(parts) + f" WITHIN {chance.constant([3, 1, 6, 12])} SECONDS"


def pattern(chance: Chance, focal: str = "'A'") -> str:
    """Without its REGISTER."""
    names = [f"s{i}" for i in range(chance.integer(1, 3))]
    steps = {name: step(chance, focal) for name in names}
    first = f"{chance.choice(names)} AS p"
    positions = [first, *(position(chance, names) for _ in range(chance.integer(1, 3)))]
    if chance.choice([False, False, False, True]):
        positions.append(f"NOT {chance.choice(names)} AS {{}} WITHIN 3 SECONDS")
    text, at = " THEN ".join(positions), 0
    while "{}" in text:
        text, at = text.replace("{}", f"p{at}", 1), at + 1
    report = chance.choice(["", "REPORT FIRST", "REPORT ALL WITH TIMEOUTS"])
    skip = chance.choice(["", "", "AFTER MATCH SKIP PAST LAST STEP"])
    given = ", ".join(f"{name} AS ({steps[name]})" for name in names if f"{name} AS" in text)
    return f"WITH {given} SELECT * FROM {text} {report} {skip}"
