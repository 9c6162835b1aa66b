"""Changes of two sides, each meeting the other side as it is: against loops over two lists."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sanderling.kernels.sql.partners import Chains, Changes, Party, Places, Rule, walk_partners
from tests.long import drawn

ROWS, KEYS = 6, 3
CHANGE = st.tuples(st.booleans(), st.integers(0, ROWS - 1), st.sampled_from([-2, -1, 1, 1, 2]))


def party(chance: Any) -> Party:
    chains = Chains(np.full(KEYS, -1), np.full(ROWS, -1), np.full(ROWS, -1))
    x, y = (chance.integers(0, 3, ROWS).astype(float) for _ in range(2))
    places = Places(x, y, np.full(ROWS, 1.0), np.empty(0))
    return Party(
        chains, np.zeros(ROWS, np.int64), chance.integers(-1, KEYS, ROWS), places, np.zeros(ROWS, np.int64)
    )


def fits(left: Party, i: int, right: Party, j: int, rule: Rule) -> bool:
    if left.key[i] < 0 or left.key[i] != right.key[j]:
        return False
    dx, dy = left.places.x[i] - right.places.x[j], left.places.y[i] - right.places.y[j]
    square = dx * dx + dy * dy
    return not rule.is_near or bool(square < 1 if rule.is_open else square <= 1)


def plain(left: Party, right: Party, rule: Rule, changes: Any) -> tuple[Any, Any, int]:
    """Pairs and rows alone as they are after each change, less what they were before it; pairs looked at."""
    there: Any = (Counter(), Counter())
    pairs, alone = Counter(), Counter()
    before: Any = (Counter(), Counter())
    looked = 0
    for tick, (is_right, row, sign) in enumerate(changes):
        mine, theirs = (right, left) if is_right else (left, right)
        looked += sum(theirs.key[j] == mine.key[row] for j, n in there[not is_right].items() if n) * (
            mine.key[row] >= 0
        )
        there[is_right][row] += sign
        now = _answer(left, right, rule, there)
        for told, new, old in zip((pairs, alone), now, before, strict=True):
            told.update({(k, tick): new[k] - old[k] for k in {*new, *old} if new[k] != old[k]})
        before = now
    return pairs, alone, looked


def _answer(left: Party, right: Party, rule: Rule, there: Any) -> Any:
    pairs, alone = Counter(), Counter()
    for i, n in there[0].items():
        partners = {j: m for j, m in there[1].items() if m and fits(left, i, right, j, rule)}
        pairs.update({(i, j): n * m for j, m in partners.items() if n})
        if rule.is_left and n and not sum(partners.values()):
            alone[i] = n
    return pairs, alone


@settings(max_examples=drawn(60, 2000), deadline=None)
@given(st.lists(CHANGE, max_size=25), st.integers(0, 50), st.booleans(), st.booleans(), st.booleans())
def test_pairs_and_who_stands_alone_after_each_change(
    changes: Any, seed: int, is_near: bool, is_open: bool, is_left: bool
) -> None:
    chance = np.random.default_rng(seed)
    left, right = party(chance), party(chance)
    rule = Rule(is_near, is_open, is_left)
    pairs, alone, looked = plain(left, right, rule, changes)
    sides = [[(t, c) for t, c in enumerate(changes) if c[0] == is_right] for is_right in (False, True)]
    tick, row, sign = (
        np.array([value(t, c) for t, c in (*sides[0], *sides[1])], np.int64)
        for value in (lambda t, c: t, lambda t, c: c[1], lambda t, c: c[2])
    )
    keys = np.concatenate(
        [p.key[[c[1] for _, c in side]] for p, side in zip((left, right), sides, strict=True)]
    )
    told = walk_partners(
        left,
        right,
        rule,
        Changes(row, tick, sign, keys.astype(np.int64)[:, None]),
        len(sides[0]),
        np.argsort(tick),
    )
    found = Counter({((a, b), t): n for a, b, t, n in told.pairs[: told.n].tolist()})
    assert found == pairs and told.looked == looked
    by_row: Any = Counter()
    for a, t, n in told.pads[: told.m].tolist():
        by_row[a, t] += n
    assert {k: n for k, n in by_row.items() if n} == dict(alone)
