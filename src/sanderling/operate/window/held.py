"""What windows look at."""

from __future__ import annotations

from dataclasses import dataclass

from sanderling.operate.readings.readings import LastReadings
from sanderling.operate.window.history import History
from sanderling.operate.window.whereabouts import Whereabouts


@dataclass(frozen=True, slots=True)
class Held:
    """The readings that some window may still hold, and where focal objects were."""

    history: History
    whereabouts: Whereabouts
    focals: LastReadings

    @property
    def is_listed(self) -> bool:
        """Whether the merge stage has to know the order of all readings."""
        return any(window.is_of_all for window in self.history.windows)
