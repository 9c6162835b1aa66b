"""The sanderling command with slices of a few lines, so that a small input makes many batches."""

from __future__ import annotations

from dataclasses import fields

from sanderling import settings

SMALL = {"slice_bytes": 1500, "slices_per_shard": 1, "least_snapshot_bytes": 2000}


def main() -> None:
    defaults = settings.Settings.__init__.__defaults__
    names = [f.name for f in fields(settings.Settings)]
    assert defaults is not None
    settings.Settings.__init__.__defaults__ = tuple(  # type: ignore[attr-defined]
        SMALL.get(name, default) for name, default in zip(names, defaults, strict=True)
    )
    from sanderling.command import main as command

    command()


if __name__ == "__main__":
    main()
