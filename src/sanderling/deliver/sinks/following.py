"""Delivers batches as they come: to lines or CSV that grow, to standard output, to a folder of tables."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa

from sanderling.batches import Batch
from sanderling.deliver.changes import UpdateLines, arrivals_in, failures_in, gather, letter_lines
from sanderling.deliver.ledger import Ledger, Totals
from sanderling.deliver.lock import locked
from sanderling.deliver.render import text_of
from sanderling.deliver.sheet import Rows, Sheet
from sanderling.deliver.sinks.files import PARTIAL, counted
from sanderling.deliver.sinks.lines import GrowingFiles
from sanderling.deliver.sinks.tables import QueryFolders, refuse_long_names
from sanderling.deliver.targets import Form, Targets, refuse_filled_folder
from sanderling.errors import StateError
from sanderling.plans.plan import Plan

UPDATES, LETTERS = "updates", "letters"


class Following:
    """Batches in, rows out at once.

    Promises (tests/command/test_follow.py):
      order   within a batch as in a whole run; of each stream, over batches too
      once    killed and begun again with its checkpoint, a file has each row once; standard output may have
              those of the last batch twice
    """

    def __init__(self, plan: Plan, targets: Targets, work: Path):
        if targets.is_folder:
            refuse_long_names(plan)
        self.plan, self.targets = plan, targets
        self.ledger = Ledger.load(work / "delivered.json")
        self.rendering, self.sheet = UpdateLines(plan), Sheet.of(plan)
        paths = {LETTERS: targets.letters} if targets.letters else {}
        if targets.updates is not None and not targets.is_folder:
            paths[UPDATES] = targets.updates
        self.files = GrowingFiles.named(paths)
        self._beside = None if targets.updates is None else _beside(targets.updates)
        self._locks = ExitStack()

    def prepare(self) -> None:
        """Ours from here on, and as it was behind the last batch; a new run begins with nothing."""
        updates = self.targets.updates
        if self._beside is not None and updates is not None:
            self._beside.mkdir(exist_ok=True)
            refusal = f"another run is writing {updates}"
            self._locks.enter_context(locked(self._beside, refusal, "wait for it, or use another name"))
        if self.ledger.batch >= 0:
            for path in [*self.files.paths.values(), *([updates] if updates else [])]:
                if not path.exists():
                    raise StateError(
                        "state.output_gone",
                        f"{path}, what this run had written, is gone",
                        "use a new checkpoint",
                    )
            self._cut()
            self.files.check(self.ledger.sums)
            return
        if self.targets.is_folder and updates is not None:
            refuse_filled_folder(updates)
            updates.mkdir(exist_ok=True)
        for path in self.files.paths.values():
            path.write_bytes(b"")
        self.files.cut_to({}, {})

    def _cut(self) -> None:
        self.files.cut_to(self.ledger.sizes, self.ledger.sums)

    @property
    def delivered(self) -> int:
        return self.ledger.batch

    def deliver(self, number: int, batches: list[Batch]) -> None:
        """One batch, unless we have it."""
        if number <= self.delivered:
            return
        self._cut()
        changes = gather(self.plan, batches, is_raw_wanted=self.targets.letters is not None)
        rows = {t: table for change in changes.values() for t, table in change.rows.items()}
        self._write(number, rows)
        for name, change in changes.items():
            if self.targets.letters is not None:
                self.files.append(LETTERS, letter_lines(change.ordered_letters()).chunks)
            counted(self.ledger, self.plan, name, change)
        self.ledger.arrive(arrivals_in(batches))
        for row in failures_in(batches):
            self.ledger.failed[str(self.plan.queries.names[row["query"]])] = row["message"]
        self.ledger.batch, self.ledger.sizes = number, self.files.sizes()
        self.ledger.sums = dict(self.files.sums)
        self.ledger.save()

    def _write(self, number: int, rows: dict[int, pa.Table]) -> None:
        updates = self.targets.updates
        if updates is None:
            _print(self.rendering.pieces(rows))
        elif self.targets.is_folder:
            self._write_tables(number, rows, updates)
        elif self.targets.form is Form.CSV:
            self.files.append(UPDATES, self._csv(rows))
        else:
            self.files.append(UPDATES, self.rendering.pieces(rows))

    def _csv(self, rows: Rows) -> Iterable[pa.Array]:
        # Imported where it is wanted: few want it.
        from sanderling.deliver.written import csv_head, csv_lines

        head = [] if self.ledger.sizes.get(UPDATES) else [csv_head(self.sheet.schema.names)]
        return [pa.array(head, pa.string()), csv_lines(self.sheet.table(rows))]

    def _write_tables(self, number: int, rows: Rows, target: Path) -> None:
        """A file has its name when it is whole."""
        assert self._beside is not None
        half = self._beside / "half"
        shutil.rmtree(half, ignore_errors=True)
        QueryFolders(half, self.plan).write(number, rows)
        for path in sorted(half.rglob("*.parquet")) if half.exists() else ():
            (target / path.parent.name).mkdir(exist_ok=True)
            os.replace(path, target / path.parent.name / path.name)

    def totals(self) -> Totals:
        return self.ledger.totals(self.plan.queries.names.to_pylist(), self.plan)

    def close(self) -> None:
        if self._beside is not None:
            shutil.rmtree(self._beside, ignore_errors=True)
        self._locks.close()


def _beside(target: Path) -> Path:
    return target.with_name("." + target.name + PARTIAL)


def _print(lines: Iterable[pa.Array]) -> None:
    for piece in lines:
        sys.stdout.buffer.write(text_of(piece))
    sys.stdout.buffer.flush()
