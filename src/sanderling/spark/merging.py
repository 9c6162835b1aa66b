"""From which batch on there are merge partitions: from the first in which some query can need them.

Every batch has a stage of tasks more from then on; before, nobody waits for one (decision 50).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sanderling.state.sealed import NOT_OURS, broken, read_json, write_json

FILE = "merging"


class Merging:
    """On the driver. Shards have something for merge partitions once they know a version that needs them.

    A version is on disk before a batch can tell of it. So who looks in the course of a batch knows all
    versions that its shards can know, and none of them tells what nobody takes.

    Promises (tests/session/test_merging.py, tests/recovery/test_session_crash.py):
      complete    a batch in which shards have something for merge partitions has them
      repeatable  a batch that had them has them if it is taken again
    """

    def __init__(self, work: Path, is_needed: Callable[[], bool]):
        self._path, self._is_needed = work / FILE, is_needed
        self._since: int | None = None
        if self._path.exists():
            self._since = self._read()
        elif (work / "states" / "merge-0").exists():
            raise broken(str(self._path), "it is gone")

    def since(self, batch: int) -> int | None:
        """The first batch that has them, if this one does."""
        if self._since is None and self._is_needed():
            write_json(self._path, FILE, {"since": batch})
            self._since = batch
        return self._since

    def _read(self) -> int:
        try:
            return int(read_json(self._path, FILE)["since"])
        except NOT_OURS as e:
            raise broken(str(self._path), str(e)) from e
