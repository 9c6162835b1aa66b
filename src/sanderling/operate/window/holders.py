"""Windows that later readings end: who keeps which kind in a shard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sanderling.arrays import I64
from sanderling.operate.window.holder import Holder
from sanderling.operate.window.rows_per_key import PerKey
from sanderling.operate.window.until import Until
from sanderling.operate.window.until_next import UntilNext
from sanderling.plans.plan import ALWAYS, NEVER, NEXT, PER_KEY, UNTIL, Window

if TYPE_CHECKING:
    from sanderling.operate.window.history import History


def holder_of(window: Window, history: History, leave: I64 | None = None) -> Holder:
    """As it was with these `leave`; or as if all rows had come now."""
    kinds: dict[str, type[PerKey | UntilNext | Until]] = {PER_KEY: PerKey, NEXT: UntilNext, UNTIL: Until}
    kind = kinds[window.kind]
    if leave is not None:
        return kind(window, history, leave)
    holder = kind(window, history, np.where(history.is_own, NEVER, ALWAYS))
    if len(history):
        holder.begin_anew()
    return holder
