"""Query Q1 of STEPQ by Esper and by Flink CEP, as the paper's middleware: an index makes events, patterns
stand on them.

All are given the same readings and tell the same matches. Maven fetches the peers for this, and they are no
part of the product (Esper is under the GPL). Times are the processor's of the threads that work: Java's
compiler and collector are not counted, nor is what they would have to do to come back after a crash.
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

REASON = "who goes from a school's square to a place nearby and back: readings a second, beside two peers"
HERE = Path(__file__).parent
WRITTEN = pc.WriteOptions(include_header=False)

PEERS = {"Esper": "Peer", "Flink": "Flink"}
# What Flink looks into.
OPENS = ["--add-opens=java.base/java.util=ALL-UNNAMED", "--add-opens=java.base/java.lang=ALL-UNNAMED"]

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


class Peer:
    """Compiled once; each run is a JVM of its own."""

    def __init__(self, folder: Path, name: str, main: str):
        self.folder, self.main, found = folder / name, main, folder / name / "classpath"
        self.folder.mkdir()
        fetch = ["mvn", "-q", "-B", "-f", str(HERE / name / "pom.xml"), "dependency:build-classpath"]
        subprocess.run([*fetch, f"-Dmdep.outputFile={found}"], check=True)
        self.path = f"{found.read_text().strip()}:{self.folder}"
        source = str(HERE / name / f"{main}.java")
        subprocess.run(["javac", "-nowarn", "-cp", self.path, "-d", str(self.folder), source], check=True)

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
            ["java", "-Xmx2g", *OPENS, "-cp", self.path, self.main, *words],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
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
    with tempfile.TemporaryDirectory() as folder:
        others = {name: Peer(Path(folder), name.lower(), main) for name, main in PEERS.items()}
        for count in counts:
            of = World(made.steps, pairs(count, side_m))
            ours, theirs = by_us(of, side_m, stay_s), {}
            for name, peer in others.items():
                theirs[name] = peer.run(of, side_m, stay_s)
                assert ours[1] == theirs[name][1], f"other matches than {name}"
            for _ in range(rounds - 1):
                ours = min(ours, by_us(of, side_m, stay_s), key=lambda r: r[0])
                for name, peer in others.items():
                    theirs[name] = min(theirs[name], peer.run(of, side_m, stay_s), key=lambda r: r[0])
            rows.append(
                {"patterns": count, "readings a second, Sanderling": readings / ours[0],
                 **{f"readings a second, {name}": readings / one[0] for name, one in theirs.items()},
                 **{f"times as fast as {name}": one[0] / ours[0] for name, one in theirs.items()},
                 "events for them": theirs["Esper"][2], "matches": len(ours[1])}
            )  # fmt: skip
            for name, one in theirs.items():
                facts[f"times as fast as {name}, {count} patterns"] = one[0] / ours[0]
    report("peers_patterns", REASON, rows, facts)
    return facts
