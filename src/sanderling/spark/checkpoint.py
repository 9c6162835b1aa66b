"""A checkpoint belongs to one run: one process at a time, the same script, tables, input and output."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sanderling.deliver.ledger import Ledger
from sanderling.deliver.lock import locked
from sanderling.deliver.log import Log
from sanderling.deliver.targets import Targets
from sanderling.errors import StateError
from sanderling.ingest.files import SourceFile
from sanderling.plans.plan import Plan
from sanderling.spark.sums import refuse_damaged
from sanderling.state.sealed import PASSING, broken, other_format, read_json, write_json

NOTE = "run.json"
KIND = "run"
SECONDS_TO_REMOVE = 5.0
SECONDS_BETWEEN_LOOKS = 0.05


@dataclass(frozen=True, slots=True)
class Note:
    """What a checkpoint says of its run."""

    script: str  # a digest of it, and of the tables it has read
    shards: int
    files: dict[str, list[int]]  # size, and time of the last change in nanoseconds
    outputs: list[str | None]


@contextlib.contextmanager
def working_in(checkpoint: Path | None) -> Iterator[Path]:
    """The checkpoint, or a folder that is gone afterwards; ours alone meanwhile."""
    work = checkpoint or Path(tempfile.mkdtemp(prefix="sanderling-"))
    try:
        work.mkdir(parents=True, exist_ok=True)
        if checkpoint is None:
            (work / PASSING).touch()
        with alone_in(work):
            yield work
    finally:
        if checkpoint is None:
            _remove(work)


def _remove(folder: Path) -> None:
    """Again and again for a while: tasks that Spark has given up may still be writing into it."""
    until = time.monotonic() + SECONDS_TO_REMOVE
    shutil.rmtree(folder, ignore_errors=True)
    while folder.exists() and time.monotonic() < until:
        time.sleep(SECONDS_BETWEEN_LOOKS)
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def alone_in(work: Path) -> Iterator[None]:
    """Nobody else uses the checkpoint meanwhile, and it is one that we can read."""
    with locked(work, "this checkpoint is in use by another run", "wait for it, or use another checkpoint"):
        refuse_older(work / NOTE)
        yield


def note_of(
    plan: Plan, script: str, files: Mapping[str, tuple[SourceFile, ...]], targets: Targets, shards: int
) -> Note:
    """What the run that starts now would write into a new checkpoint."""
    outputs = [str(path.resolve()) if path else None for path in (targets.updates, targets.letters)]
    outputs += ["the answers at the end"] if targets.is_final else []
    return Note(digest_of(plan, script), shards, _versions(files), outputs)


def session_note(files: Mapping[str, tuple[SourceFile, ...]], shards: int) -> Note:
    """The same of a session, whose journal tells what it was told."""
    return Note("a session", shards, _versions(files), [])


def _versions(files: Mapping[str, tuple[SourceFile, ...]]) -> dict[str, list[int]]:
    return {f"{name}: {file.name}": _version(file) for name, named in files.items() for file in named}


def _version(file: SourceFile) -> list[int]:
    """Of the file as its user knows it: a `.gz` is read from a copy."""
    status = os.stat(os.path.expanduser(file.name))
    return [status.st_size, status.st_mtime_ns]


def digest_of(plan: Plan, script: str) -> str:
    """Of the script and what it made of its tables: these are read again at every start."""
    digest = hashlib.sha256(script.encode())
    queries = pa.table({"name": plan.queries.names, "sql": plan.queries.sql})
    constants = [table for stream in plan.streams for table in stream.constants]
    for table in (queries, *constants, *(table.rows for table in plan.tables)):
        digest.update(_bytes(table))
    for stream in plan.streams:
        for wkb in stream.regions.wkb if any(stream.regions.wkb) else ():
            digest.update(wkb or b"")
    return digest.hexdigest()


def _bytes(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def agree(work: Path, now: Note, wanted_shards: int | None) -> int:
    """The number of shards; refuses a checkpoint that belongs to another run, or is damaged."""
    path = work / NOTE
    refuse_damaged(work / "spark")
    if not path.exists():
        write_json(path, KIND, asdict(now))
        return now.shards
    then = _read(path)
    _refuse_other_files(then.files, now.files)
    if then.script != now.script:
        raise StateError(
            "state.other_script", "this checkpoint belongs to another script, or its tables have changed",
            "use a new checkpoint, or that script",
        )  # fmt: skip
    if wanted_shards is not None and wanted_shards != then.shards:
        raise StateError(
            "state.other_shards", f"this checkpoint has {then.shards} shards, not {wanted_shards}",
            f"--shards {then.shards}, or a new checkpoint",
        )  # fmt: skip
    if then.outputs != now.outputs:
        raise StateError(
            "state.output_gone", f"the run of this checkpoint writes to {_shown(then.outputs)}",
            "name the same --out and --dead-letters, or use a new checkpoint",
        )  # fmt: skip
    return then.shards


def _read(path: Path) -> Note:
    try:
        return _note(read_json(path, KIND))
    except TypeError as e:
        raise broken(str(path), str(e)) from e


def _note(said: Any) -> Note:
    note = Note(**said)
    if isinstance(note.files, dict) and isinstance(note.shards, int) and isinstance(note.outputs, list):
        return note
    raise TypeError("it does not say what a run needs")


def refuse_older(path: Path) -> None:
    """Up to format 7 a note was JSON alone."""
    with contextlib.suppress(ValueError, TypeError, OSError):
        _note(json.loads(path.read_bytes()))
        raise other_format("7 or older")


def _refuse_other_files(then: dict[str, list[int]], now: dict[str, list[int]]) -> None:
    other = sorted(name for name in {*then, *now} if then.get(name) != now.get(name))
    if other:
        raise StateError(
            "state.source_changed", f"the input is not what this checkpoint has read: {other[0]}",
            "put the files back, or use a new checkpoint",
        )  # fmt: skip


def _shown(outputs: list[str | None]) -> str:
    return " and ".join(o for o in outputs if o is not None) or "standard output"


def refuse_lost_ledger(work: Path, ledger: Ledger, log: Log) -> None:
    """Spark calls a batch done after it is in the log or the ledger: ones that are behind are not those."""
    commits = work / "spark" / "commits"
    done = [int(p.name) for p in commits.iterdir() if p.name.isdigit()] if commits.is_dir() else []
    known = max([ledger.batch, *log.numbers()])
    if done and max(done) > known:
        raise StateError(
            "state.broken_ledger",
            f"Spark has finished batch {max(done)}, but the ledger knows of {known + 1} batches",
            "use a new checkpoint",
        )
