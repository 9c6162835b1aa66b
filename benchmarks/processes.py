"""A program and all that it starts: the processor's time of each part, up to some moment. Linux only."""

from __future__ import annotations

import ctypes
import os
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

SECONDS_BETWEEN_LOOKS = 0.05
SECONDS_A_COUNT = 1 / os.sysconf("SC_CLK_TCK")
ADOPTS_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER


@dataclass(frozen=True, slots=True)
class Seen:
    """A process as it was last seen."""

    parent: int
    name: str
    cpu_s: float


@dataclass
class Processes:
    """What a program has started so far, also what has ended; what lives shorter than a look is missed."""

    root: int
    seen: dict[int, Seen] = field(default_factory=dict)

    def look(self) -> None:
        now = dict(_all())
        grown = {self.root, *self.seen}
        while more := {pid for pid, p in now.items() if p.parent in grown and pid not in grown}:
            grown |= more
        self.seen |= {pid: p for pid, p in now.items() if pid in grown and pid != os.getpid()}

    def cpu_s(self) -> dict[str, float]:
        """By part: the program itself, Java, other Pythons, and the rest."""
        parts = {"driver": 0.0, "Java": 0.0, "Python": 0.0, "others": 0.0}
        for pid, process in self.seen.items():
            part = "Java" if process.name == "java" else "Python" if "python" in process.name else "others"
            parts["driver" if pid == self.root else part] += process.cpu_s
        return parts


def _all() -> Iterator[tuple[int, Seen]]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                said = (folder / "stat").read_text()
            except OSError:
                continue  # it has ended
            words = said[said.rindex(")") + 2 :].split()
            name = said[said.index("(") + 1 : said.rindex(")")]
            cpu_s = (int(words[11]) + int(words[12])) * SECONDS_A_COUNT
            yield int(folder.name), Seen(int(words[1]), name, cpu_s)


@contextmanager
def watched(command: Sequence[str], folder: Path) -> Iterator[tuple[subprocess.Popen[str], Processes]]:
    """Runs a program and looks at it beside; what it leaves behind becomes ours, and is seen too."""
    ctypes.CDLL(None).prctl(ADOPTS_ORPHANS, 1, 0, 0, 0)
    with open(folder / "said", "w") as said:
        program = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=said, text=True)
    processes, is_over = Processes(program.pid), threading.Event()

    def look() -> None:
        while not is_over.wait(SECONDS_BETWEEN_LOOKS):
            processes.look()

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield program, processes
    finally:
        is_over.set()
        thread.join()
        assert program.stdout is not None
        program.stdout.read()
        code = program.wait()
        assert code == 0, (folder / "said").read_text()
        _reap()


def _reap() -> None:
    """What it has left behind, as it ends."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                time.sleep(SECONDS_BETWEEN_LOOKS)
        except ChildProcessError:
            return
