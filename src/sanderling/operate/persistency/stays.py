"""What PERSISTENCY remembers: rows by key, which of them each key shows, and since when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64, Bools
from sanderling.clock import NEVER
from sanderling.kernels.order import ordered_by
from sanderling.kernels.persistency.stays import Asked, Stays
from sanderling.kernels.persistency.steps import free_alone, free_among, steps_alone, steps_among
from sanderling.kernels.sql.ranking import Forest
from sanderling.kernels.sql.ranking import enter_all as hang_all
from sanderling.operate.persistency.numbers import Given
from sanderling.operate.sql.rows.codes import BITS, Coder, Column, code, decoded
from sanderling.operate.sql.rows.numbered import Grown, Waste
from sanderling.operate.sql.rows.ranking import rule_of, text_buffers
from sanderling.operate.sql.signed import Signed, put_together
from sanderling.plans.columns import by_places
from sanderling.plans.nodes import Order
from sanderling.route.keys import Keys

NOBODY = np.empty(0, np.int64)


class KeySteps(NamedTuple):
    """Keys that change, each once, and their steps in order of time, those of keys[k] from starts[k] on."""

    keys: I64
    starts: I64
    tick: I64
    after: I64  # the row that the key shows then, -1: none


class Rows:
    """The rows of keys, in order below their key; where each row is a key of its own, these are all."""

    def __init__(self, coder: Coder, keys: Given, orders: list[Order]):
        self.coder, self.is_alone = coder, not orders
        self.numbered = keys if self.is_alone else Given(1 + coder.width)
        self.rule = rule_of(coder, orders)
        self._times = Grown(0, np.int64)
        self._below = [Grown(-1, np.int64), Grown(-1, np.int64)]
        self._root = Grown(-1, np.int64)

    @property
    def times(self) -> I64:
        """How often each is there."""
        return np.asarray(self._times.up_to(self.numbered.room))

    @property
    def owner(self) -> I64:
        """By row its key."""
        top = self.numbered.top
        return np.arange(top) if self.is_alone else self.numbered.codes[:top, 0]

    def root(self, keys: int) -> I64:
        return np.asarray(self._root.up_to(keys))

    def forest(self, keys: int) -> Forest:
        lower, upper = (some.up_to(self.numbered.room) for some in self._below)
        offsets, texts = text_buffers(self.coder.texts.all)
        codes = self.numbered.codes
        return Forest(codes, self.times, lower, upper, self.root(keys), self.rule, offsets, texts)

    def columns(self, rows: I64) -> list[pa.Array]:
        return self.coder.columns(self.numbered.codes[rows, 1:])

    def column(self, rows: I64, place: int) -> pa.Array:
        return self.coder.column(self.numbered.codes[rows, 1:], place)


class StaysState:
    """Keys of queries, numbered; the rows of each in order, since of several it shows the smallest.

    Promises (tests/operate/test_persisting.py): what is gone is freed at once, and its number is given to
    another; a key that somebody holds keeps its own.
    """

    def __init__(self, types: list[pa.DataType], keys: tuple[int, ...]):
        self.types, self.places = types, keys
        self.waste = Waste()  # of texts
        self.corrections = Signed.none(types)  # to be told with what comes next
        self.begin()

    def begin(self) -> None:
        self.coder = Coder(self.types)
        self.in_keys = sorted(self.places)
        self.keys = Given(1 + self.coder.null_words + len(self.places))
        others = [i for i in range(len(self.types)) if i not in self.places]
        self.rows = Rows(self.coder, self.keys, [Order(i, False, True) for i in others])
        self.nulls = null_masks(self.coder, self.places)
        self._row, self._since, self._gone = (
            Grown(-1, np.int64),
            Grown(NEVER, np.int64),
            Grown(NEVER, np.int64),
        )
        self._is_long, self._due = Grown(False, np.bool_), Grown(NEVER, np.int64)
        self._holds, self._mark = Grown(0, np.int64), Grown(0, np.int64)
        self.next_due = NEVER
        self._came = NOBODY  # rows that came or went since what is gone was freed
        self._touched: list[I64] = []

    @property
    def stays(self) -> Stays:
        columns = (self._row, self._since, self._gone, self._is_long, self._due)
        return Stays(*(column.up_to(self.keys.room) for column in columns))

    @property
    def holds(self) -> I64:
        """By key how many there are that hold it."""
        return np.asarray(self._holds.up_to(self.keys.room))

    # ----- what comes

    def take_in(self, changes: Signed, closed_to: int) -> KeySteps:
        """Keys that change, and those for whom something is due: these may have no steps."""
        changes = in_order(changes)
        row, key = self.number(changes.query, changes.columns)
        tick, sign = np.array(changes.tick), np.array(changes.sign)
        mark = self._mark.up_to(self.keys.room)
        if self.rows.is_alone:
            found = steps_alone(row, tick, sign, self.rows.times, mark)
        else:
            forest = self.rows.forest(self.keys.room)
            found = steps_among(forest, key, row, tick, sign, mark)
            self._came = np.concatenate([self._came, row])
        steps = _by_key(*found)
        if self.next_due <= closed_to:
            due = np.flatnonzero(self.stays.due[: self.keys.top] <= closed_to)
            mark[due] = 0
            mark[steps.keys] = np.arange(len(steps.keys))
            quiet = due[steps.keys[mark[due]] != due] if len(steps.keys) else due
            keys = np.concatenate([steps.keys, quiet])
            starts = np.concatenate([steps.starts, np.full(len(quiet), len(steps.tick))])
            steps = steps._replace(keys=keys, starts=starts)
        self._touched.append(steps.keys)
        self._came = np.concatenate([self._came, self._shown_by(steps.keys)])
        return steps

    def _shown_by(self, keys: I64) -> I64:
        """What they may show no longer."""
        row = self.stays.row[keys]
        return NOBODY if self.rows.is_alone else row[row >= 0]

    def number(self, query: I64, columns: list[Column]) -> tuple[I64, I64]:
        """The numbers of rows, and of their keys."""
        codes = self.coder.codes(columns, query)
        if self.rows.is_alone:
            row = self.keys.number(codes)
            return row, row
        ahead = 1 + self.coder.null_words
        keys = np.empty((len(codes), ahead + len(self.places)), np.int64)
        keys[:, :ahead] = codes[:, :ahead] & self.nulls
        for i, place in enumerate(self.in_keys):
            keys[:, ahead + i] = codes[:, 1 + self.coder.place(place)]
        key = self.keys.number(keys)
        codes[:, 0] = key
        return self.rows.numbered.number(codes), key

    def query_of(self, keys: I64) -> I64:
        return np.asarray(self.keys.codes[keys, 0])

    def key_of(self, rows: I64) -> I64:
        return rows if self.rows.is_alone else np.asarray(self.rows.numbered.codes[rows, 0])

    def look_ahead(self) -> None:
        """When the next is due."""
        self.next_due = int(self.stays.due[: self.keys.top].min(initial=NEVER))

    def tidy(self) -> None:
        """Nobody looks any more at what is gone: its numbers are free."""
        keys = np.concatenate([NOBODY, *self._touched])
        rows, self._came, self._touched = self._came, NOBODY, []
        if self.rows.is_alone:
            free_alone(self.keys.columns, self.rows.times, self.stays, self.holds, keys)
        else:
            numbers = self.keys.columns, self.rows.numbered.columns
            root = self.rows.root(self.keys.room)
            free_among(*numbers, self.rows.times, root, self.stays, self.holds, keys, rows)
        self._tidy_texts()

    def _tidy_texts(self) -> None:
        """Texts are numbered anew, once most are of nobody."""
        if not self.waste.is_too_much(len(self.coder.texts), lambda: len(self._texts_used()), False):
            return
        used = self._texts_used()
        self.coder.texts = Keys(self.coder.texts.all.take(pa.array(used)))
        for given, place in self._text_places():
            # A NULL stands as 0, which is the least and stays so.
            given.codes[:, place] = np.searchsorted(used, given.codes[:, place])
        for given in {id(given): given for given, _ in self._text_places()}.values():
            given.enter_anew()

    def _texts_used(self) -> I64:
        found = [given.codes[given.used, place] for given, place in self._text_places()]
        return np.unique(np.concatenate([NOBODY, *found]))

    def _text_places(self) -> list[tuple[Given, int]]:
        """Where codes of texts stand."""
        texts = [i for i, type_ in enumerate(self.types) if pa.types.is_string(type_)]
        found = [(self.rows.numbered, 1 + self.coder.place(i)) for i in texts]
        if not self.rows.is_alone:
            ahead = 1 + self.coder.null_words
            found += [(self.keys, ahead + self.in_keys.index(i)) for i in texts if i in self.in_keys]
        return found

    # ----- keys that others ask for

    def codes_of(self, query: I64, key: Sequence[pa.Array]) -> tuple[I64, Bools]:
        """Keys as rows of codes, by columns; and which of them may be there: a value that is none of the
        column's type is in no row.
        """
        ahead = 1 + self.coder.null_words
        rows = np.zeros((len(query), ahead + len(self.places)), np.int64)
        rows[:, 0], may_be = query, np.ones(len(query), np.bool_)
        for place, column in zip(self.places, key, strict=True):
            as_key, is_same = as_values_of(column, self.types[place])
            codes, is_null = code(as_key, self.types[place], self.coder.texts)
            rows[:, ahead + self.in_keys.index(place)] = codes
            if is_null is not None:
                rows[:, 1 + place // BITS] |= is_null.astype(np.int64) << (place % BITS)
            may_be &= is_same
        return rows, may_be

    def find(self, query: I64, *key: pa.Array) -> I64:
        """The numbers of keys, -1 of those that are unknown."""
        rows, may_be = self.codes_of(query, key)
        return np.where(may_be, self.keys.find(rows), -1)

    def ask_for(self, query: I64, key: Sequence[pa.Array]) -> I64:
        """The numbers of keys, which get one if they have none; -1 of those that nobody can be."""
        rows, may_be = self.codes_of(query, key)
        found = np.full(len(query), -1)
        found[may_be] = self.keys.number(rows[may_be])
        return found

    def key_columns(self, keys: I64) -> list[pa.Array]:
        """What keys are, column by column."""
        codes, ahead = self.keys.codes[keys], 1 + self.coder.null_words
        found = []
        for place in self.places:
            is_null = (codes[:, 1 + place // BITS] >> (place % BITS) & 1).astype(np.bool_)
            own = np.ascontiguousarray(codes[:, ahead + self.in_keys.index(place)])
            mask = is_null if is_null.any() else None
            found.append(decoded(own, mask, self.types[place], self.coder.texts))
        return found

    def let_go(self, keys: I64) -> None:
        """Whoever held these does not any more."""
        self._touched.append(keys)

    # ----- other durations

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
        self._leave(keys)
        stays.row[keys], stays.since[keys], stays.gone[keys] = -1, NEVER, NEVER
        stays.is_long[keys], stays.due[keys] = False, NEVER
        self.look_ahead()

    def _leave(self, keys: I64) -> None:
        """They may be free once nobody looks."""
        self._touched.append(keys)
        self._came = np.concatenate([self._came, self._shown_by(keys)])

    # ----- what is forgotten

    def of_queries(self, queries: I64) -> I64:
        """Their keys."""
        used = self.keys.used
        return used[np.isin(self.query_of(used), queries)]

    def forget(self, queries: I64) -> None:
        self.forget_keys(self.of_queries(queries))

    def forget_keys(self, keys: I64) -> None:
        """Nothing is left of their rows."""
        is_gone = np.zeros(self.keys.room, np.bool_)
        is_gone[keys] = True
        rows = self.rows.numbered.used
        rows = rows[is_gone[self.key_of(rows)]]
        self.rows.times[rows] = 0
        self.rows.root(self.keys.room)[keys] = -1
        if not self.rows.is_alone:
            self._came = np.concatenate([self._came, rows])
        self.finish(keys)

    @property
    def alive(self) -> I64:
        """The rows that are there, or that somebody shows who is not."""
        rows = self.rows.numbered.used
        is_shown = self.stays.row[self.key_of(rows)] == rows
        return np.asarray(rows[is_shown | (self.rows.times[rows] != 0)])

    # ----- saved and restored

    def stayed(self) -> I64:
        """Keys whose stay is not over."""
        used = self.keys.used
        return np.asarray(used[self.stays.since[used] != NEVER])

    def saved(self) -> dict[str, pa.Table]:
        rows, stays, keys = self.alive, self.stays, self.stayed()
        fixed = [pa.array(self.query_of(self.key_of(rows))), pa.array(self.rows.times[rows])]
        names = ["query", "count", *by_places(len(self.types))]
        columns = {
            "row": np.searchsorted(rows, stays.row[keys]), "since": stays.since[keys],
            "gone": stays.gone[keys], "is_long": stays.is_long[keys], "due": stays.due[keys],
        }  # fmt: skip
        table = pa.Table.from_arrays([*fixed, *self.rows.columns(rows)], names=names)
        return {"rows": table, "stays": pa.table(columns)}

    def restore(self, tables: dict[str, pa.Table]) -> I64:
        """Rows that are saved differ: numbered anew they are 0, 1, 2 … The keys come back in order."""
        self.begin()
        table, kept = tables["rows"], tables["stays"]
        row, key = self.number(np.asarray(table.column("query").to_numpy(), np.int64), table.columns[2:])
        self.rows.times[row] = table.column("count").to_numpy()
        if not self.rows.is_alone:
            hang_all(self.rows.forest(self.keys.room), key)
        shown, stays = kept.column("row").to_numpy(), self.stays
        for name, column in stays._asdict().items():
            column[key[shown]] = kept.column(name).to_numpy(zero_copy_only=False)
        stays.row[key[shown]] = row[shown]
        self.look_ahead()
        return np.asarray(key[shown])


def in_order(changes: Signed) -> Signed:
    """In order of tick."""
    tick = changes.tick
    is_so = not len(tick) or bool((tick[1:] >= tick[:-1]).all())
    return changes if is_so else changes.take(np.argsort(tick, kind="stable"))


def _by_key(key: I64, tick: I64, after: I64) -> KeySteps:
    """Steps in order of tick; of one tick each is another key's."""
    if len(tick) and tick[0] != tick[-1]:
        order = ordered_by(np.arange(len(key)), key)
        key, tick, after = key[order], tick[order], after[order]
    is_new = np.ones(len(key), np.bool_)
    is_new[1:] = key[1:] != key[:-1]
    return KeySteps(key[is_new], np.append(np.flatnonzero(is_new), len(key)), tick, after)


def as_values_of(column: pa.Array, type_: pa.DataType) -> tuple[pa.Array, Bools]:
    """Values as those of another type, and which of them are the same there: 1.5 is no whole number."""
    if column.type == type_:
        return column, np.ones(len(column), np.bool_)
    cast = column.cast(type_, safe=False)
    is_same = pc.equal(cast.cast(column.type, safe=False), column).fill_null(True)
    return cast, np.asarray(is_same.to_numpy(zero_copy_only=False), np.bool_)


def null_masks(coder: Coder, places: tuple[int, ...]) -> I64:
    """Of a query and its words of NULLs what a key has of them."""
    masks = np.zeros(1 + coder.null_words, np.int64)
    masks[0] = -1
    for place in places:
        masks[1 + place // BITS] |= np.int64(1) << np.int64(place % BITS)
    return masks
