"""Compares DISTANCE on the globe with PostGIS: ST_DistanceSphere with our radius, pair by pair.

.venv/bin/python tools/compare_postgis.py 'psql -d test'

The command is any that runs SQL from its standard input against a database with PostGIS in it.
"""

from __future__ import annotations

import shlex
import subprocess
import sys

import numpy as np
import pyarrow as pa
from sqlglot import exp

from sanderling import relational
from sanderling.plan.expressions.globe_distances import metres_between
from sanderling.space.sphere import RADIUS

PAIRS = 200_000
SPECIAL = [(180, 0), (-180, 0), (0, 90), (45, -90), (179.9999, 52), (-179.9999, 52), (10, 10), (-170, -10)]
WANTED = 1e-9


def pairs() -> np.ndarray:  # type: ignore[type-arg]
    """A line each: longitude, latitude, longitude, latitude; far, near, and special ones."""
    rng = np.random.default_rng(1)
    lon, lat = rng.uniform(-180, 180, (2, PAIRS)), np.degrees(np.arcsin(rng.uniform(-1, 1, (2, PAIRS))))
    far = np.stack([lon[0], lat[0], lon[1], lat[1]], axis=1)
    step = 10 ** rng.uniform(-4, 0, (2, PAIRS // 2))
    near = far[: PAIRS // 2].copy()
    near[:, 2] = near[:, 0] - np.sign(near[:, 0]) * step[0]
    near[:, 3] = near[:, 1] - np.sign(near[:, 1]) * step[1]
    special = [(*one, *other) for one in SPECIAL for other in SPECIAL]
    return np.concatenate([far, near, special])


def main() -> None:
    places = pairs()
    lines = "\n".join("\t".join(repr(float(v)) for v in line) for line in places)
    sql = (
        "CREATE TEMP TABLE p (n serial, a float8, b float8, c float8, d float8);\n"
        f"COPY p (a, b, c, d) FROM STDIN;\n{lines}\n\\.\n"
        "SET extra_float_digits = 3;\nSELECT 'is ' || postgis_full_version();\n"
        f"SELECT ST_DistanceSphere(ST_MakePoint(a, b), ST_MakePoint(c, d), {RADIUS!r}) FROM p ORDER BY n;\n"
    )
    said = subprocess.run(
        [*shlex.split(sys.argv[1]), "-qAt"], input=sql, capture_output=True, text=True, check=True
    )
    version, *rest = said.stdout.splitlines()
    theirs = np.array(rest, np.float64)
    table = pa.table(dict(zip("abcd", places.T, strict=True)))
    formula = metres_between(*map(exp.column, "abcd")).sql(dialect="duckdb")
    (found,) = relational.evaluate([formula], table)
    ours = np.asarray(found.to_numpy())
    off = np.abs(ours - theirs) / np.maximum(theirs, 1.0)
    print(version)
    print(
        f"{len(places):,} pairs, {theirs.min():.3g} to {theirs.max():,.0f} m: at most {off.max():.2e} apart"
    )
    assert off.max() <= WANTED


if __name__ == "__main__":
    main()
