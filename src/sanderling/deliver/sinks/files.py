"""Delivers batches to files: each once, in order, complete or not at all."""

from __future__ import annotations

import shutil
import sys
from contextlib import ExitStack
from pathlib import Path

from sanderling.batches import Batch
from sanderling.deliver.changes import Changes, UpdateLines, arrivals_in, failures_in, gather, letter_lines
from sanderling.deliver.ledger import Ledger, Totals
from sanderling.deliver.lock import locked
from sanderling.deliver.sinks.gathered import Gathered
from sanderling.deliver.sinks.lines import GrowingFiles, sum_of
from sanderling.deliver.sinks.tables import QueryFolders, refuse_long_names
from sanderling.deliver.targets import Targets, refuse_filled_folder
from sanderling.errors import StateError
from sanderling.plans.plan import Plan
from sanderling.state import crash
from sanderling.state.sealed import broken

# What is under way stands beside its target, so that a rename makes it complete.
PARTIAL = ".partial"
# All lines for standard output, among the checksums.
WHOLE = "whole"

Part = GrowingFiles | QueryFolders | Gathered


class Delivery:
    """Batches in, files out.

    Promises (tests/recovery):
      once      a batch delivered before a crash is not delivered again after it
      whole     a target appears complete, under its name, or not at all
    """

    def __init__(self, plan: Plan, targets: Targets, work: Path):
        if targets.is_folder:
            refuse_long_names(plan)
        self.plan = plan
        self.targets = targets
        self.rendering = UpdateLines(plan)
        self.ledger = Ledger.load(work / "delivered.json")
        self.whole = work / "updates.jsonl"
        outlets = plan.outlets()
        beside = (
            targets.updates.with_name("." + targets.updates.name + PARTIAL)
            if targets.updates
            else work / "updates"
        )
        self._locks = ExitStack()
        self._held: list[Part] = []
        grows = not targets.is_gathered
        self.lines = GrowingFiles(beside, outlets) if grows and not targets.is_folder else None
        self.folders = QueryFolders(beside, plan) if grows and targets.is_folder else None
        self.gathered = None if grows else Gathered(beside, plan, targets)
        letters = targets.letters
        self.letters = (
            GrowingFiles(letters.with_name("." + letters.name + PARTIAL), outlets)
            if letters is not None
            else None
        )

    def prepare(self) -> None:
        """Makes ready for the next batch: what a killed run left behind the last one is cut off."""
        if self.ledger.is_finished:
            self._refuse_missing_targets()
        if self.ledger.is_finished:
            return
        if self.ledger.is_publishing:
            self._check()
            return
        for part in self._parts():
            if self.ledger.batch >= 0 and not part.folder.exists():
                raise StateError(
                    "state.output_gone", f"{part.folder.name}, what this run had written, is gone",
                    "use a new checkpoint",
                )  # fmt: skip
            self._hold(part)
            part.prepare()
        self._cut()
        self._check()

    def _parts(self) -> list[Part]:
        return [p for p in (self.lines, self.folders, self.gathered, self.letters) if p is not None]

    def _hold(self, part: Part) -> None:
        """Ours alone from here on; a run that begins finds it empty, whatever an older one left."""
        part.folder.mkdir(parents=True, exist_ok=True)
        refusal = f"another run is writing {part.folder.name}"
        self._locks.enter_context(locked(part.folder, refusal, "wait for it, or use another name"))
        self._held.append(part)
        if self.ledger.batch < 0:
            for old in part.folder.iterdir():
                shutil.rmtree(old) if old.is_dir() else old.unlink()

    def _refuse_missing_targets(self) -> None:
        for target in (self.targets.updates or self.whole, self.targets.letters):
            if target is not None and not target.exists():
                raise StateError(
                    "state.output_gone", f"the run of this checkpoint is finished, but {target.name} is gone",
                    "use a new checkpoint",
                )  # fmt: skip

    def _cut(self) -> None:
        for prefix, files in self._growing():
            files.cut_to(_under(prefix, self.ledger.sizes), _under(prefix, self.ledger.sums))

    def _check(self) -> None:
        """What a run before this one has written is still that."""
        for prefix, files in self._growing():
            files.check(_under(prefix, self.ledger.sums))

    def _growing(self) -> list[tuple[str, GrowingFiles]]:
        named = (("updates:", self.lines), ("letters:", self.letters))
        return [(prefix, files) for prefix, files in named if files is not None]

    @property
    def delivered(self) -> int:
        return self.ledger.batch

    def deliver(self, number: int, batches: list[Batch]) -> None:
        """One batch, unless we have it."""
        if number <= self.delivered:
            return
        self._cut()
        crash.point("before-write")
        changes = gather(self.plan, batches, is_raw_wanted=self.letters is not None)
        for name, change in changes.items():
            if self.lines is not None:
                self.lines.append(name, self.rendering.pieces(change.rows))
            if self.letters is not None:
                self.letters.append(name, letter_lines(change.ordered_letters()).chunks)
            counted(self.ledger, self.plan, name, change)
        self.ledger.arrive(arrivals_in(batches))
        for row in failures_in(batches):
            self.ledger.failed[str(self.plan.queries.names[row["query"]])] = row["message"]
        for part in (self.folders, self.gathered):
            if part is not None:
                part.write(number, {t: rows for c in changes.values() for t, rows in c.rows.items()})
        crash.point("after-write")
        self.ledger.batch = number
        growing = self._growing()
        self.ledger.sizes = {f"{prefix}{n}": s for prefix, f in growing for n, s in f.sizes().items()}
        self.ledger.sums = {f"{prefix}{n}": s for prefix, f in growing for n, s in f.sums.items()}
        self.ledger.save()
        crash.point("after-ledger")

    def totals(self) -> Totals:
        return self.ledger.totals(self.plan.queries.names.to_pylist(), self.plan)

    def finish(self) -> None:
        """The input has ended: the targets appear under their names. Killed here, a restart goes on here."""
        if self.ledger.is_finished:
            return
        self.ledger.is_publishing = True
        self.ledger.save()
        crash.point("before-publish")
        updates, letters = self.targets.updates, self.targets.letters
        if self.letters is not None and letters is not None and self.letters.folder.exists():
            self.letters.publish(letters, is_merged=False)
        crash.point("between-publish")
        if self.folders is not None and updates is not None and self.folders.folder.exists():
            refuse_filled_folder(updates)
            self.folders.publish(updates)
        if self.gathered is not None and self.gathered.folder.exists():
            if self.targets.is_folder and updates is not None:
                refuse_filled_folder(updates)
            self.gathered.publish(updates or self.whole)
        if self.lines is not None and self.lines.folder.exists():
            self.lines.publish(updates or self.whole, is_merged=True)
        if updates is None:
            self.ledger.sums[WHOLE] = sum_of(self.whole)
            _print(self.whole)
        self.ledger.is_finished = True
        self.ledger.save()
        crash.point("after-publish")

    def say_again(self) -> None:
        """A finished run has nothing to do but to say what it said, where that was not to a file."""
        if self.targets.updates is None:
            if sum_of(self.whole) != self.ledger.sums.get(WHOLE):
                raise broken(str(self.whole), "its checksum does not fit: a byte has changed")
            _print(self.whole)

    def close(self) -> None:
        self._locks.close()

    def discard(self) -> None:
        """Leaves nothing half-written behind; what another run is writing is not ours to remove."""
        for part in self._held:
            part.discard()


def counted(ledger: Ledger, plan: Plan, stream: str, change: Changes) -> None:
    """Adds what a batch brought for one stream."""
    if any(s.stream.name == stream for s in plan.streams):
        ledger.rows[stream] = ledger.rows.get(stream, 0) + change.rows_read
        ledger.ticks[stream] = ledger.ticks.get(stream, 0) + change.ticks
    for found in change.ordered_letters().column("reason").value_counts():
        reason, count = str(found["values"]), int(found["counts"])
        ledger.letters[reason] = ledger.letters.get(reason, 0) + count
    for table in change.rows.values():
        query, sign = (table.column(c).to_numpy() for c in ("query", "sign"))
        ledger.count(query, sign, len(plan.queries))


def _under(prefix: str, counts: dict[str, int]) -> dict[str, int]:
    return {k.removeprefix(prefix): v for k, v in counts.items() if k.startswith(prefix)}


def _print(path: Path) -> None:
    sys.stdout.flush()
    with open(path, "rb") as file:
        # Bytes: lines of JSON are UTF-8 whatever the terminal's encoding is.
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()
