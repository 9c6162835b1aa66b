"""The reference twin of `solve`: the same events kept and let go at the same times, in plain Python."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from sanderling.kernels.trigger.agree import EQUAL, LESS, MORE, Rules
from sanderling.kernels.trigger.solve import GUEST, Events, How
from sanderling.space.metric import ON_PLANE, plain_chord, plain_squared


class Entry:
    """An event as one kind of variable of a trigger; `bounds` by kind: until when it has one of that kind."""

    def __init__(self, events: Events, event: int, trigger: int, kind: int):
        self.trigger, self.kind, self.order = trigger, kind, int(events.order[event])
        self.ts, self.place = int(events.ts[event]), events.place[event].tolist()
        self.whole = events.value[event].tolist()
        self.double = events.value[event].view(np.float64).tolist()
        self.nulls = int(events.nulls[event])
        self.bounds: dict[int, float] = {}


class PlainSolver:
    """Triggers of one shape, as `solve.advance` works on them."""

    def __init__(self, rules: Rules, how: How):
        self.how, self.kinds = how, range(len(rules.kinds))
        self.first_of, self.last_of, self.size_of = rules.kinds.T.tolist()
        self.kind_of, self.set_of = rules.pairs.variables.T.tolist()
        self.times, self.reach2 = rules.times.tolist(), rules.reach[..., 1].tolist()
        self.lasts = rules.lasts.tolist()
        self.pair_times, self.rings = rules.pairs.times.tolist(), rules.pairs.rings.tolist()
        self.start, self.compares = rules.pairs.start.tolist(), rules.pairs.compares.tolist()
        self.constant = rules.pairs.constant.tolist()
        self.live: dict[tuple[int, int], list[Entry]] = defaultdict(list)

    def advance(self, events: Events) -> list[tuple[int, ...]]:
        """By solution the event that completes it, its trigger, and the order of each variable's event."""
        told: list[tuple[int, ...]] = []
        for t in range(len(events.start) - 1):
            for row in range(events.start[t], events.start[t + 1]):
                event, is_of = int(events.event[row]), int(events.is_of[row])
                told += [(event, t, *s) for s in self.take(events, event, t, is_of)]
        for ts in events.ts[-1:].tolist():
            self.expire(ts, list(self.live))
        return sorted(told)

    def take(self, events: Events, event: int, t: int, is_of: int) -> list[tuple[int, ...]]:
        """An event of a trigger; what it completes."""
        self.expire(int(events.ts[event]), [(t, c) for c in self.kinds])
        mine = {c: Entry(events, event, t, c) for c in self.kinds if is_of >> self.first_of[c] & 1}
        met = self.meet(mine)
        self.renew(mine, met)
        searched = () if is_of >> GUEST else mine
        found = sorted(s for c in searched for s in self.search(mine[c], met[c]))
        for entry in mine.values():
            if self.lasts[t][entry.kind] >= 0:
                self.live[t, entry.kind].append(entry)
        return found[:1] if self.how.is_first else found

    # ----- who may meet whom

    def others(self, c: int) -> list[int]:
        return [d for d in self.kinds if c != d or self.size_of[c] > 1]

    def meet(self, mine: dict[int, Entry]) -> dict[int, dict[int, list[Entry]]]:
        """By kind the event stands for, and other kind, who is there; what lacks a past one is taken out."""
        met: dict[int, dict[int, list[Entry]]] = {}
        for c, e in list(mine.items()):
            past = [d for d in self.others(c) if self.times[e.trigger][c][d][1] < 0]
            met[c] = {d: self.partners(e, d) for d in past}
            if not all(met[c].values()):
                del mine[c]
        for c, e in mine.items():
            for d in self.others(c):
                if d not in met[c]:
                    itself = [mine[d]] if c != d and d in mine and self.may_meet(e, mine[d]) else []
                    met[c][d] = self.partners(e, d) + itself
        return met

    def partners(self, e: Entry, d: int) -> list[Entry]:
        return [a for a in self.live[e.trigger, d] if self.may_meet(e, a)]

    def may_meet(self, a: Entry, b: Entry) -> bool:
        t, c, d = a.trigger, a.kind, b.kind
        after, until = self.times[t][c][d]
        if not after <= b.ts - a.ts <= until:
            return False
        if self.reach2[t][c][d] < math.inf and not between(a, b) <= self.reach2[t][c][d]:
            return False
        if self.size_of[c] > 1 or self.size_of[d] > 1:
            return True
        return self.agree(self.first_of[c], a, self.first_of[d], b)

    def agree(self, u: int, a: Entry, v: int, b: Entry) -> bool:
        after, until = self.pair_times[a.trigger][u][v]
        near, near_strict, far, far_strict = self.rings[a.trigger][u][v]
        if not after <= b.ts - a.ts <= until:
            return False
        if self.set_of[u] >= 0 and self.set_of[u] == self.set_of[v]:
            first, second = (a, b) if u < v else (b, a)
            if first.order >= second.order:
                return False
        d2 = between(a, b)
        if near < math.inf and not (d2 < near if near_strict else d2 <= near):
            return False
        if (far > 0 or far_strict) and not (d2 > far if far_strict else d2 >= far):
            return False
        return self.values_agree(u, a, v, b) and self.values_agree(v, b, u, a)

    def values_agree(self, u: int, a: Entry, v: int, b: Entry) -> bool:
        for k in range(self.start[u][v], self.start[u][v + 1]):
            left, right, takes, is_float, is_difference = self.compares[k]
            if a.nulls >> left & 1 or b.nulls >> right & 1:
                return False
            x, y = (a.double[left], b.double[right]) if is_float else (a.whole[left], b.whole[right])
            if is_difference:
                x, y = x - y, self.constant[a.trigger][k]
            if not takes & order_of(x, y):
                return False
        return True

    # ----- how long they live

    def renew(self, mine: dict[int, Entry], met: dict[int, dict[int, list[Entry]]]) -> None:
        is_tight = self.how.is_tight
        for c, e in mine.items():
            for d in self.others(c):
                until = self.times[e.trigger][c][d][1]
                e.bounds[d] = e.ts + until if is_tight or until <= 0 else math.inf
        for c, e in mine.items():
            lasts = self.lasts[e.trigger]
            for d, partners in met[c].items() if lasts[c] >= 0 else ():
                for a in partners:
                    e.bounds[d] = max(e.bounds[d], a.ts + lasts[d] if is_tight else math.inf)
                    a.bounds[c] = max(a.bounds[c], e.ts + lasts[c] if is_tight else math.inf)

    def expiry(self, e: Entry) -> float:
        last: float = min([e.ts + self.lasts[e.trigger][e.kind], *e.bounds.values()])
        return last

    def expire(self, now: int, lists: list[tuple[int, int]]) -> None:
        for some in lists:
            self.live[some] = [e for e in self.live[some] if self.expiry(e) >= now]

    # ----- solutions

    def search(self, e: Entry, met: dict[int, list[Entry]]) -> Iterator[tuple[int, ...]]:
        """Solutions in which e is its kind's last variable, and no variable before that."""
        i, m = self.last_of[e.kind], len(self.kind_of)
        domains = {}
        for v in range(m):
            if v != i:
                some = met[self.kind_of[v]]
                domains[v] = [
                    a for a in some if (v > i or a.order != e.order) and self.agree(i, e, v, a)
                ]  # fmt: skip
        yield from self.extend({i: e}, domains)

    def extend(self, chosen: dict[int, Entry], domains: dict[int, list[Entry]]) -> Iterator[tuple[int, ...]]:
        """Forward checking: the variable with the fewest events next."""
        if not domains:
            yield tuple(chosen[v].order for v in sorted(chosen))
            return
        v = min(domains, key=lambda u: len(domains[u]))
        for a in domains[v]:
            left = {u: [b for b in some if self.agree(v, a, u, b)] for u, some in domains.items() if u != v}
            if all(left.values()):
                yield from self.extend({**chosen, v: a}, left)


def between(a: Entry, b: Entry) -> float:
    """The square of the distance between two entries."""
    if len(a.place) == ON_PLANE:
        return float(plain_squared(*a.place, *b.place))
    return float(plain_chord(*a.place[2:5], *b.place[2:5]))


def order_of(x: float, y: float) -> int:
    """LESS, EQUAL or MORE; NaN is above all numbers, and equals itself."""
    a, b = (math.isnan(x), 0 if math.isnan(x) else x), (math.isnan(y), 0 if math.isnan(y) else y)
    return LESS if a < b else EQUAL if a == b else MORE
