"""Metres on the globe against pyproj's, on a sphere of the same radius: far, near, and at the other end."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyproj import Geod
from sqlglot import exp

from sanderling import relational
from sanderling.plan.expressions.globe_distances import chord, chord_within, metres_between
from sanderling.space.sphere import RADIUS

GEOD = Geod(a=RADIUS, b=RADIUS)
SPECIAL = [(180, 0), (-180, 0), (0, 90), (45, -90), (179.9999, 52), (-179.9999, 52), (10, 10), (-170, -10)]
NAMES = ("a", "b", "c", "d")


def pairs() -> np.ndarray:  # type: ignore[type-arg]
    """A line each: longitude, latitude, longitude, latitude."""
    rng = np.random.default_rng(1)
    lon, lat = rng.uniform(-180, 180, 4000), np.degrees(np.arcsin(rng.uniform(-1, 1, 4000)))
    far = np.stack([lon[:2000], lat[:2000], lon[2000:], lat[2000:]], axis=1)
    step = 10 ** rng.uniform(-6, 0, 2000)
    near = np.stack([far[:, 0], far[:, 1], far[:, 0] - np.sign(far[:, 0]) * step, far[:, 1] * 0.999], axis=1)
    # Almost at the other end of the globe.
    over = np.stack([far[:, 0], far[:, 1], far[:, 0] - np.sign(far[:, 0]) * 180, -far[:, 1] + step], axis=1)
    over = over[np.abs(over[:, 3]) <= 90]
    special = [(*one, *other) for one in SPECIAL for other in SPECIAL]
    return np.concatenate([far, near, over, special])


def evaluated(formula: exp.Expr, table: pa.Table) -> np.ndarray:  # type: ignore[type-arg]
    (found,) = relational.evaluate([formula.sql(dialect="duckdb")], table)
    return np.asarray(found.to_numpy())


def test_metres_are_those_of_pyproj() -> None:
    places = pairs()
    table = pa.table(dict(zip(NAMES, places.T, strict=True)))
    columns = [exp.column(name) for name in NAMES]
    got = evaluated(metres_between(*columns), table)
    wanted = np.asarray(GEOD.inv(*places.T)[2])
    # Ten nanometres: what doubles can say of degrees.
    assert (np.abs(got - wanted) <= 1e-9 * wanted + 1e-8).all()
    # Who is within a distance is who is no farther than that.
    for metres in (1.0, 1_000.0, 500_000.0, 15_000_000.0):
        limit = evaluated(chord_within(exp.Literal.number(metres)), table)[0]
        is_within = evaluated(chord(*columns), table) <= limit
        is_clear = np.abs(wanted - metres) > 1e-6 * metres
        assert (is_within == (wanted <= metres))[is_clear].all()
