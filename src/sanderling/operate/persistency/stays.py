"""What PERSISTENCY remembers: rows by key, which of them each key shows, and since when."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.clock import NEVER
from sanderling.kernels.persistency.stays import Asked, Stays
from sanderling.kernels.sql.ranking import enter_all, walk_extremes
from sanderling.operate.sql.rows.codes import BITS, Coder, Column, code
from sanderling.operate.sql.rows.numbered import Grown, Numbered, Waste
from sanderling.operate.sql.rows.ranking import Ranking
from sanderling.operate.sql.rows.steps import Steps
from sanderling.operate.sql.signed import Signed, put_together
from sanderling.plans.columns import by_places
from sanderling.plans.nodes import Order


class StaysState:
    """Keys of queries, numbered; the rows of each in order, since of several it shows the smallest.

    A key that is gone, and its rows, keep their numbers until most are such; then all are numbered anew.
    """

    def __init__(self, types: list[pa.DataType], keys: tuple[int, ...]):
        self.types, self.places = types, keys
        self.waste = Waste()
        self.corrections = Signed.none(types)  # to be told with what comes next
        self.begin()

    def begin(self) -> None:
        others = [i for i in range(len(self.types)) if i not in self.places]
        self.rows = Ranking(self.types, [Order(i, False, True) for i in others])
        self.keys = Numbered(1 + self.rows.coder.null_words + len(self.places))
        self.nulls = null_masks(self.rows.coder, self.places)
        self._row, self._since, self._gone = (
            Grown(-1, np.int64),
            Grown(NEVER, np.int64),
            Grown(NEVER, np.int64),
        )
        self._is_long, self._due = Grown(False, np.bool_), Grown(NEVER, np.int64)
        self.next_due = NEVER

    @property
    def stays(self) -> Stays:
        columns = (self._row, self._since, self._gone, self._is_long, self._due)
        return Stays(*(column.up_to(len(self.keys)) for column in columns))

    def number(self, query: I64, columns: list[Column]) -> tuple[I64, I64]:
        """The numbers of rows, and of their keys."""
        coder = self.rows.coder
        codes = coder.codes(columns, query)
        ahead = 1 + coder.null_words
        keys = np.empty((len(codes), ahead + len(self.places)), np.int64)
        keys[:, :ahead] = codes[:, :ahead] & self.nulls
        for i, place in enumerate(self.places):
            keys[:, ahead + i] = codes[:, 1 + coder.place(place)]
        key = self.keys.number(keys)
        codes[:, 0] = key
        return self.rows.numbered.number(codes), key

    def smallest(self, changes: Signed) -> tuple[Steps, I64]:
        """Takes in changes: each key at each tick at which it changes, and the row it shows then, or -1."""
        row, key = self.number(changes.query, changes.columns)
        steps = Steps.of(key, changes.tick)
        order, starts = steps.arranged(steps.step)
        forest = self.rows.forest(len(self.keys))
        first, _ = walk_extremes(forest, steps.group, starts, row[order], changes.sign[order])
        return steps, first[1]

    def query_of(self, keys: I64) -> I64:
        return np.asarray(self.keys.rows[keys, 0])

    def key_of(self, rows: I64) -> I64:
        return np.asarray(self.rows.owner[rows])

    def look_ahead(self) -> None:
        """When the next is due."""
        self.next_due = int(self.stays.due[: len(self.keys)].min(initial=NEVER))

    def replan(self, keys: I64, asked: Asked, tick: int) -> I64:
        """Other durations from a tick on, of these keys; those whose stay is over by them come back."""
        stays = self.stays
        since, gone = stays.since[keys], stays.gone[keys]
        is_stay, is_there = since != NEVER, gone == NEVER
        began, left = np.where(is_stay, since, 0), np.where(is_there, 0, gone)
        # A break that was longer than is forgiven now has ended it before.
        is_over = is_stay & ~is_there & (left + asked.grace < tick)
        due = np.where(is_there, began + asked.stay, left + asked.grace)
        is_quiet = ~is_stay | (is_there & stays.is_long[keys])
        stays.due[keys] = np.where(is_quiet, NEVER, np.maximum(due, tick))
        self.look_ahead()
        over: I64 = keys[is_over]
        return over

    def judge(self, keys: I64, asked: Asked, tick: int, tick_us: int) -> None:
        """Whether these keys have been there for long enough is another question from this tick on."""
        stays = self.stays
        since, gone, was = stays.since[keys], stays.gone[keys], stays.is_long[keys]
        is_stay, is_there = since != NEVER, gone == NEVER
        last = np.where(is_there, tick, gone) - tick_us  # the tick itself is yet to come
        long = is_stay & (last - np.where(is_stay, since, 0) >= asked.stay)
        comes, goes = long & ~was, was & ~long
        stays.is_long[keys[comes]], stays.is_long[keys[goes]] = True, False
        again = goes & is_there
        stays.due[keys[again]] = since[again] + asked.stay[again]
        stays.due[keys[comes & is_there]] = NEVER
        self.correct(keys[comes], tick, 1)
        self.correct(keys[goes], tick, -1)
        self.look_ahead()

    def correct(self, keys: I64, tick: int, sign: int) -> None:
        """What these show is to be told, or taken back."""
        rows, n = self.stays.row[keys], len(keys)
        more = Signed(self.query_of(keys), np.full(n, tick), np.full(n, sign), self.rows.columns(rows))
        self.corrections = put_together([self.corrections, more])

    def finish(self, keys: I64) -> None:
        """These stays are over."""
        stays = self.stays
        stays.row[keys], stays.since[keys], stays.gone[keys] = -1, NEVER, NEVER
        stays.is_long[keys], stays.due[keys] = False, NEVER
        self.look_ahead()

    def of_queries(self, queries: I64) -> I64:
        """Their keys."""
        return np.flatnonzero(np.isin(self.keys.rows[:, 0], queries))

    def find(self, query: I64, key: pa.Array) -> I64:
        """The numbers of keys of one column that is never NULL, -1 of those that are unknown."""
        (place,), coder = self.places, self.rows.coder
        rows = np.zeros((len(query), 2 + coder.null_words), np.int64)
        rows[:, 0], (rows[:, -1], _) = query, code(key, self.types[place], coder.texts)
        return self.keys.find(rows)

    def forget(self, queries: I64) -> None:
        self.forget_keys(self.of_queries(queries))

    def forget_keys(self, keys: I64) -> None:
        self.rows.forget(keys)
        self.finish(keys)

    @property
    def alive(self) -> I64:
        """The rows that are there, or that somebody shows who is not."""
        n = len(self.rows.numbered)
        is_shown = self.stays.row[self.rows.owner] == np.arange(n)
        return np.flatnonzero(is_shown | (self.rows.count[:n] != 0))

    def tidy(self, is_due: bool = False) -> None:
        if self.waste.is_too_much(len(self.rows.numbered), lambda: len(self.alive), is_due):
            self.restore(self.saved())

    def saved(self) -> dict[str, pa.Table]:
        rows, stays = self.alive, self.stays
        keys = np.flatnonzero(stays.since[: len(self.keys)] != NEVER)
        fixed = [pa.array(self.query_of(self.key_of(rows))), pa.array(self.rows.count[rows])]
        names = ["query", "count", *by_places(len(self.types))]
        columns = {
            "row": np.searchsorted(rows, stays.row[keys]), "since": stays.since[keys],
            "gone": stays.gone[keys], "is_long": stays.is_long[keys], "due": stays.due[keys],
        }  # fmt: skip
        table = pa.Table.from_arrays([*fixed, *self.rows.columns(rows)], names=names)
        return {"rows": table, "stays": pa.table(columns)}

    def restore(self, tables: dict[str, pa.Table]) -> None:
        """Rows that are saved differ: numbered anew they are 0, 1, 2 …"""
        self.begin()
        table, kept = tables["rows"], tables["stays"]
        row, key = self.number(np.asarray(table.column("query").to_numpy(), np.int64), table.columns[2:])
        self.rows.count[row] = table.column("count").to_numpy()
        enter_all(self.rows.forest(len(self.keys)), key)
        shown, stays = kept.column("row").to_numpy(), self.stays
        for name, column in stays._asdict().items():
            column[key[shown]] = kept.column(name).to_numpy(zero_copy_only=False)
        self.look_ahead()


def null_masks(coder: Coder, places: tuple[int, ...]) -> I64:
    """Of a query and its words of NULLs what a key has of them."""
    masks = np.zeros(1 + coder.null_words, np.int64)
    masks[0] = -1
    for place in places:
        masks[1 + place // BITS] |= np.int64(1) << np.int64(place % BITS)
    return masks
