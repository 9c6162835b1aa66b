"""The archives of a plan while its stream runs: held alone, written by a thread each, done before the end."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path

import pyarrow as pa

from sanderling.catalog import Archiving
from sanderling.deliver.changes import step_back
from sanderling.deliver.lock import locked
from sanderling.errors import ConfigError
from sanderling.plan.last_queries import rows_of
from sanderling.plan.many.cohorts import Member
from sanderling.plans.plan import Plan
from sanderling.state.sealed import read_json, write_json
from sanderling.storage.about import NAME
from sanderling.storage.archive import Archive
from sanderling.storage.erase import erase
from sanderling.storage.flusher import Flusher
from sanderling.storage.place import Place, exists, make, place_of
from sanderling.storage.writer import Writer

KIND = "archives"


class Archives:
    """Sinks of the courier."""

    def __init__(self, flushers: list[Flusher]):
        self.sinks = flushers

    def erase(self, archiving: Archiving, keys: pa.Array) -> bool:
        """Of these objects nothing is left; whether this archive is among ours."""
        mine = [f.writer for f in self.sinks if f.writer.folder == place_of(archiving.path)]
        for writer in mine:
            erase(writer, keys)
        return bool(mine)

    def opened(self) -> dict[str, Archive]:
        """By the folded name of its stream, with all that was delivered."""
        return {flusher.stream.name.casefold(): flusher.archive() for flusher in self.sinks}

    def of(self, stream: str) -> Archive:
        """That of a stream which has one."""
        return next(f.archive() for f in self.sinks if f.stream.name == stream)

    def keep_queries(self, members: Sequence[Member]) -> None:
        """From the next flush on these are the queries that LAST QUERIES has."""
        for flusher in self.sinks:
            flusher.queries = partial(rows_of, members, flusher.stream.name)

    def finish(self) -> None:
        """All that has closed is in them, safely, when this returns."""
        for flusher in self.sinks:
            flusher.finish()


@contextmanager
def archives_of(plan: Plan, work: Path, members: Sequence[Member] = ()) -> Iterator[Archives]:
    """Nobody else writes them meanwhile. Batches have numbers in the run that `work` is the checkpoint of."""
    with ExitStack() as held:
        flushers = []
        for archiving in (part.archive for part in plan.streams if part.archive is not None):
            folder = place_of(archiving.path)
            _make(folder)
            held.enter_context(_held(folder))
            flusher = Flusher(Writer(folder, archiving), _run_of(work), step_back)
            held.callback(flusher.close)
            flushers.append(flusher)
        archives = Archives(flushers)
        archives.keep_queries(members)
        yield archives


def erase_alone(archiving: Archiving, keys: pa.Array) -> None:
    """The same where nothing runs that writes it."""
    folder = place_of(archiving.path)
    if not exists(folder / NAME):
        return
    with _held(folder):
        erase(Writer(folder, archiving), keys)


def _held(folder: Place) -> AbstractContextManager[None]:
    """By nobody else; of who writes to the same address of a store, on another machine, nobody knows."""
    if not isinstance(folder, Path):
        return nullcontext()
    refusal = f"the archive in {folder} is being written"
    return locked(folder, refusal, "wait for it, or name another folder")


def _make(folder: Place) -> None:
    try:
        make(folder)
    except OSError as e:
        raise ConfigError(
            "config.not_writable", f"{folder} cannot be written to: {e.strerror}", "check its rights"
        ) from e


def _run_of(work: Path) -> str:
    """The name of the run; it lasts as long as the checkpoint."""
    path = work / "archives.json"
    if not path.exists():
        write_json(path, KIND, uuid.uuid4().hex)
    return f"run {read_json(path, KIND)}"
