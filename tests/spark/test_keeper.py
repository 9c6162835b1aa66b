"""A keeper answers whoever knows its tag, ends when it should, and leaves nobody waiting."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sanderling.spark.engines.keeper import ask
from sanderling.spark.engines.turns import Said, Turn
from tests.spark.keeper_program import FIRST_TAG


@dataclass
class Family:
    """The processes of keeper_program: a daemon, a worker, and a keeper that listens at `place`."""

    daemon: subprocess.Popen[bytes]
    worker: int
    jvm: socket.socket  # our end of the worker's socket
    place: Path
    run: Path
    tags: list[str] = field(default_factory=lambda: [FIRST_TAG])

    def ask(self, *blobs: bytes, missed: tuple[bytes, ...] = (), room: int = 0) -> Said | None:
        """A turn whose tag is committed if there is an answer."""
        turn = Turn("turn", 0, f"tag {len(self.tags)}", room, blobs)
        said = ask(self.place, self.tags, lambda n: list(missed[len(missed) - n :]), turn)
        if said is not None:
            self.tags.append(turn.tag)
        return said


@contextmanager
def family(folder: Path, turn_s: int = 60) -> Iterator[Family]:
    folder.mkdir(exist_ok=True)
    run, place = folder / "run", folder / "k"
    run.touch()
    with socket.socket(socket.AF_UNIX) as jvm:
        jvm.bind(str(folder / "jvm"))
        jvm.listen()
        words = ["-m", "tests.spark.keeper_program", str(place), str(run), str(turn_s), str(folder / "jvm")]
        daemon = subprocess.Popen([sys.executable, *words], stderr=subprocess.DEVNULL)
        try:
            jvm.settimeout(60)
            line, _ = jvm.accept()
            with line:
                line.settimeout(60)
                worker = int(line.recv(20))
                try:
                    yield Family(daemon, worker, line, place, run)
                finally:
                    with suppress(ProcessLookupError):
                        os.kill(worker, signal.SIGKILL)
        finally:
            run.unlink(missing_ok=True)
            daemon.kill()
            daemon.wait()


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Family]:
    with family(tmp_path_factory.mktemp("k")) as found:
        yield found


def keeper_of(said: Said | None) -> int:
    assert said is not None
    return int(bytes(said.blobs[0]))


def is_there(process: int) -> bool:
    """Whether it runs; one that nobody has waited for yet does not."""
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, check=False)
    return bool(done.stdout.strip()) and not done.stdout.startswith(b"Z")


def becomes(what: Callable[[], bool], seconds: float = 20) -> bool:
    until = time.monotonic() + seconds
    while not what() and time.monotonic() < until:
        time.sleep(0.05)
    return what()


def test_workers_one_after_the_other_find_the_same_engine(home: Family) -> None:
    first, second = home.ask(b"a", b"b"), home.ask(b"c")
    assert first is not None and second is not None
    assert (first.keys, second.keys, bytes(second.delta)) == ([2], [3], b"a,b,c")
    assert keeper_of(first) == keeper_of(second) != home.worker
    assert first.snapshot is None


def test_a_snapshot_comes_along_when_it_is_due(home: Family) -> None:
    said = home.ask(b"a", room=-1)
    assert said is not None and said.snapshot == b"all of it"


def test_a_long_blob_goes_both_ways(home: Family) -> None:
    said = home.ask(b"x" * 30_000_000)
    assert said is not None and len(said.delta) == 30_000_000


def test_a_worker_that_is_killed_leaves_its_keeper_and_takes_its_sockets_along(home: Family) -> None:
    who = keeper_of(home.ask(b"a"))
    os.kill(home.worker, signal.SIGKILL)
    assert home.jvm.recv(1) == b"", "the keeper has the worker's socket"
    assert keeper_of(home.ask(b"b")) == who


def test_a_keeper_with_a_tag_that_the_store_does_not_know_ends(home: Family) -> None:
    who = keeper_of(home.ask(b"a"))
    home.tags = [FIRST_TAG, "of an attempt that another worker committed"]
    assert home.ask(b"b") is None
    assert becomes(lambda: not is_there(who)) and not home.place.exists()
    assert home.ask(b"b") is None


def test_a_keeper_that_missed_turns_catches_up(home: Family) -> None:
    home.ask(b"a")
    home.tags += ["of another machine", "of another machine, too"]
    said = home.ask(b"d", missed=(b"not this", b"b", b"c"))
    assert said is not None and bytes(said.delta) == b"a,b,c,d"


@pytest.mark.parametrize("order", [b"fail", b"die"])
def test_a_keeper_that_fails_in_a_turn_says_nothing_and_ends(home: Family, order: bytes) -> None:
    who = keeper_of(home.ask(b"a"))
    assert home.ask(order) is None
    assert becomes(lambda: not is_there(who))
    assert home.ask(b"b") is None


def test_a_keeper_that_hangs_lets_the_worker_go(tmp_path: Path) -> None:
    with family(tmp_path, turn_s=1) as home:
        who = keeper_of(home.ask(b"a"))
        started = time.monotonic()
        assert home.ask(b"hang") is None
        assert time.monotonic() - started < 20 and becomes(lambda: not is_there(who))


def test_a_worker_that_goes_away_in_the_middle_harms_nobody(home: Family) -> None:
    who = keeper_of(home.ask(b"a"))
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(home.place))
        line.sendall(b"\x40")
    assert keeper_of(home.ask(b"b")) == who


def test_no_keeper_outlives_the_daemon(home: Family) -> None:
    who = keeper_of(home.ask(b"a"))
    home.daemon.kill()
    assert becomes(lambda: not is_there(who))


def test_no_keeper_outlives_its_run(home: Family) -> None:
    who = keeper_of(home.ask(b"a"))
    home.run.unlink()
    assert becomes(lambda: not is_there(who)) and not home.place.exists()


def test_a_keeper_whose_place_another_took_ends(tmp_path: Path) -> None:
    with family(tmp_path) as old:
        before = keeper_of(old.ask(b"a"))
        (tmp_path / "jvm").unlink()
        with family(tmp_path) as new:
            after = keeper_of(new.ask(b"a"))
            assert after != before
            assert becomes(lambda: not is_there(before)) and is_there(after)


def test_a_place_with_a_long_path_is_reached(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux has short names for long paths")
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    (tmp_path / "s").symlink_to(deep)
    with family(tmp_path / "s") as home:
        home.place = deep / "k"
        assert home.ask(b"a") is not None


def test_where_nobody_listens_there_is_no_answer(tmp_path: Path) -> None:
    assert ask(tmp_path / "nobody", [FIRST_TAG], lambda n: [], Turn("turn", 0, "tag", 0, [b"a"])) is None
