"""The oracle against DuckDB, without the engine: the same whole answer at every tick."""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, given, settings

from tests.long import drawn
from tests.oracle.duck import Duck, agree
from tests.oracle.oracle import Row
from tests.oracle.sql import answer
from tests.oracle.times import every_tick, ticks_that_matter
from tests.properties.chance import Chance, made_of
from tests.properties.queries import KINDS, Asked, queries
from tests.properties.scenes import Scene, scenes

MANY = settings(
    max_examples=drawn(25, 5000),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def case(chance: Chance) -> tuple[Scene, Asked]:
    # Sums of rough numbers are DuckDB's own, in whatever order.
    scene = scenes(chance, may_be_rough=False)
    # It is asked for one tick at a time: what is of others too is not its; NN and NEARBY have SciPy.
    of_others = ("refresh", "persistency", "nn", "nearby", "synchronize")
    return scene, queries(chance, scene, 0, tuple(kind for kind in KINDS if kind not in of_others))


@MANY
@given(made_of(case))
def test_two_who_were_made_apart_agree_on_every_answer(case: tuple[Scene, Asked]) -> None:
    scene, asked = case
    query = asked.registered
    duck = Duck(scene.past, scene.is_integer_key)
    matters = set(ticks_that_matter(scene.past, query))
    before: Counter[Row] = Counter()
    for tick in every_tick(scene.past, query):
        told = answer(query.query, scene.past, tick)
        assert agree(told, duck.answer(query.query, tick)), (asked.statements(), tick)
        assert tick in matters or told == before
        before = told
