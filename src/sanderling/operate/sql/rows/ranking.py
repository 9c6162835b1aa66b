"""Rows in an order, by owner: what comes first or last is known, also when it goes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.kernels.sql.ranking import Forest, Rule, enter_all
from sanderling.operate.sql.rows.codes import BITS, Coder
from sanderling.operate.sql.rows.multiset import Multiset
from sanderling.operate.sql.rows.numbered import Grown
from sanderling.plans.nodes import Order


class Ranking(Multiset):
    """A multiset whose rows hang in search trees, one for each owner; owners count from 0."""

    def __init__(self, types: list[pa.DataType], orders: Sequence[Order]):
        self.orders = orders
        super().__init__(types)

    def _begin(self) -> None:
        super()._begin()
        self.rule = rule_of(self.coder, self.orders)
        self._below = [Grown(-1, np.int64), Grown(-1, np.int64)]
        self._root = Grown(-1, np.int64)

    def forest(self, owners: int) -> Forest:
        """For the kernels; owners count up to this."""
        n = len(self.numbered)
        below = (self._below[0].up_to(n), self._below[1].up_to(n))
        offsets, texts = text_buffers(self.coder.texts.all)
        root = self._root.up_to(owners)
        return Forest(self.numbered.rows, self.count, *below, root, self.rule, offsets, texts)

    def forget(self, owners: I64) -> None:
        super().forget(owners)
        root = self._root.up_to(int(owners.max(initial=-1)) + 1)
        root[owners] = -1

    def restore(self, table: pa.Table) -> None:
        super().restore(table)
        owners = int(self.owner.max(initial=-1)) + 1
        enter_all(self.forest(owners), np.ascontiguousarray(self.owner))


def rule_of(coder: Coder, orders: Sequence[Order]) -> Rule:
    """How rows of codes, behind their owner, are compared."""
    columns = np.array([o.column for o in orders], np.int64)
    return Rule(
        1 + coder.null_words + columns,
        1 + columns // BITS,
        columns % BITS,
        np.array([o.is_descending for o in orders], np.bool_),
        np.array([o.is_null_first for o in orders], np.bool_),
        np.array([pa.types.is_string(coder.types[o.column]) for o in orders], np.bool_),
    )


def text_buffers(texts: pa.Array) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """The bytes of texts, and where each begins and ends."""
    _, offsets, data = texts.buffers()
    if offsets is None or not len(texts):
        return np.zeros(1, np.int32), np.empty(0, np.uint8)
    starts = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return starts, np.frombuffer(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8)
