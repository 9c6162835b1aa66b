"""UNION ALL: the rows of all, put together."""

from __future__ import annotations

from sanderling.operate.sql.signed import Signed, put_together
from sanderling.operate.tree.changes import Changes


class Union:
    """Remembers nothing."""

    def new_state(self, at: None) -> None:
        return None

    def apply(self, state: None, given: Changes) -> Signed:
        return put_together(given.inputs)
