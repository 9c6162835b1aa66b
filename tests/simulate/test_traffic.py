"""Traffic keeps its promises: on roads, not too fast, gone once, the same for the same seed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sanderling.errors import ConfigError
from sanderling.simulate.network import LIMIT_MPS, Network
from sanderling.simulate.settings import TrafficSettings, settings_of
from sanderling.simulate.traffic import KINDS, TOP_MPS, Traffic

STEPS = 120
SETTINGS = TrafficSettings(objects=400, new=4, step_us=2_000_000)


def run(network: Network, settings: TrafficSettings, steps: int = STEPS) -> pd.DataFrame:
    traffic = Traffic(network, settings)
    return pd.concat([traffic.step().to_pandas() for _ in range(steps)], ignore_index=True)


@pytest.fixture(scope="module")
def readings(town: Network) -> pd.DataFrame:
    return run(town, SETTINGS)


def away_m(network: Network, x: np.ndarray, y: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """How far each place is from the nearest road."""
    ax, ay = network.x[network.from_node], network.y[network.from_node]
    bx, by = network.x[network.to_node] - ax, network.y[network.to_node] - ay
    dx, dy = x[:, None] - ax, y[:, None] - ay
    part = np.clip((dx * bx + dy * by) / (bx * bx + by * by), 0, 1)
    return np.asarray(np.hypot(dx - part * bx, dy - part * by).min(axis=1))


def test_columns_and_times(readings: pd.DataFrame) -> None:
    assert list(readings) == ["id", "ts", "x", "y", "speed", "heading", "type", "gone"]
    moments = readings.ts.unique()
    assert len(moments) == STEPS and str(moments[0]) == "2024-05-01 08:00:00"
    assert set(np.diff(moments)) == {np.timedelta64(2, "s")}


def test_objects_are_on_roads(town: Network, readings: pd.DataFrame) -> None:
    some = readings.sample(4_000, random_state=1)
    assert away_m(town, some.x.to_numpy(), some.y.to_numpy()).max() < 1e-6


def test_nobody_is_faster_than_its_kind_or_the_road(readings: pd.DataFrame) -> None:
    by_object = readings.sort_values(["id", "ts"]).groupby("id")
    moved_m = np.hypot(by_object.x.diff(), by_object.y.diff())
    top_mps = readings.type.astype(str).map(dict(zip(KINDS, TOP_MPS, strict=True)))
    assert (moved_m.dropna() <= 2 * np.minimum(top_mps, LIMIT_MPS[0])[moved_m.dropna().index] + 1e-6).all()
    assert (readings.speed <= top_mps).all() and (readings.speed > 0).all()
    assert moved_m.mean() > 5, "they do move"


def test_an_object_that_arrives_is_gone_once_and_last(readings: pd.DataFrame) -> None:
    gone = readings[readings.gone]
    assert len(gone) > 100 and not gone.id.duplicated().any()
    last = readings.groupby("id").ts.max()
    assert (gone.set_index("id").ts == last[gone.id]).all()
    silent = set(readings[readings.ts < readings.ts.max()].id) - set(
        readings[readings.ts == readings.ts.max()].id
    )
    assert silent == set(gone[gone.ts < readings.ts.max()].id), "nobody disappears without a word"


def test_goals_are_junctions(town: Network, readings: pd.DataFrame) -> None:
    gone = readings[readings.gone]
    from_junction = np.hypot(gone.x.to_numpy()[:, None] - town.x, gone.y.to_numpy()[:, None] - town.y)
    assert from_junction.min(axis=1).max() < 1e-6


def test_ids_count_up_and_new_objects_appear_in_every_step(readings: pd.DataFrame) -> None:
    first = readings.groupby("id").ts.min()
    assert first.index.tolist() == list(range(400 + 4 * (STEPS - 1)))
    assert first.is_monotonic_increasing and first.value_counts().iloc[1:].eq(4).all()
    assert not readings.duplicated(["id", "ts"]).any()


def test_kinds_have_their_shares_and_buses_never_leave(readings: pd.DataFrame) -> None:
    kinds = readings.drop_duplicates("id").type.value_counts()
    assert kinds["bus"] == 20 and kinds["car"] > kinds["bike"] > kinds["truck"] > kinds["bus"]
    buses = readings[readings.type == "bus"]
    assert not buses.gone.any() and (buses.groupby("id").size() == STEPS).all()
    assert buses.id.unique().tolist() == list(range(0, 400, 20))


def test_a_kind_stays_what_it_is(readings: pd.DataFrame) -> None:
    assert (readings.groupby("id").type.nunique() == 1).all()


def test_headings_are_those_of_the_way(readings: pd.DataFrame) -> None:
    assert readings.heading.between(0, 360, inclusive="left").all()
    by_object = readings.sort_values(["id", "ts"]).groupby("id")
    east, north, turned = by_object.x.diff(), by_object.y.diff(), by_object.heading.diff()
    is_straight = (turned == 0) & (np.hypot(east, north) > 1)
    way = np.degrees(np.arctan2(east, north)) % 360
    off = np.abs((way - readings.heading + 180) % 360 - 180)[is_straight]
    assert is_straight.sum() > 1_000 and (off < 1e-3).mean() > 0.95


def test_the_four_winds() -> None:
    x, y = np.array([0.0, 0, 10, 0, -10]), np.array([0.0, 10, 0, -10, 0])
    star = Network(x, y, np.zeros(4, np.int64), np.arange(1, 5), np.zeros(4, np.int64), np.full(4, 10.0))
    assert Traffic(star, SETTINGS).arcs.heading.tolist() == [0, 90, 180, 270, 180, 270, 0, 90]


def test_the_same_seed_gives_the_same_readings(town: Network, readings: pd.DataFrame) -> None:
    assert run(town, SETTINGS).equals(readings)
    assert not run(town, replace(SETTINGS, seed=8)).equals(readings)


def test_noise_and_skipping_do_not_change_the_way(town: Network, readings: pd.DataFrame) -> None:
    noisy = run(town, replace(SETTINGS, noise_m=5.0, skip=0.1))
    both = noisy.merge(readings, on=["id", "ts"], suffixes=("", "_true"))
    assert len(both) == len(noisy) and (both.speed == both.speed_true).all()
    for off in (both.x - both.x_true, both.y - both.y_true):
        assert abs(off.mean()) < 0.2 and 4.8 < off.std() < 5.2
    is_skippable = ~readings.gone
    assert abs(1 - (~noisy.gone).sum() / is_skippable.sum() - 0.1) < 0.01
    assert noisy.gone.sum() == readings.gone.sum(), "a last word is never left out"


def test_with_keep_going_nobody_leaves(town: Network) -> None:
    traffic = Traffic(town, replace(SETTINGS, new=0, keeps_going=True))
    steps = [traffic.step() for _ in range(STEPS)]
    assert traffic.alive == 400 and all(s.num_rows == 400 for s in steps)
    assert not any(s.column("gone").to_numpy().any() for s in steps)
    x = np.stack([s.column("x").to_numpy() for s in steps])
    assert (np.abs(np.diff(x, axis=0)) > 0).mean() > 0.99, "everybody moves in every step"
    assert traffic.there.trip.max() > 1


def test_crowded_roads_are_slower(town: Network) -> None:
    few = Traffic(town, replace(SETTINGS, objects=20, new=0))
    many = Traffic(town, replace(SETTINGS, objects=20_000, new=0))
    assert many.limit_mps.mean() < 0.6 * few.limit_mps.mean()
    counts = np.bincount(many.there.arc, minlength=len(many.arcs))
    free = LIMIT_MPS[many.arcs.arc_class]
    assert np.array_equal(many.limit_mps[counts <= 1], free[counts <= 1]), "alone, nobody is in the way"
    part, use = many.limit_mps / free, np.maximum(counts - 1, 0) / many.room
    assert (np.diff(part[np.argsort(use)]) <= 1e-12).all() and part.min() == pytest.approx(0.1)
    slow, fast = (np.mean(t.step().column("speed").to_numpy()) for t in (many, few))
    assert slow < 0.7 * fast


def test_a_long_step_passes_many_roads(town: Network) -> None:
    """A minute is worth sixty seconds, but for what crowding changes in between."""
    alone = TrafficSettings(objects=1, new=0, seed=3, keeps_going=True)
    short, long = Traffic(town, alone), Traffic(town, replace(alone, step_us=60_000_000))
    for _ in range(60):
        short.step()
    (by_second,), (by_minute,) = short.step().to_pylist(), [long.step(), long.step().to_pylist()][1]
    assert by_minute["x"] == pytest.approx(by_second["x"]) and by_minute["y"] == pytest.approx(by_second["y"])


@pytest.mark.parametrize(
    "change",
    [
        {"objects": 0}, {"objects": -1}, {"objects": 10**12}, {"new": -1}, {"new": 10**9}, {"step_us": 0},
        {"step_us": -5}, {"step_us": 10**15}, {"seed": -1}, {"seed": 2**63}, {"noise_m": -1.0},
        {"noise_m": float("nan")}, {"noise_m": float("inf")}, {"skip": 1.0}, {"skip": -0.1},
        {"skip": float("nan")},
    ],
    ids=str,
)  # fmt: skip
def test_settings_that_make_no_sense(change: dict[str, float]) -> None:
    with pytest.raises(ConfigError) as error:
        replace(SETTINGS, **change)  # type: ignore[arg-type]
    assert error.value.code == "config.bad_option" and error.value.hint


def test_a_start_and_a_step_as_the_command_takes_them() -> None:
    settings = settings_of(1, 0, 0.5, "2020-01-01T02:00:00+02:00", 7, 0.0, 0.0, False)
    assert (settings.start_us, settings.step_us) == (1_577_836_800_000_000, 500_000)
    for step, start in ((float("nan"), "2020-01-01"), (1.0, "soon"), (1e300, "2020-01-01")):
        with pytest.raises(ConfigError, match=r"config\.bad_option"):
            settings_of(1, 0, step, start, 7, 0.0, 0.0, False)
