"""What has been delivered, so that a batch run again after a crash is delivered once.

The ledger names the last batch, and how long each file was after it, with its checksum. A file that is
longer was being written when we were killed: its end is cut off, and the batch is written again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sanderling.clock import Furthest
from sanderling.deliver.counts import Counts
from sanderling.deliver.warnings import refusals_in, warnings_of
from sanderling.figures.arrivals import Arrivals
from sanderling.plans.plan import Plan
from sanderling.state.sealed import broken, read_json, write_json

I64 = npt.NDArray[np.int32] | npt.NDArray[np.int64]
KIND = "ledger"


@dataclass(slots=True)
class Totals:
    """What a run has done so far, over all its restarts."""

    rows: dict[str, int] = field(default_factory=dict)
    ticks: dict[str, int] = field(default_factory=dict)
    letters: dict[str, int] = field(default_factory=dict)
    updates: dict[str, list[int]] = field(default_factory=dict)  # query: [+, −]
    warnings: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Ledger:
    """The state of delivery on disk; `save` is atomic.

    Updates are counted by number of query, in a file of their own: the ledger is written at every
    batch, and there may be very many queries.
    """

    path: Path
    batch: int = -1
    sizes: dict[str, int] = field(default_factory=dict)
    sums: dict[str, int] = field(default_factory=dict)  # checksums of so much of these files
    rows: dict[str, int] = field(default_factory=dict)
    ticks: dict[str, int] = field(default_factory=dict)
    letters: dict[str, int] = field(default_factory=dict)
    arrivals: dict[str, Arrivals] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)  # patterns that their own states have ended, and why
    is_publishing: bool = False
    is_finished: bool = False
    counts: Counts = field(init=False)

    def __post_init__(self) -> None:
        self.counts = Counts(self.path.parent)

    @classmethod
    def load(cls, path: Path) -> Ledger:
        if not path.exists():
            return cls(path)
        try:
            said: dict[str, Any] = read_json(path, KIND)
            counted = said.pop("counts")
            said["arrivals"] = {name: _arrivals(**of) for name, of in said["arrivals"].items()}
            ledger = cls(path, **said)
            _refuse_other_types(ledger)
            ledger.counts = Counts.load(path.parent, *counted)
            return ledger
        except (ValueError, TypeError, AttributeError, LookupError, OSError) as e:
            raise broken(str(path), str(e)) from e

    def save(self) -> None:
        self.counts.write()
        said = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("path", "counts")}
        said["arrivals"] = {name: asdict(of) for name, of in self.arrivals.items()}
        said["counts"] = (self.counts.number, self.counts.size, self.counts.sum)
        write_json(self.path, KIND, said)
        self.counts.tidy()

    def count(self, query: I64, sign: npt.NDArray[np.int8], n_queries: int) -> None:
        """Adds updates to their queries' counts."""
        self.counts.add(query, sign, n_queries)

    def arrive(self, arrivals: Mapping[str, Arrivals]) -> None:
        """What came in a batch, by stream."""
        for stream, came in arrivals.items():
            self.arrivals.setdefault(stream, Arrivals()).add(came)

    def totals(self, names: list[str], plan: Plan | None = None) -> Totals:
        """By name; a query registered again under its name goes on counting, one that never matched has 0.

        With its `plan`, what whoever started the run should look at is among the warnings.
        """
        updates = {name: [0, 0] for name in names}
        for column, counts in enumerate((self.counts.came, self.counts.went)):
            for name, count in zip(names, counts.tolist(), strict=False):
                updates[name][column] += count
        told = self.counts.came + self.counts.went
        warnings = refusals_in(self.arrivals) if plan is None else warnings_of(plan, self.arrivals, told)
        warnings += [f"session.state_failed: the pattern {name}: {why}" for name, why in self.failed.items()]
        return Totals(self.rows, self.ticks, self.letters, updates, warnings)


def _arrivals(furthest: list[Any] | None, **counts: Any) -> Arrivals:
    return Arrivals(**counts, furthest=None if furthest is None else Furthest(*furthest))


def _refuse_other_types(ledger: Ledger) -> None:
    counted = [
        n for came in ledger.arrivals.values() for n in (came.rows, came.late, came.ahead, came.unreadable)
    ]
    for counts in (ledger.sizes, ledger.sums, ledger.rows, ledger.ticks, ledger.letters):
        counted += counts.values()
    if not all(isinstance(n, int) for n in counted):
        raise TypeError("a count is not a number")
    if not isinstance(ledger.batch, int):
        raise TypeError("it does not say what was delivered")
