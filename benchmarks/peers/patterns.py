"""Query Q1 of STEPQ by Esper, as the paper's middleware: an index makes events, patterns stand on them.

Both are given the same readings and tell the same matches. Esper is under the GPL: Maven fetches it for this,
and it is no part of the product. Times are the processor's of the thread that works: Java's compiler and
collector are not counted, nor is what Esper would have to do to come back after a crash.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

from benchmarks.patterns import MILE_M, STEP_S, Run, World, pattern, planned, world
from benchmarks.report import report
from sanderling.simulate.city import RADIUS_M

REASON = "who goes from a school's square to a place nearby and back: readings a second, beside Esper"
HERE = Path(__file__).parent / "esper"
WRITTEN = pc.WriteOptions(include_header=False)

Match = tuple[int, int, int, int]  # pair, object, when it came and when it was back, in milliseconds


def pairs(count: int, side_m: float, seed: int = 11) -> list[Any]:
    """The middles of schools and of places that touch them nearly."""
    rng = np.random.default_rng(seed)
    at = rng.uniform(-RADIUS_M / 2, RADIUS_M / 2, (count, 2))
    angle = rng.integers(0, 4, count) * np.pi / 2
    near = at + (side_m + 1) * np.column_stack([np.cos(angle), np.sin(angle)])
    return [(tuple(a), tuple(b)) for a, b in zip(at.tolist(), near.tolist(), strict=True)]


def by_us(of: World, side_m: float, stay_s: int) -> tuple[float, set[Match]]:
    texts = [pattern(f"p{i}", *two, stay_s) for i, two in enumerate(of.squares(side_m))]
    run = Run(planned(texts))
    for step in of.steps:
        run.step(step)
    names = run.engine.plan.queries.names.to_pylist()
    return sum(run.seconds), {_match(names, row) for row in run.told}


def _match(names: Sequence[str], row: tuple[Any, ...]) -> Match:
    query, _, _, key, came, back = row
    return int(names[query][1:]), key, _ms(came), _ms(back)


def _ms(moment: Any) -> int:
    return int(moment.replace(tzinfo=UTC).timestamp() * 1000)


class Esper:
    """Compiled once; each run is a JVM of its own."""

    def __init__(self, folder: Path):
        self.folder, found = folder, folder / "classpath"
        fetch = ["mvn", "-q", "-B", "-f", str(HERE / "pom.xml"), "dependency:build-classpath"]
        subprocess.run([*fetch, f"-Dmdep.outputFile={found}"], check=True)
        self.path = f"{found.read_text().strip()}:{folder}"
        subprocess.run(["javac", "-cp", self.path, "-d", str(folder), str(HERE / "Peer.java")], check=True)

    def run(self, of: World, side_m: float, stay_s: int) -> tuple[float, set[Match], int]:
        """Also how many events were sent to it."""
        squares, readings, matches = (self.folder / name for name in ("squares", "readings", "matches"))
        lines = (
            f"{pair},{kind},{','.join(f'{v:.3f}' for v in square)}\n"
            for pair, two in enumerate(of.squares(side_m))
            for kind, square in enumerate(two)
        )
        squares.write_text("".join(lines))
        whole = pa.concat_tables(of.steps).select(["ts", "id", "x", "y", "offender"])
        pc.write_csv(whole, readings, WRITTEN)
        words = [str(squares), str(readings), str(stay_s), str(matches)]
        done = subprocess.run(
            ["java", "-Xmx2g", "-cp", self.path, "Peer", *words], check=True, capture_output=True, text=True
        )
        _, seconds, sent = done.stdout.split()
        found = {tuple(int(v) for v in line.split(",")) for line in matches.read_text().splitlines()}
        found = {
            match for match in found if match[-1] < len(of.steps) * STEP_S * 1000
        }  # our last tick is open
        return float(seconds), found, int(sent)  # type: ignore[return-value]


def run(
    objects: int = 10_000, steps: int = 120, counts: tuple[int, ...] = (1, 100, 1_000), side: float = 0.4,
    stay_s: int = 40, rounds: int = 2,
) -> dict[str, float]:  # fmt: skip
    made, side_m = world(objects, steps), side * MILE_M
    readings = sum(step.num_rows for step in made.steps)
    rows, facts = [], dict[str, Any](objects=objects, steps=steps)
    with tempfile.TemporaryDirectory() as name:
        esper = Esper(Path(name))
        for count in counts:
            of = World(made.steps, pairs(count, side_m))
            ours, theirs = by_us(of, side_m, stay_s), esper.run(of, side_m, stay_s)
            assert ours[1] == theirs[1], "other matches"
            for _ in range(rounds - 1):
                again, other = by_us(of, side_m, stay_s), esper.run(of, side_m, stay_s)
                ours, theirs = min(ours, again, key=lambda r: r[0]), min(theirs, other, key=lambda r: r[0])
            rows.append(
                {"patterns": count, "readings a second, Sanderling": readings / ours[0],
                 "readings a second, Esper": readings / theirs[0], "times as fast": theirs[0] / ours[0],
                 "events for Esper": theirs[2], "matches": len(ours[1])}
            )  # fmt: skip
            facts[f"times as fast as Esper, {count} patterns"] = theirs[0] / ours[0]
    report("peers_patterns", REASON, rows, facts)
    return facts
