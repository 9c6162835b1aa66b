"""Company by looking at all pairs at every tick: the plain twin of walk_company, of one query."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sanderling.space.metric import plain_squared

Place = tuple[float, float]
Row = tuple[int, int, int, int]  # left, right, tick, sign


def plain_company(
    moves: Mapping[int, Mapping[int, Place | None]],
    sides: Callable[[int], tuple[bool, bool]],
    reach: float,
    stay: int,
    last: int,
) -> set[Row]:
    """`moves` by tick and object; `sides` says whether an object may be left, and right, in a pair."""
    at: dict[int, Place] = {}
    since: dict[tuple[int, int], int] = {}
    told: set[Row] = set()
    for tick in range(min(moves, default=last), last + 1):
        for one, place in moves.get(tick, {}).items():
            if place is None:
                at.pop(one, None)
            else:
                at[one] = place
        near = {
            (a, b) for a, p in at.items() for b, q in at.items()
            if sides(a)[0] and sides(b)[1] and plain_squared(*p, *q) <= reach
        }  # fmt: skip
        told |= {(*pair, tick, -1) for pair, at_ in since.items() if pair not in near and at_ + stay < tick}
        since = {pair: since.get(pair, tick) for pair in near}
        told |= {(*pair, tick, 1) for pair, at_ in since.items() if at_ + stay == tick}
    return told
