"""A run that archives what it is told, from where it stands to the end; it may be killed by a crash point."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.storage.test_flusher import TICK, batches_of, flusher_of
from tests.storage.worlds import NOON, readings

CUTS = [NOON + n * 27 * TICK for n in range(1, 41)]
OPTIONS = "keep = '90 minutes', flush = '5 minutes', snapshot = '30 minutes', late = 'keep'"


def main() -> None:
    flusher = flusher_of(Path(sys.argv[1]), OPTIONS)
    for number, batch in enumerate(batches_of(readings(3, 900), CUTS)):
        if number > flusher.delivered:
            flusher.deliver(number, batch)
    flusher.finish()
    flusher.close()


if __name__ == "__main__":
    main()
