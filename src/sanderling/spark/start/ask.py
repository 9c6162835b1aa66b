"""What Spark starts where it wants a Python: asks the nursery to fork one, and ends when that one ends.

Spark has the pipes of this process; the nursery gets them, and whoever it forks has them from then on.
Where there is no nursery, this becomes the Python that was wanted.

Run by its path, with nothing imported that takes time: python -I -S ask.py SOCKET PYTHON -m module …
"""

from __future__ import annotations

import array
import os
import signal
import socket
import struct
import sys


def main() -> None:
    nursery, python, *words = sys.argv[1:]
    if words[:1] == ["-m"]:
        try:
            line = _asked(nursery, words[1:])
        except OSError:  # there is none any more
            pass
        else:
            _wait(line)
    os.execv(python, [python, *words])


def _asked(nursery: str, words: list[str]) -> socket.socket:
    """The other end of this line is held by the process that was forked for us."""
    line = socket.socket(socket.AF_UNIX)
    line.connect(nursery)
    named = [os.fsencode(f"{name}={value}") for name, value in os.environ.items()]
    said = b"\0".join([os.fsencode(os.getcwd()), b"%d" % len(words), *map(os.fsencode, words), *named])
    pipes = array.array("i", [0, 1, 2])
    line.sendmsg([struct.pack("<I", len(said))], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, pipes)])
    line.sendall(said)
    return line


def _wait(line: socket.socket) -> None:
    """Until the other has ended; what we are told, it is told."""
    said = line.recv(4, socket.MSG_WAITALL)
    if len(said) < 4:
        return  # the nursery ended before it could fork
    (child,) = struct.unpack("<I", said)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
    # Our own ends would hold the pipes open for Spark.
    nothing = os.open(os.devnull, os.O_RDWR)
    for pipe in (0, 1, 2):
        os.dup2(nothing, pipe)
    code = line.recv(1)
    os._exit(code[0] if code else 1)


if __name__ == "__main__":
    main()
