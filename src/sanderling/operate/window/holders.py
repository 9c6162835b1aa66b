"""Who keeps which window in a shard. A new kind is a class in plans/window.py, a file here and a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sanderling.arrays import I64
from sanderling.operate.window.coming import ComingHolder
from sanderling.operate.window.holder import Holder
from sanderling.operate.window.lasting import LastingHolder
from sanderling.operate.window.rows import RowsHolder
from sanderling.operate.window.rows_per_key import RowsPerKeyHolder
from sanderling.operate.window.until import UntilHolder
from sanderling.operate.window.until_next import UntilNextHolder
from sanderling.operate.window.until_there import UntilThereHolder
from sanderling.plans.window import Coming, Lasting, Rows, RowsPerKey, Until, UntilNext, UntilThere, Window

if TYPE_CHECKING:
    from sanderling.operate.window.history import History

HOLDERS: dict[type[Window], Callable[[Any, History, I64 | None], Holder]] = {
    Coming: ComingHolder,
    Lasting: LastingHolder,
    Rows: RowsHolder,
    RowsPerKey: RowsPerKeyHolder,
    UntilNext: UntilNextHolder,
    Until: UntilHolder,
    UntilThere: UntilThereHolder,
}
